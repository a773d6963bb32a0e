// SPDX-License-Identifier: Apache-2.0
// Not: logical negation of every boolean.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsNot(InferContext&, Size a) {
  if (const auto value = a.constant()) return Size(*value == 0 ? 1 : 0);
  return std::nullopt;
}

Status inferNot(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferSameAsFirst(ctx));
  propagateUnary(ctx, contentsNot);
  return Status::ok();
}

const Register kRegisterNot(Definition{
    .domain = "",
    .name = "Not",
    .versions = {1},
    .doc = "Logical negation of every boolean.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferNot,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kNot); },
});

}  // namespace
}  // namespace rota::op
