// SPDX-License-Identifier: Apache-2.0
// Narrow floating-point formats. A format is a value (widths, bias, what its top codes mean), and one pair of functions
// converts any of them from and to double.
//
// Narrowing rounds the double itself once, half to even: going through float first would round twice and can end one
// unit off. Overflow follows the ONNX Cast tables: float16 and bfloat16 go to infinity; the 8-bit formats saturate
// (infinities included) unless `saturate` is off; float4 has neither infinity nor NaN and always saturates.
// Formats: IEEE 754 binary16; bfloat16; OCP 8-bit FP8 v1.0 (FN, E5M2); ONNX FNUZ; OCP Microscaling v1.0 (E2M1, E8M0).
// Tested by src/core/float_convert_test.cpp (all codes, all midpoints between codes).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace rota {

/// What the codes at the top of the range stand for.
enum class FloatSpecials : std::uint8_t {
  kIeee,    ///< All-ones exponent: infinity and NaN.
  kFn,      ///< All ones: NaN; no infinity.
  kFnuz,    ///< The code of negative zero: NaN; no infinity, no negative zero.
  kFinite,  ///< Neither NaN nor infinity.
};

struct FloatFormat {
  int exponentBits;
  int mantissaBits;
  int bias;
  FloatSpecials specials;

  constexpr std::uint32_t signBit() const { return 1U << (exponentBits + mantissaBits); }
  /// Code of positive infinity (kIeee only).
  constexpr std::uint32_t infinity() const { return ((1U << exponentBits) - 1U) << mantissaBits; }
  /// Code of the largest finite value.
  constexpr std::uint32_t maxFinite() const {
    if (specials == FloatSpecials::kIeee) return infinity() - 1U;
    return signBit() - (specials == FloatSpecials::kFn ? 2U : 1U);
  }
};

inline constexpr FloatFormat kFloat16Format{5, 10, 15, FloatSpecials::kIeee};
inline constexpr FloatFormat kBFloat16Format{8, 7, 127, FloatSpecials::kIeee};
inline constexpr FloatFormat kFloat8E4M3FNFormat{4, 3, 7, FloatSpecials::kFn};
inline constexpr FloatFormat kFloat8E4M3FNUZFormat{4, 3, 8, FloatSpecials::kFnuz};
inline constexpr FloatFormat kFloat8E5M2Format{5, 2, 15, FloatSpecials::kIeee};
inline constexpr FloatFormat kFloat8E5M2FNUZFormat{5, 2, 16, FloatSpecials::kFnuz};
inline constexpr FloatFormat kFloat4E2M1Format{2, 1, 1, FloatSpecials::kFinite};

namespace detail {

constexpr int kDoubleMantissaBits = 52;
constexpr int kDoubleBias = 1023;
constexpr std::uint64_t kDoubleMantissaMask = (std::uint64_t{1} << kDoubleMantissaBits) - 1;
constexpr std::uint64_t kDoubleQuietNan = 0x7ff8000000000000U;

/// 2^exponent, for exponents of normal doubles.
constexpr double powerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kDoubleBias) << kDoubleMantissaBits);
}

/// The code of a NaN; IEEE formats keep its sign and the upper bits of its payload and make it quiet, as hardware does.
template <FloatFormat F> constexpr std::uint32_t encodeNan(std::uint32_t sign, std::uint64_t mantissa) {
  switch (F.specials) {
    case FloatSpecials::kIeee:
      return sign | F.infinity() | (1U << (F.mantissaBits - 1)) |
             static_cast<std::uint32_t>(mantissa >> (kDoubleMantissaBits - F.mantissaBits));
    case FloatSpecials::kFn: return sign | (F.signBit() - 1U);
    case FloatSpecials::kFnuz: return F.signBit();
    case FloatSpecials::kFinite:
      return F.signBit();  // ONNX leaves it open; its test data holds a zero with the sign set.
  }
  return 0;
}

template <FloatFormat F> constexpr std::uint32_t encodeOverflow(std::uint32_t sign, bool saturate) {
  if (saturate || F.specials == FloatSpecials::kFinite) return sign | F.maxFinite();
  if (F.specials == FloatSpecials::kIeee) return sign | F.infinity();
  return encodeNan<F>(sign, 0);
}

}  // namespace detail

/// The code of `value` rounded half to even; `saturate` sends overflow and infinities to the largest finite value.
template <FloatFormat F> constexpr std::uint32_t encodeFloat(double value, bool saturate) {
  using namespace detail;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = (bits >> 63) != 0 ? F.signBit() : 0U;
  const int biased = static_cast<int>((bits >> kDoubleMantissaBits) & 0x7ff);
  const std::uint64_t mantissa = bits & kDoubleMantissaMask;
  if (biased == 0x7ff)
    return mantissa != 0 ? encodeNan<F>(sign, mantissa) : encodeOverflow<F>(sign, saturate);

  // The magnitude is significand * 2^(exponent - 52). Doubles below 2^-1022 lie far below half of the smallest code
  // of every format here, so that reading them with a leading one does not change the result.
  constexpr int kMinExponent = 1 - F.bias;
  const int exponent = biased - kDoubleBias;
  const std::uint64_t significand = mantissa | (std::uint64_t{1} << kDoubleMantissaBits);
  const int below = exponent < kMinExponent ? kMinExponent - exponent : 0;
  const int shift = kDoubleMantissaBits - F.mantissaBits + below;
  std::uint32_t code = 0;
  if (biased != 0 && shift <= kDoubleMantissaBits + 1) {
    const std::uint64_t kept = significand >> shift;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    const std::uint64_t up = rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0;
    // A carry out of the mantissa runs into the exponent, which is just right, also from subnormal to normal.
    const int base = below > 0 ? 0 : exponent + F.bias - 1;
    if (base > (1 << F.exponentBits)) return encodeOverflow<F>(sign, saturate);
    code = (static_cast<std::uint32_t>(base) << F.mantissaBits) + static_cast<std::uint32_t>(kept + up);
  }
  if (code > F.maxFinite()) return encodeOverflow<F>(sign, saturate);
  if (F.specials == FloatSpecials::kFnuz && code == 0) return 0;
  return sign | code;
}

