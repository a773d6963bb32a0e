// SPDX-License-Identifier: Apache-2.0
// CausalConvWithState. Tested by src/ref/linear_attention_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

Status inferCausalConvWithState(InferContext& ctx) {
  const ir::Shape& x = ctx.inputShape(0);
  const ir::Shape& w = ctx.inputShape(1);
  ir::Shape state = ir::Shape::unknown();
  if (x.known && w.known) {
    if (x.rank() != 3 || w.rank() != 3) {
      return ctx.error(ErrorCode::kShapeMismatch, "Input and weight must be [B, C, L] and [C, 1, k]",
                       "rank 3", "ranks " + std::to_string(x.rank()) + " and " + std::to_string(w.rank()));
    }
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(x.dims[1], w.dims[0], "there is one kernel for each channel"));
    state = ir::Shape::of({x.dims[0], x.dims[1], w.dims[2] - 1});
  }
  if (ctx.hasOutput(1)) ctx.setOutput(1, ctx.inputDtype(0), std::move(state));
  ctx.setOutput(0, ctx.inputDtype(0), x);
  return Status::ok();
}

const Register kRegisterCausalConvWithState(Definition{
    .domain = "",
    .name = "CausalConvWithState",
    .versions = {27},
    .doc = "A depthwise convolution over time that sees only the present and the past. The last k - 1 "
           "samples go out as state and come in again with the next "
           "piece of the sequence; SiLU may follow.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "input", .typeVariable = "T"},
               {.name = "weight", .typeVariable = "T"},
               {.name = "bias", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "past_state", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}, {.name = "present_state", .typeVariable = "T"}},
    .attributes = {{.name = "activation", .type = AttributeType::kString}},
    .infer = inferCausalConvWithState,
});

}  // namespace
}  // namespace rota::op
