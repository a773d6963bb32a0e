// SPDX-License-Identifier: Apache-2.0
// Elementary functions of float32 vectors. Coefficients are our own weighted least-squares fits with few iterations of Lawson's rule towards
// the minimax; the reductions are the classic ones (Cody and Waite, Software Manual for the Elementary Functions, 1980).
//
// Largest errors found against double over the whole range are asserted by src/backend/cpu/run/simd_test.cpp: exp 1.5 ulp, log 1.5, erf 2, tanh 2,
// sigmoid 2.5, sin and cos 2 (arguments up to 2^20). NaN stays NaN, infinities have their limits, subnormal results are kept.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "backend/cpu/run/simd/vector.h"

namespace rota::simd::ROTA_SIMD_NAMESPACE {

ROTA_INLINE F truncateSmall(F x) { return toFloat(toInt(x)); }

/// Half to even. Beyond 2^23 every float is whole.
ROTA_INLINE F roundEven(F x) {
  const F a = absolute(x);
  const F magic = splat(8388608.0F);
  const F r = (a + magic) - magic;
  const I small = a < magic;
  return select(small, fromBits(bits(r) | signOf(x)), x);
}
ROTA_INLINE F floorOf(F x) {
  const I small = absolute(x) < 8388608.0F;
  const F t = truncateSmall(select(small, x, F{}));
  const F r = select(t > x, t - 1.0F, t);
  return select(small, fromBits(bits(r) | signOf(x)), x);
}
ROTA_INLINE F ceilOf(F x) {
  const I small = absolute(x) < 8388608.0F;
  const F t = truncateSmall(select(small, x, F{}));
  const F r = select(t < x, t + 1.0F, t);
  return select(small, fromBits(bits(r) | signOf(x)), x);
}

ROTA_INLINE F powerOfTwo(I n) { return fromBits((n + 127) << 23); }

/// e^x = 2^n e^r with |r| <= ln(2)/2; 2^n in two factors, so that subnormal results come out right.
ROTA_INLINE F expOf(F x) {
  const I isNan = x != x;
  F c = select(x > 89.0F, splat(89.0F), x);
  c = select(c < -104.0F, splat(-104.0F), c);
  c = select(isNan, F{}, c);
  const F magic = splat(12582912.0F);  // 1.5 * 2^23: adding it rounds to a whole number
  const F n = (c * 1.44269504F + magic) - magic;
  F r = c - n * 0.693359375F;  // ln 2 in two parts; the first has few bits, so the product is exact
  r = r - n * -2.12194440e-4F;
  F p = splat(0.00139505998F);
  p = p * r + 0.00836895406F;
  p = p * r + 0.041666206F;
  p = p * r + 0.166665182F;
  p = p * r + 0.5F;
  const F e = (p * (r * r) + r) + 1.0F;
  const I whole = toInt(n);
  const I half = whole >> 1;
  const F scaled = (e * powerOfTwo(half)) * powerOfTwo(whole - half);
  return select(isNan, x, scaled);
}

/// log x = k ln 2 + log m with m in [sqrt(1/2), sqrt(2)).
ROTA_INLINE F logOf(F x) {
  const I tiny = x < 1.17549435e-38F;
  const F scaled = select(tiny, x * 8388608.0F, x);
  const I b = bits(scaled) & 0x7fffffff;  // a negative x gives NaN below; here it must not overflow
  const I k = (b - 0x3f3504f3) >> 23;     // 0x3f3504f3: sqrt(1/2)
  const F m = fromBits(b - (k << 23));
  const F shift = select(tiny, splat(-23.0F), F{});
  const F e = toFloat(k) + shift;
  const F f = m - 1.0F;
  F p = splat(0.0674660131F);
  p = p * f + -0.116756409F;
  p = p * f + 0.118881747F;
  p = p * f + -0.124055915F;
  p = p * f + 0.142195508F;
  p = p * f + -0.166679963F;
  p = p * f + 0.200021192F;
  p = p * f + -0.250000089F;
  p = p * f + 0.333333135F;
  const F f2 = f * f;
  F low = p * f * f2;
  low = low + e * -2.12194440e-4F;
  low = low - f2 * 0.5F;
  F r = (f + low) + e * 0.693359375F;
  const F infinity = fromBits(splatInt(0x7f800000));
  r = select(x == infinity, infinity, r);
  r = select(x == 0.0F, -infinity, r);
  r = select(x < 0.0F, fromBits(splatInt(0x7fc00000)), r);
  return select(x != x, x, r);
}

/// Below 1 an odd polynomial; above, 1 - exp(-Q(x)) with Q = -log(erfc), beyond 4 it is 1.
ROTA_INLINE F erfOf(F x) {
  const F a = absolute(x);
  const F t = x * x;
  F s = splat(7.85400844e-05F);
  s = s * t + -0.000801024202F;
  s = s * t + 0.0051883338F;
  s = s * t + -0.0268538147F;
  s = s * t + 0.112835854F;
  s = s * t + -0.37612626F;
  s = s * t + 0.128379167F;
  const F small = x + x * s;
  const F c = select(a < 4.0F, a, splat(4.0F)) - 1.0F;
  F q = splat(2.16868502e-05F);
  q = q * c + -0.000289528427F;
  q = q * c + 0.00201196736F;
  q = q * c + -0.0100464532F;
  q = q * c + 0.0415634811F;
  q = q * c + 0.843107104F;
  q = q * c + 2.63896751F;
  q = q * c + 1.84960556F;
  const F large = 1.0F - expOf(-q);
  const F r = select(a < 1.0F, small, fromBits(bits(large) | signOf(x)));
  return select(x != x, x, r);
}

/// Below 0.625 an odd polynomial, above by the exponential.
ROTA_INLINE F tanhOf(F x) {
  const F a = absolute(x);
  const F t = x * x;
  F p = splat(-0.00570499105F);
  p = p * t + 0.0206390917F;
  p = p * t + -0.0537397154F;
  p = p * t + 0.133314416F;
  p = p * t + -0.333332807F;
  const F small = fromBits(bits(x + x * (t * p)) | signOf(x));  // keeps -0
  const F c = select(a < 10.0F, a, splat(10.0F));
  const F large = 1.0F - 2.0F / (expOf(c + c) + 1.0F);
  const F r = select(a < 0.625F, small, fromBits(bits(large) | signOf(x)));
  return select(x != x, x, r);
}

/// With e = exp(-|x|): 1 / (1 + e), or e / (1 + e) for negative x, which keeps small results precise.
ROTA_INLINE F sigmoidOf(F x) {
  const F e = expOf(-absolute(x));
  return select(x < 0.0F, e, splat(1.0F)) / (1.0F + e);
}

/// max(x, 0) + log1p(exp(-|x|)); log1p(u) = log(w) + (u - (w - 1)) / w with w = 1 + u rounded.
ROTA_INLINE F softplusOf(F x) {
  const F u = expOf(-absolute(x));
  const F w = 1.0F + u;
  const F l = logOf(w) + (u - (w - 1.0F)) / w;
  return select(x > 0.0F, x, F{}) + select(x != x, x, l);
}

ROTA_INLINE F squareRoot(F x) {
#if defined(__AVX512F__)
  return reinterpret_cast<F>(_mm512_maskz_sqrt_ps(0xffff, reinterpret_cast<__m512>(x)));
#elif defined(__AVX2__)
  return reinterpret_cast<F>(_mm256_sqrt_ps(reinterpret_cast<__m256>(x)));
#elif defined(__SSE2__)
  return reinterpret_cast<F>(_mm_sqrt_ps(reinterpret_cast<__m128>(x)));
#else
  F r;
  for (int i = 0; i < kLanes; ++i) r[i] = __builtin_sqrtf(x[i]);
  return r;
#endif
}

}  // namespace rota::simd::ROTA_SIMD_NAMESPACE
