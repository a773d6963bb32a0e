// SPDX-License-Identifier: Apache-2.0
// Tile: the tensor repeated along each axis.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferTile(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) return inferUnknownShape(ctx);
  const auto repeats = ctx.contentsOrResolve(1, {});
  if (!repeats) {
    ctx.setOutput(0, ctx.inputDtype(0), foundShape(ctx, "dim", shape.rank()));
    return Status::ok();
  }
  if (repeats->size() != shape.rank()) {
    return ctx.error(ErrorCode::kShapeMismatch, "Repeats need one entry per axis",
                     std::to_string(shape.rank()) + " entries", std::to_string(repeats->size()));
  }
  std::vector<Size> dims;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if ((*repeats)[i].isConstant() && *(*repeats)[i].constant() < 0) {
      return ctx.error(ErrorCode::kShapeMismatch, "A tensor cannot be repeated a negative number of times",
                       "0 or more", std::to_string(*(*repeats)[i].constant()));
    }
    dims.push_back(shape.dims[i] * (*repeats)[i]);
  }
  const ir::Shape result = ir::Shape::of(std::move(dims));
  ctx.setOutput(0, ctx.inputDtype(0), result);
  const auto in = staticDims(shape);
  const auto out = staticDims(result);
  if (in && out && contentsCount(shape) && contentsCount(result)) {
    // A view of [repeat, size] per axis.
    const auto inStrides = rowMajorStrides(*in);
    std::vector<std::int64_t> viewDims;
    std::vector<std::int64_t> strides;
    for (std::size_t i = 0; i < in->size(); ++i) {
      viewDims.push_back((*in)[i] == 0 ? 0 : (*out)[i] / (*in)[i]);
      viewDims.push_back((*in)[i]);
      strides.push_back(0);
      strides.push_back(inStrides[i]);
    }
    moveContents(ctx, 0, 0, stridedPlaces(viewDims, strides, 0));
  }
  return Status::ok();
}

const Register kRegisterTile(Definition{
    .name = "Tile",
    .versions = {6, 13},
    .doc = "Repeats the tensor along each axis as often as `repeats` says.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T"}, {.name = "repeats"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferTile,
});

}  // namespace
}  // namespace rota::op
