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
};

/// Chunks over which sums stay in float, and the most lines that softmaxColumns takes.
inline constexpr std::int64_t kChunk = 512;
inline constexpr std::int64_t kColumns = 64;

/// The best variant that this processor runs.
const Kernels& kernels();
/// All variants that this processor runs, best last; for tests.
std::span<const Kernels* const> usableKernels();

}  // namespace rota::simd
