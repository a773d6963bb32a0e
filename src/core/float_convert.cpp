// SPDX-License-Identifier: Apache-2.0
// Whole arrays between the 16-bit formats and float32: F16C and AVX2 where the processor has them, else the scalar functions of the
// header. Both give the same bits, NaN payloads included.
// Tested by src/core/float_convert_test.cpp, which compares the two.
#include "core/float_convert.h"

#include "core/cpu_info.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rota {
namespace {

#if defined(__x86_64__)

// Each handles a multiple of 8 elements and returns how many it did.

__attribute__((target("avx,f16c"))) std::size_t float16ToFloatF16c(const std::uint16_t* in, std::size_t count,
                                                                   float* out) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  }
  return i;
}

__attribute__((target("avx,f16c"))) std::size_t floatToFloat16F16c(const float* in, std::size_t count,
                                                                   std::uint16_t* out) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}

__attribute__((target("avx2"))) std::size_t bfloat16ToFloatAvx2(const std::uint16_t* in, std::size_t count,
                                                                float* out) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_slli_epi32(wide, 16));
  }
  return i;
}

__attribute__((target("avx2"))) std::size_t floatToBFloat16Avx2(const float* in, std::size_t count,
                                                                std::uint16_t* out) {
  const __m256i one = _mm256_set1_epi32(1), half = _mm256_set1_epi32(0x7fff),
                quiet = _mm256_set1_epi32(0x0040);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 value = _mm256_loadu_ps(in + i);
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i upper = _mm256_srli_epi32(bits, 16);
    // Half to even: add 0x7fff, and one more when the kept part is odd.
    const __m256i bias = _mm256_add_epi32(half, _mm256_and_si256(upper, one));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, bias), 16);
    const __m256i nan = _mm256_or_si256(upper, quiet);
    const __m256i isNan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    const __m256i code = _mm256_blendv_epi8(rounded, nan, isNan);
    const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(code), _mm256_extracti128_si256(code, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), packed);
  }
  return i;
}

std::size_t headOfFloat16ToFloat(const std::uint16_t* in, std::size_t count, float* out) {
  return cpuFeatures().f16c ? float16ToFloatF16c(in, count, out) : 0;
}
std::size_t headOfFloatToFloat16(const float* in, std::size_t count, std::uint16_t* out) {
  return cpuFeatures().f16c ? floatToFloat16F16c(in, count, out) : 0;
}
std::size_t headOfBFloat16ToFloat(const std::uint16_t* in, std::size_t count, float* out) {
  return cpuFeatures().avx2 ? bfloat16ToFloatAvx2(in, count, out) : 0;
}
std::size_t headOfFloatToBFloat16(const float* in, std::size_t count, std::uint16_t* out) {
  return cpuFeatures().avx2 ? floatToBFloat16Avx2(in, count, out) : 0;
}

#else

std::size_t headOfFloat16ToFloat(const std::uint16_t*, std::size_t, float*) { return 0; }
std::size_t headOfFloatToFloat16(const float*, std::size_t, std::uint16_t*) { return 0; }
std::size_t headOfBFloat16ToFloat(const std::uint16_t*, std::size_t, float*) { return 0; }
std::size_t headOfFloatToBFloat16(const float*, std::size_t, std::uint16_t*) { return 0; }

#endif

}  // namespace

void convertFloat16ToFloat(const std::uint16_t* in, std::size_t count, float* out) {
  for (std::size_t i = headOfFloat16ToFloat(in, count, out); i < count; ++i) out[i] = float16ToFloat(in[i]);
}

void convertFloatToFloat16(const float* in, std::size_t count, std::uint16_t* out) {
  for (std::size_t i = headOfFloatToFloat16(in, count, out); i < count; ++i)
    out[i] = float16FromDouble(static_cast<double>(in[i]));
}

void convertBFloat16ToFloat(const std::uint16_t* in, std::size_t count, float* out) {
  for (std::size_t i = headOfBFloat16ToFloat(in, count, out); i < count; ++i) out[i] = bfloat16ToFloat(in[i]);
}

void convertFloatToBFloat16(const float* in, std::size_t count, std::uint16_t* out) {
  for (std::size_t i = headOfFloatToBFloat16(in, count, out); i < count; ++i)
    out[i] = bfloat16FromDouble(static_cast<double>(in[i]));
}

}  // namespace rota
