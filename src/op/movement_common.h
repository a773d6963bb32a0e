// SPDX-License-Identifier: Apache-2.0
// What inference of the movement operators shares: sizes compared by their ranges, and contents of small tensors moved by an index map.
// Chains such as Shape -> Gather -> Unsqueeze -> Concat -> Reshape are how exporters write sizes; here their contents survive (decision N3).
// Tested by src/op/movement_test.cpp.
#pragma once

#include <span>

#include "core/check.h"
#include "op/common.h"

namespace rota::op {

using ir::kMaxContents;

/// The dims as numbers, when all of them are.
std::optional<std::vector<std::int64_t>> staticDims(const ir::Shape& shape);
/// Number of elements when it is known and at most kMaxContents.
std::optional<std::int64_t> contentsCount(const ir::Shape& shape);

/// min and max, decided by the ranges of the symbols where these suffice.
Size smallerOf(InferContext& ctx, Size a, Size b);
Size largerOf(InferContext& ctx, Size a, Size b);
/// Whether `size` is at least `bound` whatever its symbols are.
bool isAtLeast(InferContext& ctx, Size size, std::int64_t bound);
bool isAtMost(InferContext& ctx, Size size, std::int64_t bound);

/// Output 0 gets dtype of input 0 and an unknown shape.
Status inferUnknownShape(InferContext& ctx);
/// Contents of an input in which elements that are unknown are invalid sizes. Moving them keeps what is known: the -1 of a shape, say, of which
/// another element is computed.
std::optional<std::vector<Size>> partialContents(InferContext& ctx, std::size_t i);
/// Output `to` has the contents of input `from` in the same order.
void passContents(InferContext& ctx, std::size_t from = 0, std::size_t to = 0);
/// Output `to` has at place j what input `from` has at place sourceOf[j]; -1 stands for `fill`.
void moveContents(InferContext& ctx, std::size_t from, std::size_t to, std::span<const std::int64_t> sourceOf,
                  Size fill = 0);
/// The places offset + sum(index[a] * strides[a]) for all indices of `dims`, row-major.
std::vector<std::int64_t> stridedPlaces(std::span<const std::int64_t> dims,
                                        std::span<const std::int64_t> strides, std::int64_t offset);
/// Row-major strides.
std::vector<std::int64_t> rowMajorStrides(std::span<const std::int64_t> dims);

/// The size for a dim that the kernel finds, between 0 and the upper end of `bound`.
Size foundSize(InferContext& ctx, std::string_view name, Size bound);
/// `shape` with every dim replaced by one that the kernel finds.
ir::Shape foundShape(InferContext& ctx, std::string_view name, std::size_t rank, SizeRange range = {});
/// "[2, batch]" for messages.
std::string shapeText(InferContext& ctx, const ir::Shape& shape);

}  // namespace rota::op
