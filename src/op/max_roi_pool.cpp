// SPDX-License-Identifier: Apache-2.0
// MaxRoiPool: the largest element in each bin of regions of an image.
// Tested by src/op/roi_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferMaxRoiPool(InferContext& ctx) {
  const ir::Shape& image = ctx.inputShape(0);
  const ir::Shape& regions = ctx.inputShape(1);
  const auto* pooled = ctx.attributes().getInts("pooled_shape");
  if (pooled == nullptr || pooled->size() != 2) {
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'pooled_shape' is a height and a width",
                     "two numbers", "");
  }
  if (!image.known || !regions.known) return inferUnknownShape(ctx);
  if (image.rank() != 4 || regions.rank() != 2) {
    return ctx.error(ErrorCode::kShapeMismatch, "Image and regions do not belong together",
                     "[N, C, H, W] and [regions, 5]",
                     shapeText(ctx, image) + " and " + shapeText(ctx, regions));
  }
  ctx.setOutput(0, ctx.inputDtype(0),
                ir::Shape::of({regions.dims[0], image.dims[1], (*pooled)[0], (*pooled)[1]}));
  return Status::ok();
}

const Register kRegisterMaxRoiPool(Definition{
    .name = "MaxRoiPool",
    .versions = {1, 22},
    .doc = "Pools each region of an image, its corners rounded to elements, to a grid of bins and takes the "
           "largest element of each; an empty bin gives 0.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"}, {.name = "rois", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "pooled_shape", .type = AttributeType::kInts, .required = true},
                   {.name = "spatial_scale", .type = AttributeType::kFloat}},
    .infer = inferMaxRoiPool,
});

}  // namespace
}  // namespace rota::op
