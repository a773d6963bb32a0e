// SPDX-License-Identifier: Apache-2.0
// GridSample: an image read at given points.
// Tested by src/op/resize_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferGridSample(InferContext& ctx) {
  const ir::Shape& image = ctx.inputShape(0);
  const ir::Shape& grid = ctx.inputShape(1);
  if (!image.known || !grid.known) return inferUnknownShape(ctx);
  const std::size_t rank = image.rank();
  if (rank < 3 || rank > 6 || grid.rank() != rank) {
    return ctx.error(ErrorCode::kShapeMismatch, "The grid does not fit the image",
                     "[N, C, 1 to 4 axes] and a grid of the same rank",
                     shapeText(ctx, image) + " and " + shapeText(ctx, grid));
  }
  ROTA_RETURN_IF_ERROR(ctx.requireEqual(grid.dims[0], image.dims[0], "there is one grid per image"));
  ROTA_RETURN_IF_ERROR(ctx.requireEqual(grid.dims.back(), Size(static_cast<std::int64_t>(rank - 2)),
                                        "a point has one coordinate per axis"));
  std::vector<Size> dims{image.dims[0], image.dims[1]};
  dims.insert(dims.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterGridSample(Definition{
    .name = "GridSample",
    .versions = {16, 20, 22},
    .doc = "Reads an image at the points of a grid, whose coordinates go from -1 to 1 over the image, "
           "innermost axis first: the nearest element, linear or "
           "cubic interpolation. Outside the image the value is zero, that of the border, or that of the "
           "mirrored image. Cubic interpolation treats "
           "each neighbour by itself, as PyTorch does.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T1"}, {.name = "grid", .typeVariable = "T2"}},
    .outputs = {{.name = "Y", .typeVariable = "T1"}},
    .attributes = {{.name = "align_corners"},
                   {.name = "mode", .type = AttributeType::kString},
                   {.name = "padding_mode", .type = AttributeType::kString}},
    .infer = inferGridSample,
});

}  // namespace
}  // namespace rota::op
