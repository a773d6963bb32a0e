// SPDX-License-Identifier: Apache-2.0
// One loop per pair of storage and compute type, made from a codec per storage type: how to get element `i` and how to put it. Codecs of narrow
// floats go through tables or the constexpr functions of float_convert.h. float32, float16 and bfloat16 have vector loops chosen at run time.
//
// 64-bit integers reach narrow floats without double rounding: they become a double rounded to odd first (Boldo and
// Melquiond, "Emulation of FMA and correctly rounded sums", 2008: harmless when the target has two bits less).
// Tested by src/core/element_access_test.cpp.
#include "core/element_access.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/check.h"
#include "core/cpu_info.h"
#include "core/float_convert.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rota {
namespace {

// ---- values: from a storage value to a compute value and back ----

/// A double from which every format with fewer than 52 bits rounds as from `value` itself.
double roundedToOdd(std::uint64_t magnitude) {
  constexpr int kDropped = 11;
  if ((magnitude >> 53) == 0) return static_cast<double>(magnitude);
  const std::uint64_t rest = magnitude & ((std::uint64_t{1} << kDropped) - 1);
  const std::uint64_t kept = magnitude - rest;
  return static_cast<double>(kept | (rest != 0 ? std::uint64_t{1} << kDropped : 0));
}

double roundedToOdd(std::int64_t value) {
  const double magnitude =
      roundedToOdd(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
  return value < 0 ? -magnitude : magnitude;
}

double roundedToOdd(double value) { return value; }

/// A stored integer (or bool, or double) as `Out`.
template <typename Out, typename In> Out widen(In value) {
  if constexpr (std::is_floating_point_v<In> && std::is_same_v<Out, std::int64_t>) {
    return doubleToInt64(static_cast<double>(value));
  } else if constexpr (std::is_floating_point_v<In> && std::is_same_v<Out, std::uint64_t>) {
    return doubleToUInt64(static_cast<double>(value));
  } else {
    return static_cast<Out>(value);
  }
}

/// A compute value as a stored integer of type `Out`.
template <typename Out, typename In> Out narrow(In value) {
  if constexpr (!std::is_floating_point_v<In>) {
    return static_cast<Out>(value);
  } else if constexpr (std::is_same_v<Out, std::uint64_t>) {
    return doubleToUInt64(value);
  } else if constexpr (std::is_same_v<Out, std::int32_t>) {
    const std::int64_t wide = doubleToInt64(value);
    constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min(),
                           kHigh = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(wide < kLow ? kLow : wide > kHigh ? kHigh : wide);
  } else {
    return static_cast<Out>(doubleToInt64(value));
  }
}

// ---- codecs: `load<Out>` and `store` of element i of raw storage ----

template <typename T> T readRaw(const void* data, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(data) + i * static_cast<std::int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <typename T> void writeRaw(void* data, std::int64_t i, T value) {
  std::memcpy(static_cast<std::byte*>(data) + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

template <typename T> struct IntegerCodec {
  template <typename Out> static Out load(const void* data, std::int64_t i) {
    return widen<Out>(readRaw<T>(data, i));
  }
  template <typename In> static void store(void* data, std::int64_t i, In value) {
    writeRaw(data, i, narrow<T>(value));
  }
};

struct BoolCodec {
  template <typename Out> static Out load(const void* data, std::int64_t i) {
    return static_cast<Out>(readRaw<std::uint8_t>(data, i) != 0 ? 1 : 0);
  }
  template <typename In> static void store(void* data, std::int64_t i, In value) {
    writeRaw<std::uint8_t>(data, i, value != In{0} ? 1 : 0);
  }
};

/// float32 and float64. Integers convert in one step, which the processor rounds correctly.
template <typename T> struct FloatCodec {
  template <typename Out> static Out load(const void* data, std::int64_t i) {
    return widen<Out>(readRaw<T>(data, i));
  }
  template <typename In> static void store(void* data, std::int64_t i, In value) {
    writeRaw(data, i, static_cast<T>(value));
  }
};

template <FloatFormat F> struct Float16BitCodec {
  template <typename Out> static Out load(const void* data, std::int64_t i) {
    return widen<Out>(decodeFloat<F>(readRaw<std::uint16_t>(data, i)));
  }
  template <typename In> static void store(void* data, std::int64_t i, In value) {
    writeRaw(data, i, static_cast<std::uint16_t>(encodeFloat<F>(roundedToOdd(value), false)));
  }
};

template <FloatFormat F> constexpr std::array<double, 256> decodeAll() {
  std::array<double, 256> values{};
  for (std::uint32_t code = 0; code < 256; ++code) values[code] = decodeFloat<F>(code);
  return values;
}

template <FloatFormat F> struct Float8Codec {
  template <typename Out> static Out load(const void* data, std::int64_t i) {
    static constexpr std::array<double, 256> kValues = decodeAll<F>();
    return widen<Out>(kValues[readRaw<std::uint8_t>(data, i)]);
  }
  template <typename In> static void store(void* data, std::int64_t i, In value) {
    writeRaw(data, i, static_cast<std::uint8_t>(encodeFloat<F>(roundedToOdd(value), true)));
  }
};

struct Float8E8M0Codec {
  template <typename Out> static Out load(const void* data, std::int64_t i) {
    return widen<Out>(float8E8M0ToDouble(readRaw<std::uint8_t>(data, i)));
  }
  template <typename In> static void store(void* data, std::int64_t i, In value) {
    writeRaw(data, i, float8E8M0FromDouble(roundedToOdd(value)));
  }
};

template <int kBits> struct PackedBits {
  static constexpr int kPerByte = 8 / kBits;
  static constexpr unsigned kMask = (1U << kBits) - 1U;
  static unsigned read(const void* data, std::int64_t i) {
    const auto byte = static_cast<unsigned>(readRaw<std::uint8_t>(data, i / kPerByte));
    return (byte >> (kBits * static_cast<int>(i % kPerByte))) & kMask;
  }
  static void write(void* data, std::int64_t i, unsigned code) {
    const int shift = kBits * static_cast<int>(i % kPerByte);
    const auto byte = static_cast<unsigned>(readRaw<std::uint8_t>(data, i / kPerByte));
    writeRaw(data, i / kPerByte,
             static_cast<std::uint8_t>((byte & ~(kMask << shift)) | ((code & kMask) << shift)));
  }
};

template <int kBits, bool kSigned> struct PackedIntegerCodec {
  template <typename Out> static Out load(const void* data, std::int64_t i) {
    const auto value = static_cast<int>(PackedBits<kBits>::read(data, i));
    constexpr int kSign = 1 << (kBits - 1);
    return static_cast<Out>(kSigned ? (value ^ kSign) - kSign : value);
  }
  template <typename In> static void store(void* data, std::int64_t i, In value) {
    PackedBits<kBits>::write(data, i, static_cast<unsigned>(narrow<std::uint8_t>(value)));
  }
};

struct Float4Codec {
  template <typename Out> static Out load(const void* data, std::int64_t i) {
    return widen<Out>(decodeFloat<kFloat4E2M1Format>(PackedBits<4>::read(data, i)));
  }
  template <typename In> static void store(void* data, std::int64_t i, In value) {
    PackedBits<4>::write(data, i, encodeFloat<kFloat4E2M1Format>(roundedToOdd(value), true));
  }
};

/// The real part of a complex type; storing a real value clears the imaginary part.
template <typename T> struct ComplexCodec {
  template <typename Out> static Out load(const void* data, std::int64_t i) {
    return widen<Out>(readRaw<T>(data, 2 * i));
  }
  template <typename In> static void store(void* data, std::int64_t i, In value) {
    writeRaw(data, 2 * i, static_cast<T>(value));
    writeRaw(data, 2 * i + 1, T{0});
  }
};

/// Calls `action` with the codec of `dtype`.
template <typename Action> void withCodec(DType dtype, const Action& action) {
  switch (dtype) {
    case DType::kFloat32: return action(FloatCodec<float>{});
    case DType::kFloat64: return action(FloatCodec<double>{});
    case DType::kFloat16: return action(Float16BitCodec<kFloat16Format>{});
    case DType::kBFloat16: return action(Float16BitCodec<kBFloat16Format>{});
    case DType::kFloat8E4M3FN: return action(Float8Codec<kFloat8E4M3FNFormat>{});
    case DType::kFloat8E4M3FNUZ: return action(Float8Codec<kFloat8E4M3FNUZFormat>{});
    case DType::kFloat8E5M2: return action(Float8Codec<kFloat8E5M2Format>{});
    case DType::kFloat8E5M2FNUZ: return action(Float8Codec<kFloat8E5M2FNUZFormat>{});
    case DType::kFloat8E8M0: return action(Float8E8M0Codec{});
    case DType::kFloat4E2M1: return action(Float4Codec{});
    case DType::kInt64: return action(IntegerCodec<std::int64_t>{});
    case DType::kInt32: return action(IntegerCodec<std::int32_t>{});
    case DType::kInt16: return action(IntegerCodec<std::int16_t>{});
    case DType::kInt8: return action(IntegerCodec<std::int8_t>{});
    case DType::kInt4: return action(PackedIntegerCodec<4, true>{});
    case DType::kInt2: return action(PackedIntegerCodec<2, true>{});
    case DType::kUInt64: return action(IntegerCodec<std::uint64_t>{});
    case DType::kUInt32: return action(IntegerCodec<std::uint32_t>{});
    case DType::kUInt16: return action(IntegerCodec<std::uint16_t>{});
    case DType::kUInt8: return action(IntegerCodec<std::uint8_t>{});
    case DType::kUInt4: return action(PackedIntegerCodec<4, false>{});
    case DType::kUInt2: return action(PackedIntegerCodec<2, false>{});
    case DType::kBool: return action(BoolCodec{});
    case DType::kComplex64: return action(ComplexCodec<float>{});
    case DType::kComplex128: return action(ComplexCodec<double>{});
    case DType::kUndefined:
    case DType::kString:
    case DType::kCount: break;
  }
  constexpr bool kElementsAreNumbers = false;
  CHECK(kElementsAreNumbers);
}

template <typename Out>
void loadRun(const TensorView& view, std::int64_t begin, std::int64_t count, Out* out) {
  const void* data = view.data;
  withCodec(view.dtype, [=](auto codec) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = codec.template load<Out>(data, begin + i);
  });
}

template <typename In>
void storeRun(const MutableTensorView& view, std::int64_t begin, std::int64_t count, const In* in) {
  void* data = view.data;
  withCodec(view.dtype, [=](auto codec) {
    for (std::int64_t i = 0; i < count; ++i) codec.store(data, begin + i, in[i]);
  });
}

// ---- vector loops ----

#if defined(__x86_64__)

// Each handles as many elements as fill whole vectors and returns how many that were.

__attribute__((target("avx"))) std::int64_t widenAvx(const float* in, std::int64_t count, double* out) {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) _mm256_storeu_pd(out + i, _mm256_cvtps_pd(_mm_loadu_ps(in + i)));
  return i;
}

__attribute__((target("avx"))) std::int64_t narrowAvx(const double* in, std::int64_t count, float* out) {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) _mm_storeu_ps(out + i, _mm256_cvtpd_ps(_mm256_loadu_pd(in + i)));
  return i;
}

/// Doubles to floats rounded to odd: where the nearest float is not the double and is even, its odd neighbour on the
/// other side of the double. Infinities and NaN stay; one that overflows becomes a float that overflows in 16 bits too.
__attribute__((target("avx2"))) std::int64_t narrowToOddAvx2(const double* in, std::int64_t count,
                                                             float* out) {
  const __m128i one = _mm_set1_epi32(1);
  const __m256d sign = _mm256_set1_pd(-0.0);
  const __m256i pick = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);  // the low halves of 64-bit masks
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m256d value = _mm256_loadu_pd(in + i);
    const __m128 nearest = _mm256_cvtpd_ps(value);
    const __m256d rounded = _mm256_andnot_pd(sign, _mm256_cvtps_pd(nearest));
    const __m256d exact = _mm256_andnot_pd(sign, value);
    const __m256i above = _mm256_castpd_si256(_mm256_cmp_pd(rounded, exact, _CMP_GT_OQ));
    const __m256i below = _mm256_castpd_si256(_mm256_cmp_pd(rounded, exact, _CMP_LT_OQ));
    const __m128i bits = _mm_castps_si128(nearest);
    const __m128i ifEven = _mm_andnot_si128(bits, one);
    const __m128i down =
        _mm_and_si128(_mm256_castsi256_si128(_mm256_permutevar8x32_epi32(above, pick)), ifEven);
    const __m128i up =
        _mm_and_si128(_mm256_castsi256_si128(_mm256_permutevar8x32_epi32(below, pick)), ifEven);
    _mm_storeu_ps(out + i, _mm_castsi128_ps(_mm_add_epi32(_mm_sub_epi32(bits, down), up)));
  }
  return i;
}

