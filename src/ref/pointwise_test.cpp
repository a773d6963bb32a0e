// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels: values at the corners of the standard, broadcasting, integer rules, errors.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expectValues(const Tensor& tensor, const std::vector<double>& wanted) {
  const std::vector<double> found = valuesOf(tensor);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << "element " << i << " is " << found[i];
    } else {
      EXPECT_FLOAT_EQ(static_cast<float>(found[i]), static_cast<float>(wanted[i])) << "element " << i;
    }
  }
}

Tensor unary(const std::string& name, const std::vector<double>& x, Attributes attributes = {},
             DType dtype = DType::kFloat32, DType outputType = DType::kUndefined) {
  const auto n = static_cast<std::int64_t>(x.size());
  auto result = runKernel({.name = name,
                           .attributes = std::move(attributes),
                           .inputs = {makeTensor(dtype, {n}, x)},
                           .outputTypes = {outputType == DType::kUndefined ? dtype : outputType},
                           .outputDims = {{n}}});
  return result.value()[0];
}

Result<std::vector<Tensor>> binary(const std::string& name, const Tensor& a, const Tensor& b,
                                   std::vector<std::int64_t> dims, DType outputType,
                                   Attributes attributes = {}) {
  return runKernel({.name = name,
                    .attributes = std::move(attributes),
                    .inputs = {a, b},
                    .outputTypes = {outputType},
                    .outputDims = {std::move(dims)}});
}

Tensor int32s(std::vector<std::int64_t> dims, const std::vector<double>& values) {
  return makeTensor(DType::kInt32, std::move(dims), values);
}

TEST(Unary, ValuesAtTheCorners) {
  expectValues(unary("Abs", {-2, 0, kNan, -kInf}), {2, 0, kNan, kInf});
  expectValues(unary("Sign", {-2, 0, 5, kNan}), {-1, 0, 1, kNan});
  expectValues(unary("Round", {0.5, 1.5, 2.5, -0.5, -1.5, 2.4}), {0, 2, 2, 0, -2, 2});
  expectValues(unary("Sigmoid", {-1000, 0, 1000, kNan}), {0, 0.5, 1, kNan});
  expectValues(unary("Softplus", {-1000, 0, 1000}), {0, std::log(2.0), 1000});
  expectValues(unary("Softsign", {-kInf, -1, 3, kInf}), {kNan, -0.5, 0.75, kNan});
  expectValues(unary("Log", {0, 1, -1}), {-kInf, 0, kNan});
  expectValues(unary("Reciprocal", {2, 0, -kInf}), {0.5, kInf, 0});
  expectValues(unary("Erf", {0, 1, -kInf}), {0, 0.8427007929497149, -1});
}

TEST(Unary, IntegersWrapAtTheLowestValue) {
  expectValues(unary("Abs", {-128, -3}, {}, DType::kInt8), {-128, 3});
  expectValues(unary("Neg", {-128, 3}, {}, DType::kInt8), {-128, -3});
  expectValues(unary("BitwiseNot", {0, 5, 255}, {}, DType::kUInt8), {255, 250, 0});
  expectValues(unary("Sign", {7, 0}, {}, DType::kUInt64), {1, 0});
}

TEST(Unary, Predicates) {
  expectValues(unary("IsNaN", {1, kNan, kInf}, {}, DType::kFloat16, DType::kBool), {0, 1, 0});
  expectValues(unary("IsInf", {1, kNan, kInf, -kInf}, {}, DType::kFloat32, DType::kBool), {0, 0, 1, 1});
  Attributes onlyNegative;
  onlyNegative.set("detect_positive", std::int64_t{0});
  expectValues(unary("IsInf", {kInf, -kInf}, onlyNegative, DType::kFloat32, DType::kBool), {0, 1});
  expectValues(unary("Not", {1, 0}, {}, DType::kBool), {0, 1});
}

