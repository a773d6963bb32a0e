// SPDX-License-Identifier: Apache-2.0
// AffineGrid: the sampling grid of an affine transform.
// Tested by src/op/resize_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferAffineGrid(InferContext& ctx) {
  const ir::Shape& theta = ctx.inputShape(0);
  const auto size = ctx.contentsOrResolve(1, {});
  if (!size) return inferUnknownShape(ctx);
  const bool fits = size->size() == 4 || size->size() == 5;
  if (!fits || (theta.known && theta.rank() != 3)) {
    return ctx.error(ErrorCode::kShapeMismatch, "Theta and size do not belong together",
                     "[N, 2, 3] with 4 sizes or [N, 3, 4] with 5",
                     shapeText(ctx, theta) + " with " + std::to_string(size->size()));
  }
  std::vector<Size> dims{size->front()};
  dims.insert(dims.end(), size->begin() + 2, size->end());
  dims.push_back(static_cast<std::int64_t>(size->size() - 2));
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterAffineGrid(Definition{
    .name = "AffineGrid",
    .versions = {20},
    .doc = "The points at which GridSample has to read an image to transform it by an affine matrix per "
           "sample, in two or three dimensions.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "theta", .typeVariable = "T1"}, {.name = "size"}},
    .outputs = {{.name = "grid", .typeVariable = "T1"}},
    .attributes = {{.name = "align_corners"}},
    .infer = inferAffineGrid,
});

}  // namespace
}  // namespace rota::op