constexpr std::int64_t kChunk =
    512;  // floats between the two steps of a 16-bit conversion; a multiple of every vector

std::int64_t loadChunked(const std::uint16_t* in, std::int64_t count, double* out,
                         void (*toFloat)(const std::uint16_t*, std::size_t, float*)) {
  float chunk[kChunk];
  std::int64_t done = 0;
  while (count - done >= 4) {
    const std::int64_t size = std::min(kChunk, (count - done) / 4 * 4);
    toFloat(in + done, static_cast<std::size_t>(size), chunk);
    done += widenAvx(chunk, size, out + done);
  }
  return done;
}

std::int64_t storeChunked(const double* in, std::int64_t count, std::uint16_t* out,
                          void (*fromFloat)(const float*, std::size_t, std::uint16_t*)) {
  float chunk[kChunk];
  std::int64_t done = 0;
  while (count - done >= 4) {
    const std::int64_t size = narrowToOddAvx2(in + done, std::min(kChunk, count - done), chunk);
    fromFloat(chunk, static_cast<std::size_t>(size), out + done);
    done += size;
  }
  return done;
}

/// Elements at the front of the run that vector loops have loaded.
std::int64_t loadVector(const TensorView& view, std::int64_t begin, std::int64_t count, double* out) {
  if (!cpuFeatures().avx) return 0;
  switch (view.dtype) {
    case DType::kFloat32: return widenAvx(view.as<float>() + begin, count, out);
    case DType::kFloat16:
      return loadChunked(view.as<std::uint16_t>() + begin, count, out, convertFloat16ToFloat);
    case DType::kBFloat16:
      return loadChunked(view.as<std::uint16_t>() + begin, count, out, convertBFloat16ToFloat);
    default: return 0;
  }
}

