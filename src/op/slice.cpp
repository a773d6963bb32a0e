// SPDX-License-Identifier: Apache-2.0
// Slice. Bounds may be symbolic: with neg(v) = min(1, max(0, -v)), a bound v of an axis of size d stands at v + neg(v) * d, clamped to the
// axis, so that lengths stay expressions whatever the signs turn out to be. Only a step of unknown sign leaves a length to the kernel.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include <limits>

#include "op/movement_common.h"

namespace rota::op {
namespace {

constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int32_t>::max();

/// A bound counted from the front, before clamping.
Size boundFromFront(InferContext& ctx, Size bound, Size size) {
  if (isAtLeast(ctx, bound, 0)) return bound;
  if (isAtMost(ctx, bound, -1)) return bound + size;
  return bound + size * min(1, max(0, Size() - bound));
}

/// A bound as a place in [0, size] going forward, or in [-1, size - 1] going back.
Size boundPlace(InferContext& ctx, Size bound, Size size, bool back) {
  const Size last = back ? size - 1 : size;
  const Size first = back ? -1 : 0;
  if (bound.isConstant() && *bound.constant() >= kToTheEnd) return last;
  if (bound.isConstant() && *bound.constant() <= -kToTheEnd) return first;
  return smallerOf(ctx, largerOf(ctx, boundFromFront(ctx, bound, size), first), last);
}

struct Cut {
  std::size_t axis = 0;
  Size start;  ///< Clamped place; set when the step is constant.
  Size length;
  std::int64_t step = 1;
};

Cut cutOf(InferContext& ctx, std::size_t axis, Size size, Size start, Size end, Size step) {
  Cut cut{axis, {}, {}, 1};
  if (!step.isConstant()) {
    cut.length = foundSize(ctx, "length" + std::to_string(axis), size);
    cut.start = Size::invalid();
    return cut;
  }
  cut.step = *step.constant();
  const bool back = cut.step < 0;
  cut.start = boundPlace(ctx, start, size, back);
  const Size stop = boundPlace(ctx, end, size, back);
  const Size distance = back ? cut.start - stop : stop - cut.start;
  if (cut.step < -kToTheEnd || cut.step > kToTheEnd) {
    // No axis is that long: the first element, if there is one.
    cut.length = smallerOf(ctx, largerOf(ctx, distance, 0), 1);
    return cut;
  }
  const std::int64_t magnitude = back ? -cut.step : cut.step;
  cut.length = largerOf(ctx, magnitude == 1 ? distance : ceilDiv(distance, magnitude), 0);
  return cut;
}

void sliceContents(InferContext& ctx, const std::vector<Cut>& cuts) {
  auto dims = staticDims(ctx.inputShape(0));
  if (!dims || !contentsCount(ctx.inputShape(0))) return;
  auto strides = rowMajorStrides(*dims);
  std::int64_t offset = 0;
  for (const Cut& cut : cuts) {
    if (!cut.start.isConstant() || !cut.length.isConstant()) return;
    const std::int64_t length = *cut.length.constant();
    (*dims)[cut.axis] = length;
    if (length > 0) offset += *cut.start.constant() * strides[cut.axis];
    strides[cut.axis] *= length > 1 ? cut.step : 1;
  }
  moveContents(ctx, 0, 0, stridedPlaces(*dims, strides, offset));
}

std::optional<std::vector<Size>> boundsOf(InferContext& ctx, std::string_view attribute, std::size_t input) {
  if (const auto* ints = ctx.attributes().getInts(attribute))
    return std::vector<Size>(ints->begin(), ints->end());
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return ctx.contentsOrResolve(input, {-most, most});
}

Status inferSlice(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) return inferUnknownShape(ctx);
  const auto starts = boundsOf(ctx, "starts", 1);
  const auto ends = boundsOf(ctx, "ends", 2);
  const Axes axes = axesOf(ctx, 3);
  if (!starts || !ends || !axes.known) {
    std::vector<Size> dims;
    for (std::size_t i = 0; i < shape.rank(); ++i)
      dims.push_back(foundSize(ctx, "length" + std::to_string(i), shape.dims[i]));
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
    return Status::ok();
  }
  std::vector<std::int64_t> axisValues = axes.values;
  if (!axes.given) {
    for (std::size_t i = 0; i < starts->size(); ++i) axisValues.push_back(static_cast<std::int64_t>(i));
  }
  auto chosen = normaliseAxes(ctx, axisValues, shape.rank());
  if (!chosen) return chosen.status();
  std::vector<Size> steps(starts->size(), 1);
  if (ctx.hasInput(4)) {
    if (auto given = ctx.contents(4)) {
      steps = std::move(*given);
    } else {
      for (Size& step : steps) step = Size::invalid();
    }
  }
  if (ends->size() != starts->size() || chosen->size() != starts->size() || steps.size() != starts->size()) {
    return ctx.error(ErrorCode::kShapeMismatch, "Starts, ends, axes and steps need one entry per cut axis",
                     std::to_string(starts->size()) + " of each",
                     std::to_string(ends->size()) + ", " + std::to_string(chosen->size()) + " and " +
                         std::to_string(steps.size()));
  }
  std::vector<Size> dims = shape.dims;
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    if (steps[i].is(0))
      return ctx.error(ErrorCode::kBadAttribute, "A step must not be 0", "another step", "0");
    const std::size_t axis = (*chosen)[i];
    cuts.push_back(cutOf(ctx, axis, shape.dims[axis], (*starts)[i], (*ends)[i], steps[i]));
    dims[axis] = cuts.back().length;
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  sliceContents(ctx, cuts);
  return Status::ok();
}

const Register kRegisterSlice(Definition{
    .name = "Slice",
    .versions = {1, 10, 11, 13},
    .doc = "Takes along each named axis the elements from start up to but not including end, every step-th "
           "of them. Negative bounds count "
           "from the end, bounds outside are clamped, and a negative step goes backwards. Bounds are "
           "attributes in version 1 and inputs from "
           "version 10 on.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"},
               {.name = "starts", .option = FormalOption::kOptional, .typeVariable = "Tind"},
               {.name = "ends", .option = FormalOption::kOptional, .typeVariable = "Tind"},
               {.name = "axes", .option = FormalOption::kOptional, .typeVariable = "Tind"},
               {.name = "steps", .option = FormalOption::kOptional, .typeVariable = "Tind"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "starts", .type = AttributeType::kInts},
                   {.name = "ends", .type = AttributeType::kInts},
                   {.name = "axes", .type = AttributeType::kInts}},
    .infer = inferSlice,
});

}  // namespace
}  // namespace rota::op
