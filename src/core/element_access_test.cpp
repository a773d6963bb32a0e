// SPDX-License-Identifier: Apache-2.0
#include "core/element_access.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/float_convert.h"
#include "core/tensor.h"

namespace rota {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();

Tensor make(DType dtype, std::int64_t count) { return Tensor::allocate(dtype, {count}).value(); }

std::vector<double> storedDoubles(DType dtype, const std::vector<double>& values) {
  Tensor tensor = make(dtype, static_cast<std::int64_t>(values.size()));
  storeFromDouble(tensor.mutableView(), 0, tensor.count(), values.data());
  std::vector<double> out(values.size());
  loadAsDouble(tensor.view(), 0, tensor.count(), out.data());
  return out;
}

std::vector<std::int64_t> storedInts(DType dtype, const std::vector<double>& values) {
  Tensor tensor = make(dtype, static_cast<std::int64_t>(values.size()));
  storeFromDouble(tensor.mutableView(), 0, tensor.count(), values.data());
  std::vector<std::int64_t> out(values.size());
  loadAsInt64(tensor.view(), 0, tensor.count(), out.data());
  return out;
}

TEST(ElementAccess, SmallIntegersSurviveInEveryRealType) {
  for (const DTypeInfo& row : dtypeTable()) {
    if (row.compute == ComputeType::kNone || row.dtype == DType::kFloat8E8M0) continue;
    const std::vector<double> values(21, 1.0);
    EXPECT_EQ(storedDoubles(row.dtype, values), values) << row.name;
    std::vector<std::int64_t> zeroOne(21);
    for (std::size_t i = 0; i < zeroOne.size(); ++i) zeroOne[i] = static_cast<std::int64_t>(i % 2);
    Tensor tensor = make(row.dtype, 21);
    storeFromInt64(tensor.mutableView(), 0, 21, zeroOne.data());
    std::vector<std::int64_t> back(21);
    loadAsInt64(tensor.view(), 0, 21, back.data());
    EXPECT_EQ(back, zeroOne) << row.name;
  }
}

TEST(ElementAccess, RangesOfIntegerTypes) {
  EXPECT_EQ(storedInts(DType::kInt4, {-8, 7, 8, -9, -1.9}), (std::vector<std::int64_t>{-8, 7, -8, 7, -1}));
  EXPECT_EQ(storedInts(DType::kUInt4, {15, 16, -1}), (std::vector<std::int64_t>{15, 0, 15}));
  EXPECT_EQ(storedInts(DType::kInt2, {-2, 1, 2}), (std::vector<std::int64_t>{-2, 1, -2}));
  EXPECT_EQ(storedInts(DType::kUInt2, {3, 4, 5}), (std::vector<std::int64_t>{3, 0, 1}));
  EXPECT_EQ(storedInts(DType::kInt8, {-128, 127, 200, -0.99}),
            (std::vector<std::int64_t>{-128, 127, -56, 0}));
  EXPECT_EQ(storedInts(DType::kUInt8, {255, 256, -1}), (std::vector<std::int64_t>{255, 0, 255}));
  EXPECT_EQ(storedInts(DType::kUInt16, {65535, 65536}), (std::vector<std::int64_t>{65535, 0}));
  EXPECT_EQ(storedInts(DType::kInt32, {3e9, -3e9, kNan, kInf}),
            (std::vector<std::int64_t>{2147483647, -2147483648LL, 0, 2147483647}));
  EXPECT_EQ(storedInts(DType::kInt64, {1e30, -kInf, kNan, -7.9}),
            (std::vector<std::int64_t>{kMax64, kMin64, 0, -7}));
}

TEST(ElementAccess, Uint64UsesItsWholeRange) {
  EXPECT_EQ(doubleToUInt64(0x1p63), std::uint64_t{1} << 63);
  EXPECT_EQ(doubleToUInt64(1e30), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(doubleToUInt64(-1.0), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(doubleToUInt64(kNan), 0u);
  Tensor tensor = make(DType::kUInt64, 1);
  const std::uint64_t big = 0xfedcba9876543210U;
  storeFromUInt64(tensor.mutableView(), 0, 1, &big);
  std::uint64_t back = 0;
  loadAsUInt64(tensor.view(), 0, 1, &back);
  EXPECT_EQ(back, big);
  double real = 0;
  loadAsDouble(tensor.view(), 0, 1, &real);
  EXPECT_EQ(real, static_cast<double>(big));
}

TEST(ElementAccess, BoolIsWhetherItIsNotZero) {
  EXPECT_EQ(storedInts(DType::kBool, {0, -0.0, 0.25, kNan, -3}), (std::vector<std::int64_t>{0, 0, 1, 1, 1}));
  Tensor tensor = make(DType::kBool, 1);
  tensor.mutableData()[0] = std::byte{7};
  std::int64_t value = 0;
  loadAsInt64(tensor.view(), 0, 1, &value);
  EXPECT_EQ(value, 1);
}

TEST(ElementAccess, NarrowFloatsSaturateOrOverflow) {
  EXPECT_EQ(storedDoubles(DType::kFloat8E4M3FN, {1000, -1000, 0.3}),
            (std::vector<double>{448, -448, 0.3125}));
  EXPECT_EQ(storedDoubles(DType::kFloat4E2M1, {100, -0.8, 2.4}), (std::vector<double>{6, -1, 2}));
  EXPECT_EQ(storedDoubles(DType::kFloat16, {1e6, 0.1}), (std::vector<double>{kInf, 0x1.998p-4}));
  EXPECT_EQ(storedDoubles(DType::kFloat32, {1e300, 0.1}),
            (std::vector<double>{kInf, static_cast<double>(0.1f)}));
  EXPECT_EQ(storedDoubles(DType::kFloat8E8M0, {3.0, 4.0}), (std::vector<double>{4, 4}));
}

TEST(ElementAccess, PackedStoresLeaveTheirNeighboursAlone) {
  for (const DType dtype : {DType::kInt4, DType::kUInt2, DType::kFloat4E2M1}) {
    const std::vector<double> ones(9, 1.0);
    Tensor tensor = make(dtype, 9);
    storeFromDouble(tensor.mutableView(), 0, 9, ones.data());
    const double zero[3] = {};
    storeFromDouble(tensor.mutableView(), 3, 3, zero);
    std::vector<double> back(9);
    loadAsDouble(tensor.view(), 0, 9, back.data());
    EXPECT_EQ(back, (std::vector<double>{1, 1, 1, 0, 0, 0, 1, 1, 1}));
    double middle[3];
    loadAsDouble(tensor.view(), 5, 3, middle);
    EXPECT_EQ(middle[0], 0);
    EXPECT_EQ(middle[2], 1);
  }
}

TEST(ElementAccess, FirstPackedElementLiesInTheLowBits) {
  Tensor tensor = make(DType::kUInt4, 3);
  const std::int64_t values[3] = {1, 2, 3};
  storeFromInt64(tensor.mutableView(), 0, 3, values);
  EXPECT_EQ(tensor.data()[0], std::byte{0x21});
  EXPECT_EQ(tensor.data()[1], std::byte{0x03});
}

TEST(ElementAccess, LargeIntegersRoundOnceToNarrowFloats) {
  // Just above the middle between two bfloat16 values, by less than a double can show.
  const std::int64_t value = (std::int64_t{0x101} << 53) + 1;
  const std::int64_t negative = -value;
  Tensor tensor = make(DType::kBFloat16, 2);
  storeFromInt64(tensor.mutableView(), 0, 1, &value);
  storeFromInt64(tensor.mutableView(), 1, 1, &negative);
  double back[2];
  loadAsDouble(tensor.view(), 0, 2, back);
  EXPECT_EQ(back[0], std::ldexp(0x102, 53));
  EXPECT_EQ(back[1], -std::ldexp(0x102, 53));
  const auto unsignedValue = (std::uint64_t{0x101} << 55) + 1;
  storeFromUInt64(tensor.mutableView(), 0, 1, &unsignedValue);
  loadAsDouble(tensor.view(), 0, 1, back);
  EXPECT_EQ(back[0], std::ldexp(0x102, 55));
}

/// Doubles near the values and the midpoints of a format, of all signs and sizes.
std::vector<double> doublesNearCodes() {
  std::mt19937_64 random(11);
  std::vector<double> values = {0.0,   -0.0,  kInf,   -kInf, kNan,   65504,  65519.999999999,
                                65520, 1e300, 5e-324, -1e-8, 3.5e38, -3.5e38};
  for (int i = 0; i < 50000; ++i) {
    const double middle = float16ToDouble(static_cast<std::uint16_t>(random() & 0x7bff)) +
                          std::ldexp(1.0, -25 + static_cast<int>(random() % 40));
    const double step = std::ldexp(1.0, -30 - static_cast<int>(random() % 40)) * (i % 3 - 1);
    values.push_back((i % 2 == 0 ? 1 : -1) * (middle + step));
  }
  for (int i = 0; i < 50000; ++i) {
    const auto code = static_cast<std::uint16_t>(random() & 0x7f7f);
    const double low = static_cast<double>(bfloat16ToFloat(code));
    const double middle =
        low + (static_cast<double>(bfloat16ToFloat(static_cast<std::uint16_t>(code + 1))) - low) / 2;
    const double step = middle * std::ldexp(1.0, -26 - static_cast<int>(random() % 26)) * (i % 3 - 1);
    values.push_back((i % 2 == 0 ? 1 : -1) * (middle + step));
  }
  return values;
}

/// Stores and loads `values` as one run and checks the codes and the doubles that come back against `encode` and `decode`.
template <typename Code, typename Encode, typename Decode>
void checkRun(DType dtype, const std::vector<double>& values, const Encode& encode, const Decode& decode) {
  const auto count = static_cast<std::int64_t>(values.size());
  Tensor tensor = make(dtype, count);
  storeFromDouble(tensor.mutableView(), 0, count, values.data());
  std::vector<double> back(values.size());
  loadAsDouble(tensor.view(), 0, count, back.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Code code = encode(values[i]);
    ASSERT_EQ(tensor.view().as<Code>()[i], code) << values[i];
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back[i]),
              std::bit_cast<std::uint64_t>(static_cast<double>(decode(code))))
        << values[i];
  }
}

TEST(ElementAccess, VectorLoopsEqualSingleValues) {
  const std::vector<double> values = doublesNearCodes();
  checkRun<std::uint16_t>(DType::kFloat16, values, float16FromDouble, float16ToDouble);
  checkRun<std::uint16_t>(DType::kBFloat16, values, bfloat16FromDouble, bfloat16ToFloat);
  checkRun<std::uint32_t>(
      DType::kFloat32, values,
      [](double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); },
      [](std::uint32_t code) { return std::bit_cast<float>(code); });
}

