// SPDX-License-Identifier: Apache-2.0
// RoiAlign: regions of an image pooled to one size without rounding their corners.
// Tested by src/op/roi_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferRoiAlign(InferContext& ctx) {
  const ir::Shape& image = ctx.inputShape(0);
  const ir::Shape& regions = ctx.inputShape(1);
  if (!image.known || !regions.known) return inferUnknownShape(ctx);
  const std::int64_t height = ctx.attributes().getInt("output_height", 1);
  const std::int64_t width = ctx.attributes().getInt("output_width", 1);
  if (image.rank() != 4 || regions.rank() != 2 || height < 1 || width < 1) {
    return ctx.error(ErrorCode::kShapeMismatch, "Image and regions do not belong together",
                     "[N, C, H, W] and [regions, 4]",
                     shapeText(ctx, image) + " and " + shapeText(ctx, regions));
  }
  Size count = regions.dims[0];
  if (ctx.hasInput(2) && ctx.inputShape(2).known && ctx.inputShape(2).rank() == 1) {
    ROTA_RETURN_IF_ERROR(
        ctx.requireEqual(count, ctx.inputShape(2).dims[0], "there is one batch index per region"));
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of({count, image.dims[1], height, width}));
  return Status::ok();
}

const Register kRegisterRoiAlign(Definition{
    .name = "RoiAlign",
    .versions = {10, 16, 22},
    .doc = "Pools each region of an image to a grid of bins: in each bin the image is read by bilinear "
           "interpolation at a number of points, of which the "
           "mean or the largest weighted neighbour is taken.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T1"},
               {.name = "rois", .typeVariable = "T1"},
               {.name = "batch_indices"}},
    .outputs = {{.name = "Y", .typeVariable = "T1"}},
    .attributes = {{.name = "coordinate_transformation_mode", .type = AttributeType::kString},
                   {.name = "mode", .type = AttributeType::kString},
                   {.name = "output_height"},
                   {.name = "output_width"},
                   {.name = "sampling_ratio"},
                   {.name = "spatial_scale", .type = AttributeType::kFloat}},
    .infer = inferRoiAlign,
});

}  // namespace
}  // namespace rota::op
