// SPDX-License-Identifier: Apache-2.0
#include "core/float_convert.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace rota {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

static_assert(float16FromDouble(1.0) == 0x3c00);
static_assert(float16FromDouble(65519.99) == 0x7bff && float16FromDouble(65520.0) == 0x7c00);
static_assert(float16ToDouble(0x0001) == 0x1p-24 && float16ToDouble(0xfbff) == -65504.0);
static_assert(bfloat16FromDouble(-2.0) == 0xc000 && bfloat16ToFloat(0x3f80) == 1.0f);

/// Every finite code comes back, and every double in between goes to the nearer code, at the middle to the even one.
template <FloatFormat F> void checkAllCodesAndMidpoints() {
  for (std::uint32_t code = 0; code <= F.maxFinite(); ++code) {
    const double value = decodeFloat<F>(code);
    ASSERT_EQ(encodeFloat<F>(value, true), code);
    ASSERT_EQ(encodeFloat<F>(-value, true),
              code == 0 && F.specials == FloatSpecials::kFnuz ? 0 : code | F.signBit());
    if (code == 0) continue;
    const double below = decodeFloat<F>(code - 1);
    ASSERT_LT(below, value);
    const double middle = below + (value - below) / 2;  // exact in double
    const std::uint32_t even = (code & 1) == 0 ? code : code - 1;
    ASSERT_EQ(encodeFloat<F>(middle, true), even) << code;
    ASSERT_EQ(encodeFloat<F>(std::nextafter(middle, 0), true), code - 1) << code;
    ASSERT_EQ(encodeFloat<F>(std::nextafter(middle, kInf), true), code) << code;
    const bool zeroHasNoSign = even == 0 && F.specials == FloatSpecials::kFnuz;
    ASSERT_EQ(encodeFloat<F>(-middle, true), zeroHasNoSign ? 0 : even | F.signBit());
  }
}

TEST(FloatConvert, AllCodesAndMidpoints) {
  checkAllCodesAndMidpoints<kFloat16Format>();
  checkAllCodesAndMidpoints<kBFloat16Format>();
  checkAllCodesAndMidpoints<kFloat8E4M3FNFormat>();
  checkAllCodesAndMidpoints<kFloat8E4M3FNUZFormat>();
  checkAllCodesAndMidpoints<kFloat8E5M2Format>();
  checkAllCodesAndMidpoints<kFloat8E5M2FNUZFormat>();
  checkAllCodesAndMidpoints<kFloat4E2M1Format>();
}

TEST(FloatConvert, LargestValuesOfTheFormats) {
  EXPECT_EQ(decodeFloat<kFloat16Format>(kFloat16Format.maxFinite()), 65504.0);
  EXPECT_EQ(decodeFloat<kBFloat16Format>(kBFloat16Format.maxFinite()), 0x1.fep127);
  EXPECT_EQ(decodeFloat<kFloat8E4M3FNFormat>(kFloat8E4M3FNFormat.maxFinite()), 448.0);
  EXPECT_EQ(decodeFloat<kFloat8E4M3FNUZFormat>(kFloat8E4M3FNUZFormat.maxFinite()), 240.0);
  EXPECT_EQ(decodeFloat<kFloat8E5M2Format>(kFloat8E5M2Format.maxFinite()), 57344.0);
  EXPECT_EQ(decodeFloat<kFloat8E5M2FNUZFormat>(kFloat8E5M2FNUZFormat.maxFinite()), 57344.0);
  EXPECT_EQ(decodeFloat<kFloat4E2M1Format>(kFloat4E2M1Format.maxFinite()), 6.0);
}

TEST(FloatConvert, OneRoundingOnly) {
  // Through float this would first become the midpoint between two codes and then go to the even one.
  const double aboveMiddle = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(float16FromDouble(aboveMiddle), 0x3c01);
  EXPECT_EQ(float16FromDouble(static_cast<double>(static_cast<float>(aboveMiddle))), 0x3c00);
}

TEST(FloatConvert, OverflowFollowsTheCastTables) {
  EXPECT_EQ(encodeFloat<kFloat8E4M3FNFormat>(1e9, true), 0x7eU);
  EXPECT_EQ(encodeFloat<kFloat8E4M3FNFormat>(-kInf, true), 0xfeU);
  EXPECT_EQ(encodeFloat<kFloat8E4M3FNFormat>(464.0, true),
            0x7eU);  // the middle to the code above, which is NaN
  EXPECT_EQ(encodeFloat<kFloat8E4M3FNFormat>(464.0, false), 0x7eU);
  EXPECT_EQ(encodeFloat<kFloat8E4M3FNFormat>(465.0, false), 0x7fU);
  EXPECT_EQ(encodeFloat<kFloat8E4M3FNFormat>(-kInf, false), 0xffU);
  EXPECT_EQ(encodeFloat<kFloat8E5M2Format>(kInf, true), 0x7bU);
  EXPECT_EQ(encodeFloat<kFloat8E5M2Format>(1e9, false), 0x7cU);
  EXPECT_EQ(encodeFloat<kFloat8E5M2Format>(-kInf, false), 0xfcU);
  EXPECT_EQ(encodeFloat<kFloat8E4M3FNUZFormat>(-1e9, true), 0xffU);
  EXPECT_EQ(encodeFloat<kFloat8E4M3FNUZFormat>(-1e9, false), 0x80U);
  EXPECT_EQ(encodeFloat<kFloat8E5M2FNUZFormat>(kInf, false), 0x80U);
  EXPECT_EQ(encodeFloat<kFloat4E2M1Format>(-100.0, false), 0xfU);
  EXPECT_EQ(encodeFloat<kFloat16Format>(-1e300, false), 0xfc00U);
  EXPECT_EQ(encodeFloat<kBFloat16Format>(0x1.ffp127, false), 0x7f80U);
}

