// SPDX-License-Identifier: Apache-2.0
// Conv. Tested by src/op/window_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/window_common.h"

namespace rota::op {
namespace {

Status inferConv(InferContext& ctx) {
  auto shape = convOutputShape(ctx, 0, 1);
  if (!shape) return shape.status();
  if (ctx.hasInput(2) && ctx.inputShape(2).known && shape->known) {
    if (ctx.inputShape(2).rank() != 1) {
      return ctx.error(ErrorCode::kShapeMismatch, "The bias must be a vector", "rank 1",
                       "rank " + std::to_string(ctx.inputShape(2).rank()));
    }
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(ctx.inputShape(2).dims[0], shape->dims[1],
                                          "the bias has one element for each filter"));
  }
  ctx.setOutput(0, ctx.inputDtype(0), *std::move(shape));
  return Status::ok();
}

const Register kRegisterConv(Definition{
    .domain = "",
    .name = "Conv",
    .versions = {1, 11, 22},
    .doc = "Convolution of X [N, C, …] with filters W [M, C / group, …] over any number of spatial axes, "
           "with strides, dilations, padding "
           "by zeros and an optional bias for each filter.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "W", .typeVariable = "T"},
               {.name = "B", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = windowAttributes({{.name = "group", .type = AttributeType::kInt}}),
    .infer = inferConv,
});

}  // namespace
}  // namespace rota::op