TEST(Activation, KnownValues) {
  expectValues(unary("Relu", {-1, 0, 2, kNan}), {0, 0, 2, kNan});
  expectValues(unary("LeakyRelu", {-1, 2, kNan}), {-0.01, 2, kNan});
  expectValues(unary("Elu", {-1, 2}), {std::exp(-1.0) - 1, 2});
  expectValues(unary("Gelu", {-kInf, -1, 0, 1}), {kNan, -0.15865525393145707, 0, 0.8413447460685429});
  expectValues(unary("HardSigmoid", {-3, 0, 3}), {0, 0.5, 1});
  expectValues(unary("HardSwish", {-4, -1, 1, 4, -kInf}), {0, -1.0 / 3, 2.0 / 3, 4, kNan});
  expectValues(unary("Mish", {0, 1, -kInf}), {0, 0.8650983882673103, kNan});
  expectValues(unary("Swish", {0, 1, -kInf}), {0, 0.7310585786300049, kNan});
  expectValues(unary("Shrink", {-1, 0.25, 1}), {-1, 0, 1});
  expectValues(unary("ThresholdedRelu", {0.5, 1, 1.5}), {0, 0, 1.5});
  expectValues(unary("Celu", {-1, 1}), {std::exp(-1.0) - 1, 1});
  expectValues(unary("Selu", {1, -1}), {1.0507009873554805, -1.1113307378125625});
}

// NaN through Clip; max wins where the bounds are crossed.
TEST(Clip, NanAndCrossedBounds) {
  const auto clip = [](const std::vector<double>& x, double lo, double hi) {
    const auto n = static_cast<std::int64_t>(x.size());
    return runKernel({.name = "Clip",
                      .inputs = {makeFloats({n}, x), makeFloats({}, {lo}), makeFloats({}, {hi})},
                      .outputTypes = {DType::kFloat32},
                      .outputDims = {{n}}})
        .value()[0];
  };
  expectValues(clip({kNan, -20, 0, 20}, -10, 10), {kNan, -10, 0, 10});
  expectValues(clip({-2, 0, 6}, 2, 1), {1, 1, 1});
}

TEST(Clip, BoundsFromAttributesAndOnlyOneBound) {
  Attributes attributes;
  attributes.set("max", 3.0F);
  expectValues(unary("Clip", {-9, 4}, attributes), {-9, 3});
  auto onlyUpper = runKernel({.name = "Clip",
                              .inputs = {int32s({3}, {-5, 0, 5}), Tensor(), int32s({}, {2})},
                              .outputTypes = {DType::kInt32},
                              .outputDims = {{3}}});
  expectValues(onlyUpper.value()[0], {-5, 0, 2});
}

TEST(MinMax, NanWinsOnEitherSideAndOneElementBroadcasts) {
  const Tensor x = makeFloats({3, 1}, {kNan, 1, 20});
  const Tensor c = makeFloats({1}, {10});
  expectValues(binary("Min", x, c, {3, 1}, DType::kFloat32).value()[0], {kNan, 1, 10});
  expectValues(binary("Min", c, x, {3, 1}, DType::kFloat32).value()[0], {kNan, 1, 10});
  expectValues(binary("Max", x, c, {3, 1}, DType::kFloat32).value()[0], {kNan, 10, 20});
  expectValues(binary("Max", c, x, {3, 1}, DType::kFloat32).value()[0], {kNan, 10, 20});
}

TEST(Binary, BroadcastsEveryWay) {
  const Tensor matrix = makeFloats({2, 3}, {1, 2, 3, 4, 5, 6});
  expectValues(binary("Add", matrix, makeFloats({3}, {10, 20, 30}), {2, 3}, DType::kFloat32).value()[0],
               {11, 22, 33, 14, 25, 36});
  expectValues(binary("Add", makeFloats({2, 1}, {10, 20}), matrix, {2, 3}, DType::kFloat32).value()[0],
               {11, 12, 13, 24, 25, 26});
  expectValues(binary("Mul", matrix, makeFloats({}, {2}), {2, 3}, DType::kFloat32).value()[0],
               {2, 4, 6, 8, 10, 12});
  expectValues(
      binary("Sub", makeFloats({3, 1}, {1, 2, 3}), makeFloats({1, 2}, {1, 10}), {3, 2}, DType::kFloat32)
          .value()[0],
      {0, -9, 1, -8, 2, -7});
  expectValues(
      binary("Add", makeFloats({0, 3}, {}), makeFloats({3}, {1, 2, 3}), {0, 3}, DType::kFloat32).value()[0],
      {});
}

