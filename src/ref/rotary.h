// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding of one head at one position; shared by RotaryEmbedding and GroupQueryAttention. Tested by src/ref/attention_test.cpp.
#pragma once

#include <cstdint>

namespace rota::ref {

/// Rotates the pairs of x[0, size) by the angles whose cosines and sines are given (size / 2 of each): pairs (2i, 2i + 1) when `interleaved`, else
/// (i, i + size / 2).
inline void rotatePairs(double* x, std::int64_t size, bool interleaved, const double* cosines,
                        const double* sines) {
  const std::int64_t half = size / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    double& a = interleaved ? x[2 * i] : x[i];
    double& b = interleaved ? x[2 * i + 1] : x[i + half];
    const double real = cosines[i] * a - sines[i] * b;
    b = sines[i] * a + cosines[i] * b;
    a = real;
  }
}

}  // namespace rota::ref
