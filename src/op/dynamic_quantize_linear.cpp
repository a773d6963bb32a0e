// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLinear: quantises to uint8 with a scale and a zero point taken from the range of the input, which is made to include 0.
// Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

Status inferDynamicQuantizeLinear(InferContext& ctx) {
  if (ctx.hasOutput(0)) ctx.setOutput(0, DType::kUInt8, ctx.inputShape(0));
  if (ctx.hasOutput(1)) ctx.setOutput(1, DType::kFloat32, ir::Shape::of({}));
  if (ctx.hasOutput(2)) ctx.setOutput(2, DType::kUInt8, ir::Shape::of({}));
  return Status::ok();
}

const Register kRegisterDynamicQuantizeLinear(Definition{
    .domain = "",
    .name = "DynamicQuantizeLinear",
    .versions = {11},
    .doc = "Quantises to uint8 with a scale and a zero point taken from the range of the input, which "
           "is made to include 0.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "x", .typeVariable = "T1"}},
    .outputs = {{.name = "y", .typeVariable = "T2"},
                {.name = "y_scale"},
                {.name = "y_zero_point", .typeVariable = "T2"}},
    .infer = inferDynamicQuantizeLinear,
});

}  // namespace
}  // namespace rota::op