TEST(Binary, LongOperandsMatchOneByOne) {
  const std::int64_t rows = 70;
  const std::int64_t columns = 999;
  std::vector<double> a(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 1013);
  std::vector<double> b(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 0.5 * static_cast<double>(i);
  const Tensor sum = binary("Add", makeFloats({rows, columns}, a), makeFloats({rows, 1}, b), {rows, columns},
                            DType::kFloat32)
                         .value()[0];
  const std::vector<double> found = valuesOf(sum);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(found[i], a[i] + b[i / 999]) << i;
}

TEST(Arithmetic, IntegersWrapAndDivideTowardsZero) {
  const auto int8 = [](const std::vector<double>& v) {
    return makeTensor(DType::kInt8, {static_cast<std::int64_t>(v.size())}, v);
  };
  expectValues(binary("Add", int8({127, -128}), int8({1, -1}), {2}, DType::kInt8).value()[0], {-128, 127});
  expectValues(binary("Mul", int8({100}), int8({3}), {1}, DType::kInt8).value()[0], {44});
  expectValues(
      binary("Div", int32s({4}, {7, -7, 7, -7}), int32s({4}, {2, 2, -2, -2}), {4}, DType::kInt32).value()[0],
      {3, -3, -3, 3});
  const Tensor lowest = Tensor::ofInt64({std::numeric_limits<std::int64_t>::min()}, {1});
  const Tensor quotient = binary("Div", lowest, Tensor::ofInt64({-1}, {1}), {1}, DType::kInt64).value()[0];
  EXPECT_EQ(intAt(quotient.view(), 0), std::numeric_limits<std::int64_t>::min());
}

TEST(Arithmetic, IntegerDivisionByZeroIsAnError) {
  for (const char* name : {"Div", "Mod"}) {
    const auto result = binary(name, int32s({2}, {1, 2}), int32s({2}, {1, 0}), {2}, DType::kInt32);
    ASSERT_FALSE(result.isOk()) << name;
    EXPECT_EQ(result.status().code(), ErrorCode::kDivisionByZero);
  }
  expectValues(
      binary("Div", makeFloats({2}, {1, 0}), makeFloats({2}, {0, 0}), {2}, DType::kFloat32).value()[0],
      {kInf, kNan});
}

TEST(Arithmetic, ModTakesTheSignOfDivisorOrDividend) {
  const Tensor a = int32s({4}, {-4, 7, 5, -7});
  const Tensor b = int32s({4}, {2, -3, 8, 3});
  expectValues(binary("Mod", a, b, {4}, DType::kInt32).value()[0], {0, -2, 5, 2});
  Attributes fmod;
  fmod.set("fmod", std::int64_t{1});
  expectValues(binary("Mod", a, b, {4}, DType::kInt32, fmod).value()[0], {0, 1, 5, -1});
  expectValues(
      binary("Mod", makeFloats({2}, {-4.5, 5}), makeFloats({2}, {2, kInf}), {2}, DType::kFloat32, fmod)
          .value()[0],
      {-0.5, 5});
  // Operator set 28: floating point with the sign of the divisor.
  expectValues(
      binary("Mod", makeFloats({3}, {-5, 5, kInf}), makeFloats({3}, {3, -kInf, 2}), {3}, DType::kFloat32)
          .value()[0],
      {1, -kInf, kNan});
}

TEST(Arithmetic, PowKeepsTheTypeOfTheBase) {
  expectValues(binary("Pow", int32s({3}, {2, -3, 5}), int32s({3}, {10, 3, 0}), {3}, DType::kInt32).value()[0],
               {1024, -27, 1});
  expectValues(binary("Pow", int32s({2}, {2, 9}), makeFloats({2}, {-1, 0.5}), {2}, DType::kInt32).value()[0],
               {0, 3});
  expectValues(
      binary("Pow", makeFloats({2}, {2, -8}), Tensor::ofInt64({-2, 3}, {2}), {2}, DType::kFloat32).value()[0],
      {0.25, -512});
  const Tensor large =
      binary("Pow", Tensor::ofInt64({3037000499}, {1}), Tensor::ofInt64({2}, {1}), {1}, DType::kInt64)
          .value()[0];
  EXPECT_EQ(intAt(large.view(), 0), 9223372030926249001);
}

TEST(Arithmetic, VariadicFolds) {
  const auto fold = [](const char* name) {
    return runKernel({.name = name,
                      .inputs = {makeFloats({2}, {1, 8}), makeFloats({1}, {4}), makeFloats({2}, {7, 0})},
                      .outputTypes = {DType::kFloat32},
                      .outputDims = {{2}}})
        .value()[0];
  };
  expectValues(fold("Sum"), {12, 12});
  expectValues(fold("Mean"), {4, 4});
  expectValues(fold("Max"), {7, 8});
  expectValues(fold("Min"), {1, 0});
}

TEST(Logical, ComparisonsAreExactForLargeIntegersAndFalseForNan) {
  const Tensor a = Tensor::ofInt64({9007199254740993, 1}, {2});
  const Tensor b = Tensor::ofInt64({9007199254740992, 1}, {2});
  expectValues(binary("Equal", a, b, {2}, DType::kBool).value()[0], {0, 1});
  expectValues(binary("Greater", a, b, {2}, DType::kBool).value()[0], {1, 0});
  const Tensor nan = makeFloats({1}, {kNan});
  for (const char* name : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}) {
    expectValues(binary(name, nan, nan, {1}, DType::kBool).value()[0], {0});
  }
}

