// SPDX-License-Identifier: Apache-2.0
// Flatten: a matrix of the axes before and from `axis`.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferFlatten(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) {
    ctx.setOutput(0, ctx.inputDtype(0), foundShape(ctx, "dim", 2));
    return Status::ok();
  }
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const std::int64_t axis = ctx.attributes().getInt("axis", 1);
  if (axis < -rank || axis > rank) {
    return ctx.error(ErrorCode::kBadAttribute, "An axis is outside the tensor",
                     "an axis from " + std::to_string(-rank) + " to " + std::to_string(rank),
                     std::to_string(axis));
  }
  const auto split = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const std::span<const Size> dims(shape.dims);
  ctx.setOutput(0, ctx.inputDtype(0),
                ir::Shape::of({product(dims.first(split)), product(dims.subspan(split))}));
  passContents(ctx);
  return Status::ok();
}

const Register kRegisterFlatten(Definition{
    .name = "Flatten",
    .versions = {1, 9, 11, 13, 21, 23, 24, 25},
    .doc = "Joins the axes before `axis` to one and the axes from `axis` on to another, so that the result "
           "is always a matrix.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis"}},
    .infer = inferFlatten,
    .keepsOrder = true,
});

}  // namespace
}  // namespace rota::op
