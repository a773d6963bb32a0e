// SPDX-License-Identifier: Apache-2.0
// Identity: the input itself: a tensor, sequence or optional.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

Status inferIdentity(InferContext& ctx) {
  ctx.setOutputType(0, ctx.inputType(0));
  if (auto contents = ctx.contents(0)) ctx.setContents(0, std::move(*contents));
  return Status::ok();
}

const Register kRegisterIdentity(Definition{
    .domain = "",
    .name = "Identity",
    .versions = {1, 13, 14, 16, 19, 21, 23, 24, 25},
    .doc = "The input itself: a tensor, sequence or optional.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "V"}},
    .outputs = {{.name = "output", .typeVariable = "V"}},
    .infer = inferIdentity,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      if (node.input(0)->type.kind != ir::TypeKind::kTensor) return std::nullopt;
      ExpressionBuilder e;
      e.input(0);
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
