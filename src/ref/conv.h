// SPDX-License-Identifier: Apache-2.0
// Convolution as one product per image and group: rows are output channels, columns output positions, k runs over (channel, kernel position).
// The columns are gathered from the image while they are packed, so no unrolled image is stored. Shared by Conv, ConvInteger, QLinearConv and
// their fused forms. Tested by src/ref/conv_test.cpp.
#pragma once

#include "ref/product.h"
#include "ref/window.h"

namespace rota::ref {

struct ConvProblem {
  std::int64_t images = 0;
  std::int64_t groups = 1;
  std::int64_t channels = 0;  ///< Of the input, all groups.
  std::int64_t filters = 0;   ///< Of the output, all groups.
  Window window;

  std::int64_t groupChannels() const { return channels / groups; }
  std::int64_t groupFilters() const { return filters / groups; }
  std::int64_t depth() const { return groupChannels() * window.kernelCount(); }
};

/// Sizes of a Conv with X [images, channels, in…], W [filters, channels / groups, kernel…], Y [images, filters, out…]; refuses shapes that disagree.
Result<ConvProblem> convProblem(const Attributes& attributes, Dims x, Dims w, Dims y);

/// Takes output row (image, filter): elements [position, position + count).
class ConvSink {
 public:
  virtual ~ConvSink() = default;
  virtual void store(std::int64_t image, std::int64_t filter, std::int64_t position, std::int64_t count,
                     const double* values) const = 0;
};

/// X is dense in float or double; W is any operand whose line `group * groupFilters + filter` runs along k (batch is always 0). Few filters a
/// group go the direct way (conv_direct.h).
template <typename S>
Status convolve(KernelContext& ctx, const ConvProblem& problem, const S* x, const ProductOperand<double>& w,
                const ConvSink& sink);

}  // namespace rota::ref
