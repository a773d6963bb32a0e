// SPDX-License-Identifier: Apache-2.0
// Shared parts of the inference of movement operators; see movement_common.h.
#include "op/movement_common.h"

#include <algorithm>
#include <limits>

#include "core/checked.h"

namespace rota::op {

std::optional<std::vector<std::int64_t>> staticDims(const ir::Shape& shape) {
  if (!shape.known) return std::nullopt;
  std::vector<std::int64_t> dims;
  dims.reserve(shape.rank());
  for (const Size& size : shape.dims) {
    if (!size.isConstant()) return std::nullopt;
    dims.push_back(*size.constant());
  }
  return dims;
}

std::optional<std::int64_t> contentsCount(const ir::Shape& shape) {
  const auto dims = staticDims(shape);
  if (!dims) return std::nullopt;
  const auto count = checkedCount(*dims);
  if (!count || *count > kMaxContents) return std::nullopt;
  return count;
}

bool isAtLeast(InferContext& ctx, Size size, std::int64_t bound) {
  return size.isValid() && ctx.sizes().range(size).lo >= bound;
}

bool isAtMost(InferContext& ctx, Size size, std::int64_t bound) {
  const std::int64_t hi = ctx.sizes().range(size).hi;
  return size.isValid() && hi <= bound && hi != std::numeric_limits<std::int64_t>::max();
}

Size smallerOf(InferContext& ctx, Size a, Size b) {
  if (isAtLeast(ctx, b - a, 0)) return a;
  if (isAtLeast(ctx, a - b, 0)) return b;
  return min(a, b);
}

Size largerOf(InferContext& ctx, Size a, Size b) {
  if (isAtLeast(ctx, b - a, 0)) return b;
  if (isAtLeast(ctx, a - b, 0)) return a;
  return max(a, b);
}

Status inferUnknownShape(InferContext& ctx) {
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
  return Status::ok();
}

std::optional<std::vector<Size>> partialContents(InferContext& ctx, std::size_t i) {
  const ir::Value* value = ctx.node().input(i);
  if (value == nullptr || !value->contents) return std::nullopt;
  std::vector<Size> contents;
  for (const Size& size : *value->contents)
    contents.push_back(size.isValid() ? ctx.sizes().resolve(size) : size);
  return contents;
}

void passContents(InferContext& ctx, std::size_t from, std::size_t to) {
  if (!ctx.hasOutput(to)) return;
  if (auto contents = partialContents(ctx, from)) ctx.setContents(to, std::move(*contents));
}

void moveContents(InferContext& ctx, std::size_t from, std::size_t to, std::span<const std::int64_t> sourceOf,
                  Size fill) {
  if (!ctx.hasOutput(to) || static_cast<std::int64_t>(sourceOf.size()) > kMaxContents) return;
  const auto contents = partialContents(ctx, from);
  if (!contents) return;
  std::vector<Size> moved;
  moved.reserve(sourceOf.size());
  for (const std::int64_t source : sourceOf) {
    if (source >= static_cast<std::int64_t>(contents->size())) return;
    moved.push_back(source < 0 ? fill : (*contents)[static_cast<std::size_t>(source)]);
  }
  ctx.setContents(to, std::move(moved));
}

std::vector<std::int64_t> stridedPlaces(std::span<const std::int64_t> dims,
                                        std::span<const std::int64_t> strides, std::int64_t offset) {
  std::vector<std::int64_t> places{offset};
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    std::vector<std::int64_t> next;
    next.reserve(places.size() * static_cast<std::size_t>(std::max<std::int64_t>(dims[axis], 0)));
    for (const std::int64_t place : places) {
      for (std::int64_t i = 0; i < dims[axis]; ++i) next.push_back(place + i * strides[axis]);
    }
    places = std::move(next);
  }
  return places;
}

std::vector<std::int64_t> rowMajorStrides(std::span<const std::int64_t> dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Size foundSize(InferContext& ctx, std::string_view name, Size bound) {
  const SizeRange range = ctx.sizes().range(bound);
  return ctx.dataDependent(name, {0, range.hi});
}

ir::Shape foundShape(InferContext& ctx, std::string_view name, std::size_t rank, SizeRange range) {
  std::vector<Size> dims;
  for (std::size_t i = 0; i < rank; ++i)
    dims.push_back(ctx.dataDependent(std::string(name) + std::to_string(i), range));
  return ir::Shape::of(std::move(dims));
}

std::string shapeText(InferContext& ctx, const ir::Shape& shape) {
  if (!shape.known) return "a shape of unknown rank";
  std::string text = "[";
  for (std::size_t i = 0; i < shape.rank(); ++i)
    text += (i == 0 ? "" : ", ") + ctx.sizes().toString(shape.dims[i]);
  return text + "]";
}

}  // namespace rota::op
