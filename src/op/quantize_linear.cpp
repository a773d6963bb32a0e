// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear: x / scale, rounded half to even, plus zero point, saturated to a narrow type.
// Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/quantize_common.h"

namespace rota::op {
namespace {

Status inferQuantizeLinear(InferContext& ctx) {
  const DType zeroType = ctx.hasInput(2) ? ctx.inputDtype(2) : DType::kUInt8;
  DType outputType = zeroType;
  if (ctx.attributes().getInt("output_dtype", 0) != 0) {
    auto dtype = dtypeAttribute(ctx, "output_dtype", zeroType);
    if (!dtype) return dtype.status();
    if (ctx.hasInput(2) && *dtype != zeroType) {
      return ctx.error(ErrorCode::kTypeMismatch, "output_dtype and the type of the zero point differ",
                       info(zeroType).name, info(*dtype).name);
    }
    outputType = *dtype;
  }
  ROTA_RETURN_IF_ERROR(requireScaleShape(ctx));
  ctx.setOutput(0, outputType, ctx.inputShape(0));
  return Status::ok();
}

const Register kRegisterQuantizeLinear(Definition{
    .domain = "",
    .name = "QuantizeLinear",
    .versions = {10, 13, 19, 21, 23, 24, 25, 28},
    .doc = "x / scale, rounded half to even, plus zero point, saturated to a narrow type. Scale and "
           "zero point are for the whole tensor, for each index of an axis, or for each block along "
           "it.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "x", .typeVariable = "T1"},
               {.name = "y_scale", .typeVariable = "T2"},
               {.name = "y_zero_point", .option = FormalOption::kOptional, .typeVariable = "T3"}},
    .outputs = {{.name = "y", .typeVariable = "T3"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt},
                   {.name = "block_size", .type = AttributeType::kInt},
                   {.name = "output_dtype", .type = AttributeType::kInt},
                   {.name = "precision", .type = AttributeType::kInt},
                   {.name = "saturate", .type = AttributeType::kInt}},
    .infer = inferQuantizeLinear,
});

}  // namespace
}  // namespace rota::op
