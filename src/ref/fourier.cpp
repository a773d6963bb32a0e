// SPDX-License-Identifier: Apache-2.0
// Fourier transforms; see fourier.h. Tested by src/ref/signal_test.cpp.
#include "ref/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rota::ref {

namespace {

struct ComplexNumber {
  double re;
  double im;
};
ComplexNumber complexAt(const double* data, std::int64_t i) { return {data[2 * i], data[2 * i + 1]}; }
void setComplex(double* data, std::int64_t i, ComplexNumber v) { data[2 * i] = v.re, data[2 * i + 1] = v.im; }
ComplexNumber operator*(ComplexNumber a, ComplexNumber b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
ComplexNumber operator+(ComplexNumber a, ComplexNumber b) { return {a.re + b.re, a.im + b.im}; }
ComplexNumber operator-(ComplexNumber a, ComplexNumber b) { return {a.re - b.re, a.im - b.im}; }
ComplexNumber unitRoot(std::int64_t numerator,
                       std::int64_t denominator) {  // exp(-2 pi i numerator / denominator)
  const double angle =
      -2 * std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(denominator);
  return {std::cos(angle), std::sin(angle)};
}

}  // namespace

Result<FourierPlan> FourierPlan::make(KernelContext& ctx, std::int64_t length) {
  FourierPlan plan;
  plan.length_ = length;
  plan.size_ = 1;
  while (plan.size_ < length) plan.size_ *= 2;
  const bool chirped = plan.size_ != length;
  if (chirped) {
    while (plan.size_ < 2 * length - 1) plan.size_ *= 2;
  }
  auto memory = ctx.scratch<double>(plan.size_ + (chirped ? 2 * (length + plan.size_) : 0));
  if (!memory) return memory.status();
  double* const roots = *memory;
  for (std::int64_t k = 0; k < plan.size_ / 2; ++k) setComplex(roots, k, unitRoot(k, plan.size_));
  plan.roots_ = roots;
  if (!chirped) return plan;

  double* const chirp = roots + plan.size_;
  double* const filter = chirp + 2 * length;
  std::fill(filter, filter + 2 * plan.size_, 0.0);
  // n^2 modulo 2 * length, so that the angle stays small; (n + 1)^2 = n^2 + 2 n + 1.
  for (std::int64_t n = 0, square = 0; n < length; square = (square + 2 * n + 1) % (2 * length), ++n) {
    const ComplexNumber c = unitRoot(square, 2 * length);
    setComplex(chirp, n, c);
    const double scale = 1 / static_cast<double>(plan.size_);
    const ComplexNumber conjugate{c.re * scale, -c.im * scale};
    setComplex(filter, n, conjugate);
    if (n > 0) setComplex(filter, plan.size_ - n, conjugate);
  }
  plan.radix2(filter, false);
  plan.chirp_ = chirp;
  plan.filter_ = filter;
  return plan;
}

void FourierPlan::radix2(double* data, bool inverse) const {
  for (std::int64_t i = 1, j = 0; i < size_; ++i) {  // bit reversal
    std::int64_t bit = size_ >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    const ComplexNumber t = complexAt(data, i);
    setComplex(data, i, complexAt(data, j));
    setComplex(data, j, t);
  }
  for (std::int64_t span = 2; span <= size_; span *= 2) {
    const std::int64_t step = size_ / span;
    for (std::int64_t first = 0; first < size_; first += span) {
      for (std::int64_t k = 0; k < span / 2; ++k) {
        ComplexNumber w = complexAt(roots_, k * step);
        if (inverse) w.im = -w.im;
        const ComplexNumber a = complexAt(data, first + k);
        const ComplexNumber b = complexAt(data, first + k + span / 2) * w;
        setComplex(data, first + k, a + b);
        setComplex(data, first + k + span / 2, a - b);
      }
    }
  }
}

void FourierPlan::chirpTransform(double* data, double* work) const {
  std::fill(work, work + 2 * size_, 0.0);
  for (std::int64_t n = 0; n < length_; ++n) setComplex(work, n, complexAt(data, n) * complexAt(chirp_, n));
  radix2(work, false);
  for (std::int64_t k = 0; k < size_; ++k) setComplex(work, k, complexAt(work, k) * complexAt(filter_, k));
  radix2(work, true);
  for (std::int64_t k = 0; k < length_; ++k) setComplex(data, k, complexAt(work, k) * complexAt(chirp_, k));
}

void FourierPlan::transform(double* data, double* work, bool inverse) const {
  if (length_ == size_) {
    radix2(data, inverse);
    return;
  }
  // The inverse is the conjugate of the transform of the conjugate.
  const auto conjugate = [&] {
    for (std::int64_t n = 0; n < length_; ++n) data[2 * n + 1] = -data[2 * n + 1];
  };
  if (inverse) conjugate();
  chirpTransform(data, work);
  if (inverse) conjugate();
}

}  // namespace rota::ref
