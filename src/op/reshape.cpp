// SPDX-License-Identifier: Apache-2.0
// Reshape. The shape may be computed: known entries are taken as they are, an entry -1 becomes the quotient in which sizes that stand on both
// sides cancel (the division is exact, which is a guard), and an entry that only the data knows may still turn out to be 0 or -1, which its size expression allows for.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "op/movement_common.h"

namespace rota::op {
namespace {

/// The size of the one entry that is -1: elements of the input over the product of the other entries.
Size inferredSize(InferContext& ctx, std::vector<Size> input, const std::vector<Size>& others) {
  std::vector<Size> rest;
  for (const Size& size : others) {
    const auto same = std::find(input.begin(), input.end(), size);
    if (same != input.end()) {
      input.erase(same);
    } else {
      rest.push_back(size);
    }
  }
  const Size below = product(rest);
  const Size above = product(input);
  if (below.is(1)) return above;
  if (above.is(0)) return 0;
  return floorDiv(above, largerOf(ctx, below, 1));
}

/// Entry i of the shape with 0 and -1 resolved except for the -1 itself, for which it is 1; `isMinusOne` gets 1 or 0, possibly symbolic.
Result<Size> plainEntry(InferContext& ctx, Size entry, std::size_t i, bool allowZero, Size& isMinusOne) {
  const auto& input = ctx.inputShape(0).dims;
  isMinusOne = 0;
  if (entry.isConstant()) {
    const std::int64_t value = *entry.constant();
    if (value == -1) {
      isMinusOne = 1;
      return Size(1);
    }
    if (value < -1) {
      return ctx.error(ErrorCode::kShapeMismatch, "A shape has sizes of at least 0 and at most one -1",
                       "such a shape", std::to_string(value));
    }
    if (value != 0 || allowZero) return entry;
    if (i < input.size()) return input[i];
    return ctx.error(ErrorCode::kShapeMismatch, "0 asks for a copy of an axis that the input does not have",
                     "0 only at the first " + std::to_string(input.size()) + " places",
                     "0 at place " + std::to_string(i));
  }
  // What shape arithmetic gives is taken to be a size; only an element of the data itself may turn out to be 0 or -1:
  // e + 2 * [e = -1] + input[i] * [e = 0].
  const auto symbol = ctx.sizes().asSymbol(entry);
  const bool isData = symbol && ctx.sizes().symbols()[*symbol].origin == SymbolOrigin::kHostResolved;
  if (!isData || isAtLeast(ctx, entry, 0)) return entry;
  isMinusOne = min(1, max(0, Size() - entry));
  Size plain = entry + isMinusOne * 2;
  if (!allowZero && i < input.size()) plain = plain + input[i] * max(0, Size(1) - entry - isMinusOne * 2);
  return plain;
}

Status inferReshape(InferContext& ctx) {
  const DType dtype = ctx.inputDtype(0);
  std::optional<std::vector<Size>> shape;
  if (const auto* attribute = ctx.attributes().getInts("shape")) {
    shape.emplace(attribute->begin(), attribute->end());
  } else {
    shape = ctx.contentsOrResolve(1, {-1, std::numeric_limits<std::int64_t>::max()});
  }
  if (!shape) return inferUnknownShape(ctx);
  if (!ctx.inputShape(0).known) {
    const bool plain =
        std::all_of(shape->begin(), shape->end(), [&](Size s) { return isAtLeast(ctx, s, 1); });
    ctx.setOutput(0, dtype, plain ? ir::Shape::of(*shape) : foundShape(ctx, "dim", shape->size()));
    return Status::ok();
  }
  const bool allowZero = ctx.attributes().getInt("allowzero") != 0;
  std::vector<Size> dims;
  std::vector<Size> flags;
  bool hasZero = false;
  std::size_t minusOnes = 0;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    Size flag;
    auto entry = plainEntry(ctx, (*shape)[i], i, allowZero, flag);
    if (!entry) return entry.status();
    dims.push_back(*entry);
    flags.push_back(flag);
    hasZero = hasZero || (allowZero && (*shape)[i].is(0));
    minusOnes += flag.is(1) ? 1U : 0U;
  }
  if (minusOnes > 1 || (minusOnes == 1 && hasZero)) {
    return ctx.error(
        ErrorCode::kShapeMismatch,
        hasZero ? "-1 and 0 cannot stand in one shape when allowzero is 1" : "A shape has at most one -1",
        "one entry to be found", shapeText(ctx, ir::Shape::of(*shape)));
  }
  const std::vector<Size>& input = ctx.inputShape(0).dims;
  const std::vector<Size> plain = dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (flags[i].is(0) || (minusOnes == 1 && !flags[i].is(1))) continue;
    std::vector<Size> others = plain;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Size found = inferredSize(ctx, input, others);
    dims[i] = flags[i].is(1) ? found : plain[i] + flags[i] * (found - 1);
  }
  // Entries that may be 0 or -1 can make expressions too long to keep: then the kernel finds the sizes.
  if (std::any_of(dims.begin(), dims.end(), [](Size s) { return !s.isValid(); })) {
    ctx.setOutput(0, dtype, foundShape(ctx, "dim", dims.size()));
    return Status::ok();
  }
  const auto before = product(input).constant();
  const auto after = product(dims).constant();
  if (before && after && *before != *after) {
    return ctx.error(ErrorCode::kShapeMismatch, "The new shape has another number of elements",
                     std::to_string(*before) + " elements, as in " + shapeText(ctx, ctx.inputShape(0)),
                     shapeText(ctx, ir::Shape::of(dims)));
  }
  // Where sizes are symbols this is a guard (an entry -1 divides exactly), and may prove symbols equal.
  const Size total = product(input);
  const Size wanted = product(dims);
  if (total.isValid() && wanted.isValid() && total != wanted)
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(total, wanted,
                                          "elements of " + shapeText(ctx, ctx.inputShape(0)) + " and of " +
                                              shapeText(ctx, ir::Shape::of(dims))));
  ctx.setOutput(0, dtype, ir::Shape::of(std::move(dims)));
  passContents(ctx);
  return Status::ok();
}

const Register kRegisterReshape(Definition{
    .name = "Reshape",
    .versions = {5, 13, 14, 19, 21, 23, 24, 25},
    .doc = "Gives the elements, in unchanged order, a new shape. One entry of the shape may be -1 and is "
           "found from the number of elements; an "
           "entry 0 copies the size of that axis of the input, unless allowzero is 1, when it means an empty "
           "axis.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "shape"}},
    .outputs = {{.name = "reshaped", .typeVariable = "T"}},
    .attributes = {{.name = "allowzero"}},
    .infer = inferReshape,
    .keepsOrder = true,
});

}  // namespace
}  // namespace rota::op
