// SPDX-License-Identifier: Apache-2.0
// Reductions over every set of axes against a plain loop, empty sets, ties, softmax forms, running sums.
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Attributes ints(const char* name, std::int64_t value) {
  Attributes attributes;
  attributes.set(name, value);
  return attributes;
}

std::vector<double> reduce(const std::string& name, const Tensor& x, std::vector<std::int64_t> axes,
                           Attributes attributes = {}) {
  attributes.set("axes", std::move(axes));
  return valuesOf(runKernel({.name = name,
                             .attributes = std::move(attributes),
                             .inputs = {x},
                             .outputTypes = {x.dtype()},
                             .outputDims = {{}}})
                      .value()[0]);
}

std::vector<double> counted(std::int64_t n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

// Every subset of axes of a tensor of rank 4 with a dim of 1, against sums over indices.
TEST(Reduce, EverySetOfAxesMatchesAPlainLoop) {
  const std::vector<std::int64_t> dims{3, 1, 4, 5};
  const std::vector<double> x = counted(60);
  const Tensor tensor = makeFloats(dims, x);
  for (unsigned mask = 1; mask < 16; ++mask) {
    std::vector<std::int64_t> axes;
    for (std::int64_t d = 0; d < 4; ++d) {
      if ((mask >> d & 1U) != 0) axes.push_back(d - 4);
    }
    std::vector<double> wanted(60, 0.0);
    std::size_t results = 1;
    for (std::size_t d = 0; d < 4; ++d)
      results *= (mask >> d & 1U) != 0 ? 1 : static_cast<std::size_t>(dims[d]);
    for (std::size_t i = 0; i < 60; ++i) {
      const std::array<std::size_t, 4> index{i / 20, 0, i / 5 % 4, i % 5};
      std::size_t result = 0;
      for (std::size_t d = 0; d < 4; ++d) {
        if ((mask >> d & 1U) == 0) result = result * static_cast<std::size_t>(dims[d]) + index[d];
      }
      wanted[result] += x[i];
    }
    wanted.resize(results);
    EXPECT_EQ(reduce("ReduceSum", tensor, axes), wanted) << "axes mask " << mask;
  }
}

TEST(Reduce, LongRowsAndManyColumns) {
  const Tensor ones = makeFloats({100000}, std::vector<double>(100000, 1.0));
  EXPECT_EQ(reduce("ReduceSum", ones, {0}), std::vector<double>{100000});
  const Tensor wide = makeFloats({3, 1000}, std::vector<double>(3000, 2.0));
  EXPECT_EQ(reduce("ReduceProd", wide, {0}), std::vector<double>(1000, 8.0));
  // The declared type decides: 100,000 ones do not fit float16.
  const Tensor halves = makeTensor(DType::kFloat16, {100000}, std::vector<double>(100000, 1.0));
  EXPECT_EQ(reduce("ReduceSum", halves, {0}), std::vector<double>{kInf});
}

TEST(Reduce, EveryOperator) {
  const Tensor x = makeFloats({2, 2}, {-1, 2, 3, -4});
  EXPECT_EQ(reduce("ReduceL1", x, {1}), (std::vector<double>{3, 7}));
  EXPECT_EQ(reduce("ReduceSumSquare", x, {1}), (std::vector<double>{5, 25}));
  EXPECT_EQ(reduce("ReduceMax", x, {0}), (std::vector<double>{3, 2}));
  EXPECT_EQ(reduce("ReduceMin", x, {0}), (std::vector<double>{-1, -4}));
  EXPECT_EQ(reduce("ReduceMean", x, {1}), (std::vector<double>{0.5, -0.5}));
  EXPECT_EQ(reduce("ReduceL2", makeFloats({2}, {3, 4}), {0}), std::vector<double>{5});
  EXPECT_FLOAT_EQ(static_cast<float>(reduce("ReduceLogSum", makeFloats({2}, {3, 4}), {0})[0]),
                  std::log(7.0F));
  EXPECT_FLOAT_EQ(static_cast<float>(reduce("ReduceLogSumExp", makeFloats({2}, {1000, 1000}), {0})[0]),
                  1000 + std::log(2.0F));
  EXPECT_EQ(reduce("ReduceLogSumExp", makeFloats({2}, {-kInf, -kInf}), {0}), std::vector<double>{-kInf});
  EXPECT_EQ(reduce("ReduceMax", makeTensor(DType::kBool, {2}, {0, 1}), {0}), std::vector<double>{1});
}

TEST(Reduce, NanWins) {
  const Tensor x = makeFloats({3}, {1, kNan, 2});
  EXPECT_TRUE(std::isnan(reduce("ReduceMax", x, {0})[0]));
  EXPECT_TRUE(std::isnan(reduce("ReduceMin", x, {0})[0]));
  EXPECT_TRUE(std::isnan(reduce("ReduceLogSumExp", x, {0})[0]));
}

TEST(Reduce, EmptySetsGiveTheNeutralElement) {
  const Tensor x = makeFloats({2, 0}, {});
  EXPECT_EQ(reduce("ReduceSum", x, {1}), (std::vector<double>{0, 0}));
  EXPECT_EQ(reduce("ReduceProd", x, {1}), (std::vector<double>{1, 1}));
  EXPECT_EQ(reduce("ReduceMax", x, {1}), (std::vector<double>{-kInf, -kInf}));
  EXPECT_EQ(reduce("ReduceMin", x, {1}), (std::vector<double>{kInf, kInf}));
  EXPECT_EQ(reduce("ReduceLogSumExp", x, {1}), (std::vector<double>{-kInf, -kInf}));
  EXPECT_TRUE(std::isnan(reduce("ReduceMean", x, {1})[0]));
  EXPECT_TRUE(reduce("ReduceSum", x, {0}).empty());
  const Tensor bytes = makeTensor(DType::kInt8, {0}, {});
  EXPECT_EQ(reduce("ReduceMax", bytes, {0}), std::vector<double>{-128});
  EXPECT_EQ(reduce("ReduceMin", bytes, {0}), std::vector<double>{127});
  EXPECT_EQ(reduce("ReduceMin", makeTensor(DType::kUInt32, {0}, {}), {0}), std::vector<double>{4294967295.0});
}

TEST(Reduce, EmptyAxesMeanAllOrNone) {
  const Tensor x = makeFloats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(reduce("ReduceSum", x, {}), std::vector<double>{10});
  EXPECT_EQ(reduce("ReduceSumSquare", x, {}, ints("noop_with_empty_axes", 1)),
            (std::vector<double>{1, 4, 9, 16}));
}

TEST(Reduce, AxesAndDimsFromAnInput) {
  auto result = runKernel({.name = "ReduceSum",
                           .attributes = ints("keepdims", 0),
                           .inputs = {makeFloats({2, 3}, counted(6)), Tensor::ofInt64({-1}, {1})},
                           .outputTypes = {DType::kFloat32},
                           .outputDims = {{}}});
  EXPECT_EQ(result.value()[0].dims(), std::vector<std::int64_t>{2});
  EXPECT_EQ(valuesOf(result.value()[0]), (std::vector<double>{6, 15}));
  auto bad = runKernel({.name = "ReduceSum",
                        .inputs = {makeFloats({2}, {1, 2}), Tensor::ofInt64({1}, {1})},
                        .outputTypes = {DType::kFloat32},
                        .outputDims = {{}}});
  ASSERT_FALSE(bad.isOk());
  EXPECT_EQ(bad.status().code(), ErrorCode::kBadIndex);
}

std::vector<double> argReduce(const char* name, const std::vector<double>& x, bool last) {
  Attributes attributes = ints("select_last_index", last ? 1 : 0);
  return valuesOf(runKernel({.name = name,
                             .attributes = std::move(attributes),
                             .inputs = {makeFloats({static_cast<std::int64_t>(x.size())}, x)},
                             .outputTypes = {DType::kInt64},
                             .outputDims = {{1}}})
                      .value()[0]);
}

TEST(ArgReduce, Ties) {
  EXPECT_EQ(argReduce("ArgMax", {1, 3, 3, 0, 3}, false), std::vector<double>{1});
  EXPECT_EQ(argReduce("ArgMax", {1, 3, 3, 0, 3}, true), std::vector<double>{4});
  EXPECT_EQ(argReduce("ArgMin", {1, 0.0, -0.0, 5}, false), std::vector<double>{1});
  EXPECT_EQ(argReduce("ArgMin", {1, 0.0, -0.0, 5}, true), std::vector<double>{2});
  EXPECT_EQ(argReduce("ArgMax", {1, kNan, 9, kNan}, false), std::vector<double>{1});
  EXPECT_EQ(argReduce("ArgMax", {1, kNan, 9, kNan}, true), std::vector<double>{3});
  std::vector<double> many(4097);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i % 3);
  EXPECT_EQ(argReduce("ArgMax", many, false), std::vector<double>{2});
  EXPECT_EQ(argReduce("ArgMax", many, true), std::vector<double>{4094});
}

