// SPDX-License-Identifier: Apache-2.0
// Sliding windows of convolutions and pooling, in any number of spatial axes: kernel, strides, dilations and pads of a node together with the
// concrete sizes of its tensors. `auto_pad` is resolved here, from input and output sizes, so kernels only see pads.
// Tested by src/ref/conv_test.cpp and src/ref/pool_test.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "core/check.h"
#include "ref/kernel.h"

namespace rota::ref {

/// Spatial axes that a window may have.
constexpr std::size_t kMaxSpatial = 8;

/// One number for each spatial axis.
using Spatial = std::array<std::int64_t, kMaxSpatial>;

struct Window {
  std::size_t rank = 0;
  std::array<std::int64_t, kMaxSpatial> in{}, out{}, kernel{}, stride{}, dilation{}, padBegin{}, padEnd{};

  std::int64_t inCount() const { return countOf(in); }
  std::int64_t outCount() const { return countOf(out); }
  std::int64_t kernelCount() const { return countOf(kernel); }
  /// Extent of the dilated kernel along axis `d`.
  std::int64_t extent(std::size_t d) const { return (kernel[d] - 1) * dilation[d] + 1; }

 private:
  std::int64_t countOf(const std::array<std::int64_t, kMaxSpatial>& sizes) const {
    std::int64_t n = 1;
    for (std::size_t d = 0; d < rank; ++d) n *= sizes[d];
    return n;
  }
};

/// Reads the attributes of a node whose input, kernel and output have these spatial sizes; refuses negative pads and values below 1.
Result<Window> windowOf(const Attributes& attributes, Dims in, Dims kernel, Dims out);

/// The indices of an n-dimensional block in row-major order.
class SpatialIndex {
 public:
  void seek(const std::array<std::int64_t, kMaxSpatial>& sizes, std::size_t rank, std::int64_t linear) {
    for (std::size_t d = rank; d-- > 0;) {
      at[d] = linear % sizes[d];
      linear /= sizes[d];
    }
  }
  void next(const std::array<std::int64_t, kMaxSpatial>& sizes, std::size_t rank) {
    for (std::size_t d = rank; d-- > 0;) {
      if (++at[d] < sizes[d]) return;
      at[d] = 0;
    }
  }
  std::array<std::int64_t, kMaxSpatial> at{};
};

}  // namespace rota::ref
