// SPDX-License-Identifier: Apache-2.0
// Upsample: the operator that Resize replaced.
// Tested by src/op/resize_test.cpp and the node cases of tests/conformance.
#include "op/resize_common.h"

namespace rota::op {
namespace {

Status inferUpsample(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(checkResizeAttributes(ctx, true));
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) return inferUnknownShape(ctx);
  if (!ctx.hasInput(1) && !ctx.attributes().has("scales")) {
    return ctx.error(ErrorCode::kMissingInput, "Upsample needs scales", "attribute or input 'scales'",
                     "neither");
  }
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < shape.rank(); ++i) axes.push_back(i);
  std::vector<Size> dims = shape.dims;
  ROTA_RETURN_IF_ERROR(resizeByScales(ctx, 1, axes, false, dims));
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterUpsample(Definition{
    .name = "Upsample",
    .versions = {7, 9, 10},
    .doc = "Enlarges a tensor by scales, with the nearest element or linear interpolation; place i of the "
           "result is place i / scale of the input. Scales "
           "are an attribute in version 7 and an input from version 9 on. Resize replaced it in version 10.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"}, {.name = "scales", .option = FormalOption::kOptional}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "mode", .type = AttributeType::kString},
                   {.name = "scales", .type = AttributeType::kFloats}},
    .infer = inferUpsample,
});

}  // namespace
}  // namespace rota::op
