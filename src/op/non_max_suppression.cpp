// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: boxes that do not overlap a better one.
// Tested by src/op/roi_test.cpp and the node cases of tests/conformance.
#include <algorithm>
#include <limits>

#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferNonMaxSuppression(InferContext& ctx) {
  const ir::Shape& boxes = ctx.inputShape(0);
  const ir::Shape& scores = ctx.inputShape(1);
  if ((boxes.known && boxes.rank() != 3) || (scores.known && scores.rank() != 3)) {
    return ctx.error(ErrorCode::kShapeMismatch, "Boxes and scores do not belong together",
                     "[batch, boxes, 4] and [batch, classes, boxes]",
                     shapeText(ctx, boxes) + " and " + shapeText(ctx, scores));
  }
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (boxes.known && scores.known) {
    ROTA_RETURN_IF_ERROR(
        ctx.requireEqual(boxes.dims[0], scores.dims[0], "boxes and scores have the same batch"));
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(boxes.dims[1], scores.dims[2], "there is one score per box"));
    Size perClass = boxes.dims[1];
    if (!ctx.hasInput(2)) {
      perClass = 0;
    } else if (const auto limit = constantInts(ctx, 2); limit && limit->size() == 1) {
      perClass = smallerOf(ctx, perClass, std::max<std::int64_t>(limit->front(), 0));
    }
    most = ctx.sizes().range(scores.dims[0] * scores.dims[1] * perClass).hi;
  }
  ctx.setOutput(0, DType::kInt64, ir::Shape::of({ctx.dataDependent("kept", {0, most}), 3}));
  return Status::ok();
}

const Register kRegisterNonMaxSuppression(Definition{
    .name = "NonMaxSuppression",
    .versions = {10, 11},
    .doc = "Per batch and class, takes boxes in order of score, leaves out those that overlap a box already "
           "taken by more than a threshold, and stops at a "
           "number per class. The result lists batch, class and box. Boxes of equal score are taken in the "
           "order of their places.",
    .kind = Kind::kSort,
    .inputs = {{.name = "boxes"},
               {.name = "scores"},
               {.name = "max_output_boxes_per_class", .option = FormalOption::kOptional},
               {.name = "iou_threshold", .option = FormalOption::kOptional},
               {.name = "score_threshold", .option = FormalOption::kOptional}},
    .outputs = {{.name = "selected_indices"}},
    .attributes = {{.name = "center_point_box"}},
    .infer = inferNonMaxSuppression,
});

}  // namespace
}  // namespace rota::op