/// The exact value of `code`.
template <FloatFormat F> constexpr double decodeFloat(std::uint32_t code) {
  using namespace detail;
  const std::uint64_t sign = (code & F.signBit()) != 0 ? std::uint64_t{1} << 63 : 0;
  const std::uint32_t magnitude = code & (F.signBit() - 1U);
  const std::uint32_t exponent = magnitude >> F.mantissaBits;
  const std::uint64_t mantissa = magnitude & ((1U << F.mantissaBits) - 1U);
  if constexpr (F.specials == FloatSpecials::kIeee) {
    if (magnitude >= F.infinity()) {
      const std::uint64_t quiet =
          mantissa != 0 ? kDoubleQuietNan : std::uint64_t{0x7ff} << kDoubleMantissaBits;
      return std::bit_cast<double>(sign | quiet | (mantissa << (kDoubleMantissaBits - F.mantissaBits)));
    }
  } else if constexpr (F.specials == FloatSpecials::kFn) {
    if (magnitude > F.maxFinite()) return std::bit_cast<double>(sign | kDoubleQuietNan);
  } else if constexpr (F.specials == FloatSpecials::kFnuz) {
    if (code == F.signBit()) return std::bit_cast<double>(kDoubleQuietNan);
  }
  if (exponent == 0) {
    const double value = static_cast<double>(mantissa) * powerOfTwo(1 - F.bias - F.mantissaBits);
    return sign != 0 ? -value : value;
  }
  const int doubleExponent = static_cast<int>(exponent) - F.bias + kDoubleBias;
  const auto widened = static_cast<std::uint64_t>(doubleExponent);
  return std::bit_cast<double>(sign | (widened << kDoubleMantissaBits) |
                               (mantissa << (kDoubleMantissaBits - F.mantissaBits)));
}

constexpr std::uint16_t float16FromDouble(double value) {
  return static_cast<std::uint16_t>(encodeFloat<kFloat16Format>(value, false));
}
constexpr double float16ToDouble(std::uint16_t code) { return decodeFloat<kFloat16Format>(code); }
constexpr float float16ToFloat(std::uint16_t code) { return static_cast<float>(float16ToDouble(code)); }

constexpr std::uint16_t bfloat16FromDouble(double value) {
  return static_cast<std::uint16_t>(encodeFloat<kBFloat16Format>(value, false));
}
constexpr float bfloat16ToFloat(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

/// How a value between two powers of two becomes a float8e8m0 (attribute `round_mode` of Cast; kUp is its default).
enum class E8M0Rounding : std::uint8_t { kUp, kDown, kNearest };

/// float8e8m0 holds 2^(code - 127), and NaN in code 255. Zero and what is too small or too large saturates, or is NaN without `saturate`;
/// negative values, which ONNX leaves open, are NaN. kNearest rounds ties up.
constexpr std::uint8_t float8E8M0FromDouble(double value, E8M0Rounding rounding = E8M0Rounding::kUp,
                                            bool saturate = true) {
  using namespace detail;
  constexpr std::uint8_t kNan = 0xff;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t mantissa = bits & kDoubleMantissaMask;
  const int biased = static_cast<int>((bits >> kDoubleMantissaBits) & 0x7ff);
  if ((biased == 0x7ff && mantissa != 0) || value < 0.0) return kNan;
  const bool up = rounding == E8M0Rounding::kUp ? mantissa != 0
                                                : rounding == E8M0Rounding::kNearest && (mantissa >> 51) != 0;
  const int code = biased - kDoubleBias + 127 + (up ? 1 : 0);
  // Doubles below 2^-1022, zero included, have a negative code like all that is too small.
  if (code > 254) return saturate ? 254 : kNan;
  if (code < 0) return saturate ? 0 : kNan;
  return static_cast<std::uint8_t>(code);
}

constexpr double float8E8M0ToDouble(std::uint8_t code) {
  return code == 0xff ? std::bit_cast<double>(detail::kDoubleQuietNan)
                      : detail::powerOfTwo(static_cast<int>(code) - 127);
}

/// Whole arrays between float16 or bfloat16 and float32, with vector instructions where the processor has them.
void convertFloat16ToFloat(const std::uint16_t* in, std::size_t count, float* out);
void convertFloatToFloat16(const float* in, std::size_t count, std::uint16_t* out);
void convertBFloat16ToFloat(const std::uint16_t* in, std::size_t count, float* out);
void convertFloatToBFloat16(const float* in, std::size_t count, std::uint16_t* out);

}  // namespace rota
