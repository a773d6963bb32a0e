// SPDX-License-Identifier: Apache-2.0
// Output sizes of sliding windows: convolutions, pooling and their transposed forms, with symbolic sizes.
// Tested by src/op/window_test.cpp.
#pragma once

#include <span>
#include <vector>

#include "op/common.h"

namespace rota::op {

/// Attribute `name` with one value for each of `count` entries, all at least `least`; `fallback` repeated when it is absent or empty.
Result<std::vector<std::int64_t>> windowAttribute(const InferContext& ctx, std::string_view name,
                                                  std::size_t count, std::int64_t fallback,
                                                  std::int64_t least);
/// Attribute `auto_pad`, one of NOTSET, SAME_UPPER, SAME_LOWER, VALID.
Result<std::string_view> autoPadOf(const InferContext& ctx);

/// Spatial output sizes of a window of `kernel` over `in`, from strides, dilations, pads, auto_pad and ceil_mode.
Result<std::vector<Size>> windowOutput(InferContext& ctx, std::span<const Size> in,
                                       std::span<const Size> kernel);

/// Conv-like nodes with X in input `x` and filters in input `w`: checks channels, groups and kernel_shape; the shape of the result.
Result<ir::Shape> convOutputShape(InferContext& ctx, std::size_t x, std::size_t w);

/// Pools: the shape of the result from input 0 and attribute kernel_shape.
Result<ir::Shape> poolOutputShape(InferContext& ctx);
/// Pools with one output of the input's type.
Status inferPool(InferContext& ctx);
/// [N, C, 1, …].
Status inferGlobalPool(InferContext& ctx);

/// Attributes of every windowed operator: auto_pad, dilations, kernel_shape, pads, strides, and those of `more`.
std::vector<AttributeFormal> windowAttributes(std::vector<AttributeFormal> more = {});

}  // namespace rota::op