std::int64_t storeVector(const MutableTensorView& view, std::int64_t begin, std::int64_t count,
                         const double* in) {
  if (!cpuFeatures().avx2) return 0;
  switch (view.dtype) {
    case DType::kFloat32: return narrowAvx(in, count, view.as<float>() + begin);
    case DType::kFloat16:
      return storeChunked(in, count, view.as<std::uint16_t>() + begin, convertFloatToFloat16);
    case DType::kBFloat16:
      return storeChunked(in, count, view.as<std::uint16_t>() + begin, convertFloatToBFloat16);
    default: return 0;
  }
}

#else

std::int64_t loadVector(const TensorView&, std::int64_t, std::int64_t, double*) { return 0; }
std::int64_t storeVector(const MutableTensorView&, std::int64_t, std::int64_t, const double*) { return 0; }

#endif

}  // namespace

std::int64_t doubleToInt64(double value) {
  if (value >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return value == value ? static_cast<std::int64_t>(value) : 0;
}

std::uint64_t doubleToUInt64(double value) {
  if (value >= 0x1p64) return std::numeric_limits<std::uint64_t>::max();
  if (value >= 0x1p63) return static_cast<std::uint64_t>(value);
  return static_cast<std::uint64_t>(doubleToInt64(value));
}

void loadAsDouble(const TensorView& view, std::int64_t begin, std::int64_t count, double* out) {
  const std::int64_t done = loadVector(view, begin, count, out);
  if (done < count) loadRun(view, begin + done, count - done, out + done);
}

void loadAsInt64(const TensorView& view, std::int64_t begin, std::int64_t count, std::int64_t* out) {
  loadRun(view, begin, count, out);
}

void loadAsUInt64(const TensorView& view, std::int64_t begin, std::int64_t count, std::uint64_t* out) {
  loadRun(view, begin, count, out);
}

void storeFromDouble(const MutableTensorView& view, std::int64_t begin, std::int64_t count,
                     const double* in) {
  const std::int64_t done = storeVector(view, begin, count, in);
  if (done < count) storeRun(view, begin + done, count - done, in + done);
}

void storeFromInt64(const MutableTensorView& view, std::int64_t begin, std::int64_t count,
                    const std::int64_t* in) {
  storeRun(view, begin, count, in);
}

void storeFromUInt64(const MutableTensorView& view, std::int64_t begin, std::int64_t count,
                     const std::uint64_t* in) {
  storeRun(view, begin, count, in);
}

void loadAsComplex(const TensorView& view, std::int64_t begin, std::int64_t count, double* out) {
  if (view.dtype == DType::kComplex64)
    return loadRun(TensorView{DType::kFloat32, {}, view.data}, 2 * begin, 2 * count, out);
  if (view.dtype == DType::kComplex128)
    return loadRun(TensorView{DType::kFloat64, {}, view.data}, 2 * begin, 2 * count, out);
  withCodec(view.dtype, [=, data = view.data](auto codec) {
    for (std::int64_t i = 0; i < count; ++i) {
      out[2 * i] = codec.template load<double>(data, begin + i);
      out[2 * i + 1] = 0;
    }
  });
}

void storeFromComplex(const MutableTensorView& view, std::int64_t begin, std::int64_t count,
                      const double* in) {
  if (view.dtype == DType::kComplex64)
    return storeRun(MutableTensorView{DType::kFloat32, {}, view.data}, 2 * begin, 2 * count, in);
  if (view.dtype == DType::kComplex128)
    return storeRun(MutableTensorView{DType::kFloat64, {}, view.data}, 2 * begin, 2 * count, in);
  withCodec(view.dtype, [=, data = view.data](auto codec) {
    for (std::int64_t i = 0; i < count; ++i) codec.store(data, begin + i, in[2 * i]);
  });
}

}  // namespace rota
