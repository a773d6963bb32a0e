// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transform of any length in double: radix 2 where the length is a power of two, Bluestein's chirp transform ("A linear
// filtering approach to the computation of discrete Fourier transform", 1970) otherwise, so the cost is always n log n.
// Tested by src/ref/signal_test.cpp.
#pragma once

#include <cstdint>

#include "ref/kernel.h"

namespace rota::ref {

/// Tables for one length, in scratch memory. Complex numbers are pairs of doubles.
class FourierPlan {
 public:
  static Result<FourierPlan> make(KernelContext& ctx, std::int64_t length);
  std::int64_t length() const { return length_; }
  /// Doubles that `transform` needs to work in.
  std::int64_t workSize() const { return length_ == size_ ? 0 : 2 * size_; }
  /// In place: data[k] = sum over n of data[n] * exp(-2 pi i k n / length), or with + for `inverse` (not divided by the length).
  void transform(double* data, double* work, bool inverse) const;

 private:
  void radix2(double* data, bool inverse) const;
  void chirpTransform(double* data, double* work) const;

  std::int64_t length_ = 0;
  std::int64_t size_ = 0;           // power of two: length_, or at least 2 * length_ - 1
  const double* roots_ = nullptr;   // [size_ / 2] exp(-2 pi i k / size_)
  const double* chirp_ = nullptr;   // [length_] exp(-pi i n^2 / length_)
  const double* filter_ = nullptr;  // [size_] transform of the conjugate chirp, divided by size_
};

}  // namespace rota::ref
