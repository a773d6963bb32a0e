// SPDX-License-Identifier: Apache-2.0
// CenterCropPad: axes cropped or padded with zeros to a size, around the centre.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferCenterCropPad(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) return inferUnknownShape(ctx);
  std::vector<std::int64_t> values;
  if (const auto* given = ctx.attributes().getInts("axes")) {
    values = *given;
  } else {
    for (std::size_t i = 0; i < shape.rank(); ++i) values.push_back(static_cast<std::int64_t>(i));
  }
  auto axes = normaliseAxes(ctx, values, shape.rank());
  if (!axes) return axes.status();
  const auto target = ctx.contentsOrResolve(1, {});
  std::vector<Size> dims = shape.dims;
  if (target && target->size() != axes->size()) {
    return ctx.error(ErrorCode::kShapeMismatch, "The shape needs one entry per axis",
                     std::to_string(axes->size()) + " entries", std::to_string(target->size()));
  }
  for (std::size_t i = 0; i < axes->size(); ++i) {
    dims[(*axes)[i]] = target ? (*target)[i] : ctx.dataDependent("dim" + std::to_string(i), {});
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterCenterCropPad(Definition{
    .name = "CenterCropPad",
    .versions = {18},
    .doc = "Brings the named axes to the given sizes by cropping around the centre or padding with zeros on "
           "both sides; the odd element is taken "
           "from, or added to, the end.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input_data", .typeVariable = "T"}, {.name = "shape"}},
    .outputs = {{.name = "output_data", .typeVariable = "T"}},
    .attributes = {{.name = "axes", .type = AttributeType::kInts}},
    .infer = inferCenterCropPad,
});

}  // namespace
}  // namespace rota::op
