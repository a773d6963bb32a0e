// SPDX-License-Identifier: Apache-2.0
// Dropout: in inference the input itself, with a mask of all true.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

Status inferDropout(InferContext& ctx) {
  ctx.setOutput(0, ctx.inputDtype(0), ctx.inputShape(0));
  if (ctx.hasOutput(1))
    ctx.setOutput(1, ctx.version() < 10 ? ctx.inputDtype(0) : DType::kBool, ctx.inputShape(0));
  return Status::ok();
}

const Register kRegisterDropout(Definition{
    .domain = "",
    .name = "Dropout",
    .versions = {7, 10, 12, 13, 22},
    .doc = "In inference the input itself, with a mask of all true. With training_mode elements are "
           "zeroed with probability ratio and the others scaled up, by a random sequence that follows "
           "the seed.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "data", .typeVariable = "T"},
               {.name = "ratio", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "training_mode", .option = FormalOption::kOptional, .typeVariable = "T2"}},
    .outputs = {{.name = "output", .typeVariable = "T"},
                {.name = "mask", .option = FormalOption::kOptional, .typeVariable = "T2"}},
    .attributes = {{.name = "ratio", .type = AttributeType::kFloat},
                   {.name = "seed", .type = AttributeType::kInt}},
    .infer = inferDropout,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      if (node.output(1) != nullptr || node.input(2) != nullptr) return std::nullopt;
      ExpressionBuilder e;
      e.input(0);
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