TEST(Logical, BitShiftsBeyondTheWidth) {
  Attributes right;
  right.set("direction", std::string("RIGHT"));
  Attributes left;
  left.set("direction", std::string("LEFT"));
  const Tensor x = makeTensor(DType::kUInt8, {3}, {255, 16, 1});
  const Tensor by = makeTensor(DType::kUInt8, {3}, {1, 8, 200});
  expectValues(binary("BitShift", x, by, {3}, DType::kUInt8, right).value()[0], {127, 0, 0});
  expectValues(binary("BitShift", x, by, {3}, DType::kUInt8, left).value()[0], {254, 0, 0});
  const Tensor negative = makeTensor(DType::kInt8, {3}, {-8, -1, 5});
  const Tensor amounts = makeTensor(DType::kInt8, {3}, {1, 9, -1});
  expectValues(binary("BitShift", negative, amounts, {3}, DType::kInt8, right).value()[0], {-4, -1, 0});
}

TEST(Where, MovesBitsOfEveryWidth) {
  const Tensor condition = makeTensor(DType::kBool, {2, 1}, {1, 0});
  for (const DType dtype : {DType::kBool, DType::kInt16, DType::kFloat32, DType::kFloat64, DType::kComplex64,
                            DType::kComplex128}) {
    auto result =
        runKernel({.name = "Where",
                   .inputs = {condition, makeTensor(dtype, {2}, {1, 0}), makeTensor(dtype, {}, {1})},
                   .outputTypes = {dtype},
                   .outputDims = {{2, 2}}});
    ASSERT_TRUE(result.isOk()) << info(dtype).name;
    expectValues(result.value()[0], {1, 0, 1, 1});
  }
}

TEST(Cast, RoundsSaturatesAndWraps) {
  const auto cast = [](DType from, const std::vector<double>& x, DType to, Attributes attributes = {}) {
    return unary("Cast", x, std::move(attributes), from, to);
  };
  expectValues(cast(DType::kFloat32, {2.9, -2.9, kNan}, DType::kInt32), {2, -2, 0});
  expectValues(cast(DType::kInt16, {200}, DType::kInt8), {-56});
  expectValues(cast(DType::kFloat32, {0.0, -0.0, 0.1, kNan}, DType::kBool), {0, 0, 1, 1});
  expectValues(cast(DType::kFloat32, {1e6, 500, -1e6}, DType::kFloat8E4M3FN), {448, 448, -448});
  Attributes unsaturated;
  unsaturated.set("saturate", std::int64_t{0});
  expectValues(cast(DType::kFloat32, {1e6, 1}, DType::kFloat8E4M3FN, unsaturated), {kNan, 1});
  expectValues(cast(DType::kFloat32, {1e6, -1e6}, DType::kFloat8E5M2, unsaturated), {kInf, -kInf});
  Attributes down;
  down.set("round_mode", std::string("down"));
  expectValues(cast(DType::kFloat32, {3, 4}, DType::kFloat8E8M0, down), {2, 4});
  expectValues(cast(DType::kFloat32, {3, 4}, DType::kFloat8E8M0), {4, 4});
}

TEST(Cast, ComplexIsRefused) {
  auto result = runKernel({.name = "Cast",
                           .inputs = {makeTensor(DType::kComplex64, {1}, {1})},
                           .outputTypes = {DType::kFloat32},
                           .outputDims = {{1}}});
  ASSERT_FALSE(result.isOk());
  EXPECT_EQ(result.status().code(), ErrorCode::kUnsupportedType);
}

}  // namespace
}  // namespace rota::ref