TEST(ArgReduce, OfNothingIsAnError) {
  auto result = runKernel({.name = "ArgMax",
                           .attributes = ints("axis", 1),
                           .inputs = {makeFloats({2, 0}, {})},
                           .outputTypes = {DType::kInt64},
                           .outputDims = {{2, 1}}});
  ASSERT_FALSE(result.isOk());
  EXPECT_EQ(result.status().code(), ErrorCode::kShapeMismatch);
}

std::vector<double> lines(const std::string& name, std::vector<std::int64_t> dims,
                          const std::vector<double>& x, int version, Attributes attributes = {}) {
  return valuesOf(runKernel({.name = name,
                             .version = version,
                             .attributes = std::move(attributes),
                             .inputs = {makeFloats(dims, x)},
                             .outputTypes = {DType::kFloat32},
                             .outputDims = {dims}})
                      .value()[0]);
}

TEST(Softmax, OldAndNewMeaningOfAxis) {
  const std::vector<double> zeros(8, 0.0);
  EXPECT_EQ(lines("Softmax", {2, 2, 2}, zeros, 11), std::vector<double>(8, 0.25));
  EXPECT_EQ(lines("Softmax", {2, 2, 2}, zeros, 13), std::vector<double>(8, 0.5));
  EXPECT_EQ(lines("Softmax", {2, 2, 2}, zeros, 13, ints("axis", 0)), std::vector<double>(8, 0.5));
  EXPECT_EQ(lines("Softmax", {}, {7}, 13), std::vector<double>{1});
}

