// SPDX-License-Identifier: Apache-2.0
// Split: one axis cut into parts of given or equal sizes.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

/// Sizes of the parts, or an empty list when they are not given.
Result<std::vector<Size>> givenSizes(InferContext& ctx) {
  const std::size_t outputs = ctx.node().outputs.size();
  std::vector<Size> sizes;
  if (const auto* attribute = ctx.attributes().getInts("split")) {
    sizes.assign(attribute->begin(), attribute->end());
  } else if (ctx.hasInput(1)) {
    auto contents = ctx.contentsOrResolve(1, {});
    if (contents) {
      sizes = std::move(*contents);
    } else {
      for (std::size_t i = 0; i < outputs; ++i)
        sizes.push_back(ctx.dataDependent("part" + std::to_string(i), {}));
    }
  } else {
    return sizes;
  }
  if (sizes.size() != outputs) {
    return ctx.error(ErrorCode::kShapeMismatch, "The number of sizes and of outputs differ",
                     std::to_string(outputs) + " sizes", std::to_string(sizes.size()));
  }
  return sizes;
}

/// Equal parts, the last ones smaller where the size does not divide (version 18 on).
std::vector<Size> equalSizes(InferContext& ctx, Size size, std::size_t parts) {
  const auto count = static_cast<std::int64_t>(parts);
  if (ctx.version() < 18 || ctx.sizes().divisible(size, count))
    return std::vector<Size>(parts, floorDiv(size, count));
  const Size chunk = ceilDiv(size, count);
  std::vector<Size> sizes;
  for (std::int64_t i = 0; i < count; ++i)
    sizes.push_back(smallerOf(ctx, chunk, largerOf(ctx, size - chunk * i, 0)));
  return sizes;
}

void splitContents(InferContext& ctx, std::size_t axis, const std::vector<Size>& sizes) {
  const auto dims = staticDims(ctx.inputShape(0));
  if (!dims || !contentsCount(ctx.inputShape(0))) return;
  const auto strides = rowMajorStrides(*dims);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].isConstant()) return;
    auto part = *dims;
    part[axis] = *sizes[i].constant();
    moveContents(ctx, 0, i, stridedPlaces(part, strides, at * strides[axis]));
    at += part[axis];
  }
}

Status inferSplit(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  const std::size_t outputs = ctx.node().outputs.size();
  if (!shape.known) {
    for (std::size_t i = 0; i < outputs; ++i) {
      if (ctx.hasOutput(i)) ctx.setOutput(i, ctx.inputDtype(0), ir::Shape::unknown());
    }
    return Status::ok();
  }
  auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis"), shape.rank());
  if (!axis) return axis.status();
  const Size size = shape.dims[*axis];
  auto sizes = givenSizes(ctx);
  if (!sizes) return sizes.status();
  if (sizes->empty()) {
    const auto parts = static_cast<std::int64_t>(outputs);
    const std::int64_t stated = ctx.attributes().getInt("num_outputs", parts);
    if (stated != parts) {
      return ctx.error(ErrorCode::kBadAttribute, "Attribute 'num_outputs' and the number of outputs differ",
                       std::to_string(parts), std::to_string(stated));
    }
    if (ctx.version() < 18 && size.isConstant() && *size.constant() % parts != 0) {
      return ctx.error(ErrorCode::kShapeMismatch, "An axis without sizes is cut into equal parts",
                       "a multiple of " + std::to_string(parts), std::to_string(*size.constant()));
    }
    *sizes = equalSizes(ctx, size, outputs);
  } else {
    Size total = 0;
    for (const Size& part : *sizes) {
      if (part.isConstant() && *part.constant() < 0) {
        return ctx.error(ErrorCode::kShapeMismatch, "A part has a negative size", "0 or more",
                         std::to_string(*part.constant()));
      }
      total = total + part;
    }
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(size, total, "the sizes add up to the axis that is cut"));
  }
  for (std::size_t i = 0; i < outputs; ++i) {
    if (!ctx.hasOutput(i)) continue;
    std::vector<Size> dims = shape.dims;
    dims[*axis] = (*sizes)[i];
    ctx.setOutput(i, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  }
  splitContents(ctx, *axis, *sizes);
  return Status::ok();
}

const Register kRegisterSplit(Definition{
    .name = "Split",
    .versions = {2, 11, 13, 18},
    .doc = "Cuts a tensor along one axis into as many parts as there are outputs. The sizes are an attribute "
           "before version 13 and an input "
           "from then on; without sizes the parts are equal, and from version 18 on the last ones may be "
           "smaller.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T"}, {.name = "split", .option = FormalOption::kOptional}},
    .outputs = {{.name = "outputs", .option = FormalOption::kVariadic, .typeVariable = "T"}},
    .attributes = {{.name = "axis"},
                   {.name = "num_outputs"},
                   {.name = "split", .type = AttributeType::kInts}},
    .infer = inferSplit,
});

}  // namespace
}  // namespace rota::op
