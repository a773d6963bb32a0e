// SPDX-License-Identifier: Apache-2.0
// DequantizeLinear: (x - zero point) * scale.
// Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/quantize_common.h"

namespace rota::op {
namespace {

Status inferDequantizeLinear(InferContext& ctx) {
  DType outputType = ctx.inputDtype(1);
  if (ctx.attributes().getInt("output_dtype", 0) != 0) {
    auto dtype = dtypeAttribute(ctx, "output_dtype", outputType);
    if (!dtype) return dtype.status();
    outputType = *dtype;
  }
  ROTA_RETURN_IF_ERROR(requireScaleShape(ctx));
  ctx.setOutput(0, outputType, ctx.inputShape(0));
  return Status::ok();
}

const Register kRegisterDequantizeLinear(Definition{
    .domain = "",
    .name = "DequantizeLinear",
    .versions = {10, 13, 19, 21, 23, 24, 25, 28},
    .doc = "(x - zero point) * scale. Scale and zero point are for the whole tensor, for each index "
           "of an axis, or for each block along it.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "x", .typeVariable = "T1"},
               {.name = "x_scale", .typeVariable = "T2"},
               {.name = "x_zero_point", .option = FormalOption::kOptional, .typeVariable = "T1"}},
    .outputs = {{.name = "y", .typeVariable = "T3"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt},
                   {.name = "block_size", .type = AttributeType::kInt},
                   {.name = "output_dtype", .type = AttributeType::kInt}},
    .infer = inferDequantizeLinear,
});

}  // namespace
}  // namespace rota::op
