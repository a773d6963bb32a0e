// SPDX-License-Identifier: Apache-2.0
// Squeeze. An axis of symbolic size that is named is removed without a guard: in a branch of an If the guard would bind a size that the
// condition leaves free. The kernel checks the size.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferSqueeze(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  const Axes axes = axesOf(ctx, 1);
  if (!shape.known) return inferUnknownShape(ctx);
  if (!axes.known) {
    const auto count = contentsCount(ctx.inputShape(1));
    if (!count || *count > static_cast<std::int64_t>(shape.rank())) return inferUnknownShape(ctx);
    ctx.setOutput(0, ctx.inputDtype(0),
                  foundShape(ctx, "dim", shape.rank() - static_cast<std::size_t>(*count)));
    passContents(ctx);
    return Status::ok();
  }
  auto chosen = normaliseAxes(ctx, axes.values, shape.rank());
  if (!chosen) return chosen.status();
  std::vector<Size> dims;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const Size size = shape.dims[i];
    if (!axes.given) {
      // Without axes the rank depends on every size, so each must be known to be 1 or not.
      if (!size.isConstant() && !isAtLeast(ctx, size, 2)) return inferUnknownShape(ctx);
      if (!size.is(1)) dims.push_back(size);
    } else if (std::find(chosen->begin(), chosen->end(), i) == chosen->end()) {
      dims.push_back(size);
    } else if (size.isConstant() && !size.is(1)) {
      return ctx.error(ErrorCode::kShapeMismatch, "Only axes of size 1 can be removed",
                       "size 1 on axis " + std::to_string(i), shapeText(ctx, shape));
    }
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  passContents(ctx);
  return Status::ok();
}

const Register kRegisterSqueeze(Definition{
    .name = "Squeeze",
    .versions = {1, 11, 13, 21, 23, 24, 25},
    .doc = "Removes the named axes, which must have size 1; without axes it removes all axes of size 1. The "
           "axes are an attribute before "
           "version 13 and an input from then on.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "axes", .option = FormalOption::kOptional}},
    .outputs = {{.name = "squeezed", .typeVariable = "T"}},
    .attributes = {{.name = "axes", .type = AttributeType::kInts}},
    .infer = inferSqueeze,
    .keepsOrder = true,
});

}  // namespace
}  // namespace rota::op