TEST(FloatConvert, NanStaysNanWhereTheFormatHasOne) {
  EXPECT_EQ(float16FromDouble(kNan), 0x7e00);
  EXPECT_EQ(float16FromDouble(-kNan), 0xfe00);
  EXPECT_EQ(encodeFloat<kFloat8E4M3FNFormat>(kNan, true), 0x7fU);
  EXPECT_EQ(encodeFloat<kFloat8E5M2Format>(kNan, true), 0x7eU);
  EXPECT_EQ(encodeFloat<kFloat8E4M3FNUZFormat>(-kNan, true), 0x80U);
  EXPECT_EQ(decodeFloat<kFloat4E2M1Format>(encodeFloat<kFloat4E2M1Format>(kNan, true)), 0.0);
  EXPECT_TRUE(std::isnan(float16ToDouble(0x7c01)));
  EXPECT_TRUE(std::isnan(decodeFloat<kFloat8E4M3FNFormat>(0xff)));
  EXPECT_TRUE(std::isnan(decodeFloat<kFloat8E5M2FNUZFormat>(0x80)));
  EXPECT_EQ(float16ToDouble(0xfc00), -kInf);
}

TEST(FloatConvert, TinyDoublesBecomeSignedZero) {
  EXPECT_EQ(float16FromDouble(5e-324), 0x0000);
  EXPECT_EQ(float16FromDouble(-5e-324), 0x8000);
  EXPECT_EQ(float16FromDouble(0x1p-25), 0x0000);
  EXPECT_EQ(float16FromDouble(std::nextafter(0x1p-25, 1)), 0x0001);
  EXPECT_EQ(encodeFloat<kFloat8E5M2FNUZFormat>(-1e-30, true), 0U);
}

TEST(FloatConvert, Float8E8M0RoundsByMode) {
  for (int code = 0; code < 255; ++code) {
    const double value = float8E8M0ToDouble(static_cast<std::uint8_t>(code));
    EXPECT_EQ(value, std::ldexp(1.0, code - 127));
    for (const auto mode : {E8M0Rounding::kUp, E8M0Rounding::kDown, E8M0Rounding::kNearest}) {
      EXPECT_EQ(float8E8M0FromDouble(value, mode, false), code);
    }
  }
  EXPECT_EQ(float8E8M0FromDouble(1.0001), 128);
  EXPECT_EQ(float8E8M0FromDouble(1.9999, E8M0Rounding::kDown), 127);
  EXPECT_EQ(float8E8M0FromDouble(1.4999, E8M0Rounding::kNearest), 127);
  EXPECT_EQ(float8E8M0FromDouble(1.5, E8M0Rounding::kNearest), 128);
}

TEST(FloatConvert, Float8E8M0SpecialValues) {
  EXPECT_EQ(float8E8M0FromDouble(0.0), 0);
  EXPECT_EQ(float8E8M0FromDouble(1e-300), 0);
  EXPECT_EQ(float8E8M0FromDouble(kInf), 254);
  EXPECT_EQ(float8E8M0FromDouble(0x1.8p127), 254);
  EXPECT_EQ(float8E8M0FromDouble(kNan), 255);
  EXPECT_EQ(float8E8M0FromDouble(-1.0), 255);
  for (const double outside : {0.0, 1e-300, kInf, 0x1.8p127}) {
    EXPECT_EQ(float8E8M0FromDouble(outside, E8M0Rounding::kNearest, false), 255) << outside;
  }
  EXPECT_TRUE(std::isnan(float8E8M0ToDouble(255)));
}

/// Bit patterns of all kinds: special values, then random ones.
std::vector<float> floatsOfAllKinds() {
  std::mt19937 random(7);
  std::vector<float> values;
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (const std::uint32_t mantissa : {0U, 1U, 0x1000U, 0x1001U, 0xfffU, 0x7fffffU, 0x8000U, 0x18000U}) {
      values.push_back(std::bit_cast<float>(exponent << 23 | mantissa));
      values.push_back(std::bit_cast<float>(0x80000000U | exponent << 23 | mantissa));
    }
  }
  for (int i = 0; i < 100003; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  return values;
}

TEST(FloatConvert, ArraysEqualSingleValues) {
  const std::vector<float> values = floatsOfAllKinds();
  std::vector<std::uint16_t> half(values.size()), brain(values.size());
  convertFloatToFloat16(values.data(), values.size(), half.data());
  convertFloatToBFloat16(values.data(), values.size(), brain.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    ASSERT_EQ(half[i], float16FromDouble(value)) << std::bit_cast<std::uint32_t>(values[i]);
    ASSERT_EQ(brain[i], bfloat16FromDouble(value)) << std::bit_cast<std::uint32_t>(values[i]);
  }
}

TEST(FloatConvert, ArraysDecodeAllCodes) {
  std::vector<std::uint16_t> codes(65536 + 3);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i);
  std::vector<float> half(codes.size()), brain(codes.size());
  convertFloat16ToFloat(codes.data(), codes.size(), half.data());
  convertBFloat16ToFloat(codes.data(), codes.size(), brain.data());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(half[i]), std::bit_cast<std::uint32_t>(float16ToFloat(codes[i])))
        << i;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(brain[i]), std::uint32_t{codes[i]} << 16) << i;
  }
}

}  // namespace
}  // namespace rota
