// SPDX-License-Identifier: Apache-2.0
// The table of vector kernels, one instance for each instruction set; `kernels()` is the best one for this machine, chosen once.
//
// All functions take plain pointers and counts, allocate nothing and are right for a count of 0. `out` may be one of the inputs.
// Tested by src/backend/cpu/run/simd_test.cpp for every instruction set that the machine has.
#pragma once

#include <cstdint>
#include <span>

#include "backend/cpu/run/pointwise_op.h"

namespace rota::simd {

enum class SoftmaxForm : std::uint8_t {
  kPlain,
  kLogarithm,
  kMasked,  ///< A line of which every element is minus infinity gives zeros, not NaN.
};

/// What can follow a product or convolution, in place.
enum class Post : std::uint8_t {
  kRelu,  ///< Of slope alpha below 0.
  kSigmoid,
  kTanh,
  kGeluErf,
  kGeluTanh,
  kSwish,
  kHardSwish,
  kClip,  ///< To [alpha, beta]; NaN stays.
  kElu,
  kLinear,  ///< alpha * x + beta
  kAdd,     ///< The operand; so are the next ones.
  kMul,
  kSub,
  kCount,
};
inline constexpr int kPosts = static_cast<int>(Post::kCount);

/// Rows of a product, or neighbouring pixels of a convolution, that are computed together.
inline constexpr std::int64_t kTileRows = 6;
/// Most rows of Kernels::productWide.
inline constexpr std::int64_t kWideRows = 3;
/// Upper bound of Kernels::tileColumns.
inline constexpr std::int64_t kMaxTileColumns = 32;

/// Up to kTileRows pixels of one or two blocks of output channels of a convolution over channels in blocks.
struct ConvolutionTile {
  const float* const* points =
      nullptr;  ///< [kernel points][kTileRows]: where each pixel's window reads, nullptr outside of the image.
  std::int64_t kernelPoints = 0;
  std::int64_t outer = 1, outerStride = 0;  ///< Blocks of input channels.
  std::int64_t inner = 1, innerStride = 1;  ///< Channels of a block.
  const float* weights = nullptr;           ///< [outer][kernel points][inner][block]
  std::int64_t weightsStride = 0;           ///< To the weights of the next block of output channels.
  std::int64_t blocks = 1;                  ///< Of output channels: 1 or 2.
  float* out = nullptr;                     ///< [pixels][block]
  std::int64_t outStride = 0;               ///< To the next block of output channels.
  std::int64_t pixels = 0;
};

struct Kernels {
  const char* name;

  /// out[i] = op(a[i], b[i], c[i]); truth values are 1 and 0. Indexed by PointwiseOp; nullptr where plain code does it (see pointwise.cpp).
  using Map = void (*)(const float* a, const float* b, const float* c, float* out, std::int64_t n);
  Map map[kPointwiseOps];

  /// Softmax (or its logarithm) of one line of neighbouring elements; `y` may be `x`.
  void (*softmaxRow)(const float* x, float* y, std::int64_t n, SoftmaxForm form);
  /// The same for `columns` (at most kColumns) lines side by side, elements of a line `stride` apart; kMasked is as kPlain.
  void (*softmaxColumns)(const float* x, float* y, std::int64_t n, std::int64_t stride, std::int64_t columns,
                         SoftmaxForm form);

  /// Folds of neighbouring elements. Sums are taken in float over short chunks and in double over these.
  double (*sum)(const float* x, std::int64_t n);
  double (*sumOfSquares)(const float* x, std::int64_t n, float shift);  ///< of x - shift
  double (*sumOfMagnitudes)(const float* x, std::int64_t n);
  float (*largest)(const float* x, std::int64_t n);  ///< NaN when there is one; -inf for none.
  float (*smallest)(const float* x, std::int64_t n);
  double (*sumOfExponentials)(const float* x, std::int64_t n, float shift);
  /// acc[i] = fold(acc[i], x[i]) over `rows` rows that are `stride` apart.
  void (*addRows)(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns, double* acc);
  void (*addSquareRows)(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                        double* acc);
  void (*addMagnitudeRows)(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                           double* acc);
  void (*largestRows)(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                      float* acc);
  void (*smallestRows)(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                       float* acc);

  /// y = (x - shift) * factor * scale + bias, rounded after every operation; scale and bias may be nullptr.
  void (*affineRow)(const float* x, float* y, std::int64_t n, float shift, float factor, const float* scale,
                    const float* bias);
  /// acc += weight * x
  void (*addScaled)(const float* x, float weight, float* acc, std::int64_t n);
  /// y = (x - shift) * scale + bias with the same numbers for all.
  void (*affine)(const float* x, float* y, std::int64_t n, float shift, float scale, float bias);

  /// Columns of a product that are computed together.
  std::int64_t tileColumns;
  /// c[r][j] = (adds: c[r][j] +) sum over d < depth of a[r * aRow + d * aDepth] * b[d * bStride + j] for r < rows (at most kTileRows) and
  /// j < columns (at most tileColumns; tileColumns of b are read). Sums run over d in order.
  void (*productTile)(const float* a, std::int64_t aRow, std::int64_t aDepth, const float* b,
                      std::int64_t bStride, std::int64_t depth, std::int64_t rows, std::int64_t columns,
                      float* c, std::int64_t cRow, bool adds);
  /// The same for one to kWideRows rows and wideColumns[rows] columns: B is read in long stretches, which is what counts when it is read only once.
  std::int64_t wideColumns[kWideRows + 1];
  void (*productWide)(const float* a, std::int64_t aRow, std::int64_t aDepth, const float* b,
                      std::int64_t bStride, std::int64_t depth, std::int64_t rows, float* c,
                      std::int64_t cRow, bool adds);
  /// c[j] = sum over d of a[d] * b[j * bStride + d] for j < columns.
  void (*dotColumns)(const float* a, const float* b, std::int64_t bStride, std::int64_t depth,
                     std::int64_t columns, float* c);
  /// Convolutions over blocks of 8 and 16 channels; nullptr where vectors are shorter. `depthwise`: every channel has its own window.
  void (*convolve8)(const ConvolutionTile& tile);
  void (*convolve16)(const ConvolutionTile& tile);
  void (*depthwise8)(const ConvolutionTile& tile);
  void (*depthwise16)(const ConvolutionTile& tile);
  /// x = op(x, operand) in place, indexed by Post. The operand repeats every `period` elements (1, or a block of channels); 0: it is as long as x.
  using PostMap = void (*)(float* x, std::int64_t n, float alpha, float beta, const float* operand,
                           std::int64_t period);
  PostMap post[kPosts];
};

/// Chunks over which sums stay in float, and the most lines that softmaxColumns takes.
inline constexpr std::int64_t kChunk = 512;
inline constexpr std::int64_t kColumns = 64;

/// The best variant that this processor runs.
const Kernels& kernels();
/// All variants that this processor runs, best last; for tests.
std::span<const Kernels* const> usableKernels();

}  // namespace rota::simd