TEST(ElementAccess, RunsMayStartAnywhere) {
  Tensor tensor = make(DType::kFloat32, 40);
  std::vector<double> ramp(40);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<double>(i);
  storeFromDouble(tensor.mutableView(), 3, 37, ramp.data());
  std::vector<double> back(20);
  loadAsDouble(tensor.view(), 5, 20, back.data());
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], static_cast<double>(i + 2));
  loadAsDouble(tensor.view(), 0, 3, back.data());
  EXPECT_EQ(back[2], 0.0);
}

TEST(ElementAccess, ComplexKeepsBothPartsAndRealTakesTheFirst) {
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    Tensor tensor = make(dtype, 2);
    const double values[4] = {1, 2, 3, -4};
    storeFromComplex(tensor.mutableView(), 0, 2, values);
    double back[4];
    loadAsComplex(tensor.view(), 0, 2, back);
    EXPECT_EQ(std::memcmp(back, values, sizeof(values)), 0);
    double real[1];
    loadAsDouble(tensor.view(), 1, 1, real);
    EXPECT_EQ(real[0], 3);
    storeFromDouble(tensor.mutableView(), 1, 1, real);
    loadAsComplex(tensor.view(), 1, 1, back);
    EXPECT_EQ(back[1], 0);
  }
  Tensor reals = Tensor::ofFloat({5, 6}, {2});
  double pairs[4] = {9, 9, 9, 9};
  loadAsComplex(reals.view(), 0, 2, pairs);
  EXPECT_EQ(pairs[2], 6);
  EXPECT_EQ(pairs[3], 0);
}

TEST(ElementAccessDeathTest, StringsAreNotNumbers) {
  double out = 0;
  const std::int64_t dims[1] = {1};
  EXPECT_DEATH(loadAsDouble(TensorView{DType::kString, dims, &out}, 0, 1, &out), "R1901");
}

}  // namespace
}  // namespace rota
