// SPDX-License-Identifier: Apache-2.0
// Convolutions with few filters a group (depthwise ones above all), straight from the image.
//
// A product would gather every window only to use it once or twice. Here the planes of an image are widened to double once, with zeros around
// them; then a kernel position is a fixed offset from the output position, and neighbouring outputs are summed side by side. Rows are split by
// the stride of the last axis, so that neighbouring outputs read neighbouring elements. The order of a sum is that of the product: k ascending
// over (channel, kernel position), so the bits are the same. A 3 x 3 depthwise convolution runs three to five times as fast as by the product.
// Used by conv.cpp and conv_transpose.cpp. Tested by src/ref/conv_test.cpp and src/ref/product_speed_test.cpp.
#pragma once

#include "ref/kernel.h"
#include "ref/window.h"

namespace rota::ref {

/// Up to so many filters a group the direct way is taken.
constexpr std::int64_t kDirectFilters = 3;

/// The layout of a plane with zeros around it.
class PaddedPlane {
 public:
  /// `size` elements an axis, of which the first `lead` lie before the plane; `split`: the stride of the last axis.
  PaddedPlane(std::size_t rank, const Spatial& in, const Spatial& lead, const Spatial& size,
              std::int64_t split);

  std::int64_t elements() const { return elements_; }
  /// Distance of neighbours along an axis that is not the last.
  std::int64_t stride(std::size_t axis) const { return strides_[axis]; }
  /// Where the element at these padded coordinates lies.
  std::int64_t offset(const Spatial& at) const;
  /// Widens a plane of the input into a place that was zeroed once; the zeros around it are left alone.
  void fill(const TensorView& x, std::int64_t plane, double* out) const;

 private:
  // Elements [column, column + count) of a row of the plane, into the padded row.
  void place(const double* values, std::int64_t column, std::int64_t count, double* row) const;

  std::size_t rank_;
  Spatial in_, lead_, size_, strides_{};
  std::int64_t split_;
  std::int64_t part_ = 1;  // elements of a row with the same remainder by `split`
  std::int64_t elements_ = 1;
};

/// Sums of one filter: at output position p of `count` (row-major), sum over k of weights[k] * data[offsets[k] + sum over axes of p * steps].
struct DirectFilter {
  std::size_t rank = 0;
  Spatial count{};
  Spatial steps{};  ///< Of the axes before the last; the last one steps by 1.
  const double* data = nullptr;
  const std::int64_t* offsets = nullptr;
  const double* weights = nullptr;
  std::int64_t depth = 0;
};

/// Doubles behind the last plane that are read, but not used.
constexpr std::int64_t kDirectSlack = 8;

/// Takes finished sums: positions [position, position + count), count at most kProductRun.
class DirectSink {
 public:
  virtual ~DirectSink() = default;
  virtual void store(std::int64_t position, std::int64_t count, const double* values) const = 0;
};

void runDirect(const DirectFilter& filter, const DirectSink& sink);

/// How `items` are cut into at most 64 parts, each with scratch memory of its own: item i belongs to part i / grain.
struct DirectParts {
  std::int64_t grain = 1;
  std::int64_t count = 1;
};
DirectParts directParts(std::int64_t items, std::int64_t multiplicationsPerItem);

}  // namespace rota::ref
