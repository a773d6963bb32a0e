// SPDX-License-Identifier: Apache-2.0
// Vectors of float32 and int32 as wide as the instruction set that this translation unit is compiled for, with GCC vector extensions.
//
// Everything lives in ROTA_SIMD_NAMESPACE, so that the variants for several instruction sets can be linked together. No FMA: elementwise
// results have the same bits in all variants. Comparisons give masks (all bits set or none) that select lanes. No header of the standard library that has inline
// functions is used by the kernels. Tested through the kernels by src/backend/cpu/run/simd_test.cpp.
#pragma once

#include <cstdint>
#include <cstring>

namespace rota::simd::ROTA_SIMD_NAMESPACE {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
constexpr int kLanes = kVectorBytes / 4;

using F = float __attribute__((vector_size(kVectorBytes)));
using I = std::int32_t __attribute__((vector_size(kVectorBytes)));

#define ROTA_INLINE static inline __attribute__((always_inline))

ROTA_INLINE F load(const float* p) {
  F v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
ROTA_INLINE void store(float* p, F v) { __builtin_memcpy(p, &v, sizeof v); }
/// The first `n` lanes, the others zero.
ROTA_INLINE F loadPart(const float* p, std::int64_t n) {
  alignas(kVectorBytes) float lanes[kLanes] = {};
  for (std::int64_t i = 0; i < n; ++i) lanes[i] = p[i];
  return load(lanes);
}
ROTA_INLINE void storePart(float* p, F v, std::int64_t n) {
  alignas(kVectorBytes) float lanes[kLanes];
  store(lanes, v);
  for (std::int64_t i = 0; i < n; ++i) p[i] = lanes[i];
}
ROTA_INLINE F splat(float x) { return F{} + x; }
ROTA_INLINE I splatInt(std::int32_t x) { return I{} + x; }
ROTA_INLINE I bits(F v) { return reinterpret_cast<I>(v); }
ROTA_INLINE F fromBits(I v) { return reinterpret_cast<F>(v); }
/// Towards zero; the values fit.
ROTA_INLINE I toInt(F v) { return __builtin_convertvector(v, I); }
ROTA_INLINE F toFloat(I v) { return __builtin_convertvector(v, F); }
ROTA_INLINE F select(I mask, F a, F b) { return mask ? a : b; }
ROTA_INLINE F absolute(F v) { return fromBits(bits(v) & 0x7fffffff); }
ROTA_INLINE I signOf(F v) { return bits(v) & static_cast<std::int32_t>(0x80000000); }
/// b where neither is NaN and b is larger; NaN when one is.
ROTA_INLINE F largerOrNan(F a, F b) { return select((a > b) | (a != a), a, b); }
ROTA_INLINE F smallerOrNan(F a, F b) { return select((a < b) | (a != a), a, b); }

ROTA_INLINE float sumLanes(F v) {
  alignas(kVectorBytes) float lanes[kLanes];
  store(lanes, v);
  // A fixed tree, so that variants of the same width agree.
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}
ROTA_INLINE bool anyLane(I mask) {
  alignas(kVectorBytes) std::int32_t lanes[kLanes];
  __builtin_memcpy(lanes, &mask, sizeof mask);
  std::int32_t any = 0;
  for (int i = 0; i < kLanes; ++i) any |= lanes[i];
  return any != 0;
}

}  // namespace rota::simd::ROTA_SIMD_NAMESPACE
