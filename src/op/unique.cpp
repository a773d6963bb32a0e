// SPDX-License-Identifier: Apache-2.0
// Unique: different elements or slices, with where they are and how often.
// Tested by src/op/select_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferUnique(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  const bool hasAxis = ctx.attributes().has("axis");
  Size total;
  ir::Shape result = ir::Shape::unknown();
  Size found;
  if (!shape.known) {
    total = ctx.dataDependent("items", {});
    found = ctx.dataDependent("found", {});
    if (!hasAxis) result = ir::Shape::of({found});
  } else if (!hasAxis) {
    total = product(shape.dims);
    found = foundSize(ctx, "found", total);
    result = ir::Shape::of({found});
  } else {
    auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis"), shape.rank());
    if (!axis) return axis.status();
    total = shape.dims[*axis];
    found = foundSize(ctx, "found", total);
    result = shape;
    result.dims[*axis] = found;
  }
  if (ctx.hasOutput(0)) ctx.setOutput(0, ctx.inputDtype(0), result);
  if (ctx.hasOutput(1)) ctx.setOutput(1, DType::kInt64, ir::Shape::of({found}));
  if (ctx.hasOutput(2)) ctx.setOutput(2, DType::kInt64, ir::Shape::of({total}));
  if (ctx.hasOutput(3)) ctx.setOutput(3, DType::kInt64, ir::Shape::of({found}));
  return Status::ok();
}

const Register kRegisterUnique(Definition{
    .name = "Unique",
    .versions = {11, 28},
    .doc = "The different elements of a tensor, or the different slices along an axis, in ascending order or "
           "in the order in which they first occur; "
           "optionally where each first occurs, which of them every item is, and how often each occurs. All "
           "NaN count as one value, greater than "
           "every number.",
    .kind = Kind::kSort,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"},
                {.name = "indices", .option = FormalOption::kOptional},
                {.name = "inverse_indices", .option = FormalOption::kOptional},
                {.name = "counts", .option = FormalOption::kOptional}},
    .attributes = {{.name = "axis"}, {.name = "sorted"}},
    .infer = inferUnique,
});

}  // namespace
}  // namespace rota::op