TEST(Softmax, LargeLogitsStayFinite) {
  const auto y = lines("Softmax", {3}, {1000, 1001, -1e30}, 13);
  EXPECT_NEAR(y[0], 1 / (1 + std::exp(1.0)), 1e-7);
  EXPECT_NEAR(y[1], 1 / (1 + std::exp(-1.0)), 1e-7);
  EXPECT_EQ(y[2], 0);
  const auto logs = lines("LogSoftmax", {2}, {0, 200}, 13);
  EXPECT_FLOAT_EQ(static_cast<float>(logs[0]), -200.0F);
  EXPECT_TRUE(std::isnan(lines("Softmax", {2}, {-kInf, -kInf}, 13)[0]));
}

TEST(Softmax, LongAndStridedLinesSumToOne) {
  for (const std::int64_t axis : {0, 1, 2}) {
    const std::vector<std::int64_t> dims{3, 2100, 70};
    std::vector<double> x(static_cast<std::size_t>(3 * 2100 * 70));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 17) * 0.1;
    const auto y = lines("Softmax", dims, x, 13, ints("axis", axis));
    const std::array<std::size_t, 3> strides{2100 * 70, 70, 1};
    double sum = 0;
    for (std::int64_t a = 0; a < dims[static_cast<std::size_t>(axis)]; ++a) {
      sum += y[static_cast<std::size_t>(a) * strides[static_cast<std::size_t>(axis)]];
    }
    EXPECT_NEAR(sum, 1, 1e-5) << "axis " << axis;
  }
}

TEST(Hardmax, MarksTheFirstOfEquals) {
  EXPECT_EQ(lines("Hardmax", {5}, {1, 3, 3, 0, 3}, 13), (std::vector<double>{0, 1, 0, 0, 0}));
  EXPECT_EQ(lines("Hardmax", {2, 2}, {1, 5, 4, 2}, 13, ints("axis", 0)), (std::vector<double>{0, 1, 1, 0}));
}

std::vector<double> running(const char* name, std::vector<std::int64_t> dims, std::int64_t axis,
                            bool exclusive, bool reverse) {
  Attributes attributes = ints("exclusive", exclusive ? 1 : 0);
  attributes.set("reverse", std::int64_t{reverse ? 1 : 0});
  return valuesOf(
      runKernel({.name = name,
                 .attributes = std::move(attributes),
                 .inputs = {makeFloats(dims, counted(elementCount(dims))), Tensor::ofInt64({axis}, {})},
                 .outputTypes = {DType::kFloat32},
                 .outputDims = {dims}})
          .value()[0]);
}

TEST(CumSum, EveryDirection) {
  EXPECT_EQ(running("CumSum", {3}, 0, false, false), (std::vector<double>{1, 3, 6}));
  EXPECT_EQ(running("CumSum", {3}, 0, true, false), (std::vector<double>{0, 1, 3}));
  EXPECT_EQ(running("CumSum", {3}, -1, false, true), (std::vector<double>{6, 5, 3}));
  EXPECT_EQ(running("CumSum", {3}, 0, true, true), (std::vector<double>{5, 3, 0}));
  EXPECT_EQ(running("CumSum", {2, 3}, 0, false, false), (std::vector<double>{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(running("CumSum", {2, 3}, 0, false, true), (std::vector<double>{5, 7, 9, 4, 5, 6}));
  EXPECT_EQ(running("CumProd", {3}, 0, true, true), (std::vector<double>{6, 3, 1}));
  EXPECT_TRUE(running("CumSum", {2, 0}, 1, false, false).empty());
  const auto longSum = running("CumSum", {3000}, 0, false, true);
  EXPECT_EQ(longSum.front(), 3000.0 * 3001 / 2);
  EXPECT_EQ(longSum.back(), 3000);
}

}  // namespace
}  // namespace rota::ref
