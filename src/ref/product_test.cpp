// SPDX-License-Identifier: Apache-2.0
#include "ref/product.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

std::vector<double> randomFloats(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& v : values) v = uniform(generator);
  return values;
}

std::vector<double> matMul(DType dtype, std::vector<std::int64_t> dimsA, const std::vector<double>& a,
                           std::vector<std::int64_t> dimsB, const std::vector<double>& b,
                           std::vector<std::int64_t> dimsY, int threads = 2) {
  const auto y =
      runKernel({.name = "MatMul",
                 .inputs = {makeTensor(dtype, std::move(dimsA), a), makeTensor(dtype, std::move(dimsB), b)},
                 .outputTypes = {dtype},
                 .outputDims = {std::move(dimsY)},
                 .threads = threads});
  EXPECT_TRUE(y.isOk()) << y.status().toString();
  return y.isOk() ? valuesOf((*y)[0]) : std::vector<double>{};
}

// The sum in double, rounded once to float32: what every float32 product must give.
std::vector<double> plainMatMul(std::int64_t m, std::int64_t n, std::int64_t k, const std::vector<double>& a,
                                const std::vector<double>& b) {
  std::vector<double> y;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t t = 0; t < k; ++t)
        sum += a[static_cast<std::size_t>(i * k + t)] * b[static_cast<std::size_t>(t * n + j)];
      y.push_back(static_cast<float>(sum));
    }
  }
  return y;
}

TEST(Product, IsTheDoubleSumRoundedOnceForAllTileRemainders) {
  const std::int64_t sizes[][3] = {{1, 1, 1},     {1, 130, 3}, {5, 7, 129},  {64, 64, 128},
                                   {65, 66, 257}, {130, 3, 1}, {3, 129, 300}};
  for (const auto& [m, n, k] : sizes) {
    const auto a = randomFloats(m * k, 1), b = randomFloats(k * n, 2);
    EXPECT_EQ(matMul(DType::kFloat32, {m, k}, a, {k, n}, b, {m, n}), plainMatMul(m, n, k, a, b))
        << m << " " << n << " " << k;
  }
}

TEST(Product, BitsDoNotDependOnThreads) {
  const auto a = randomFloats(200 * 150, 3), b = randomFloats(150 * 170, 4);
  EXPECT_EQ(matMul(DType::kFloat64, {200, 150}, a, {150, 170}, b, {200, 170}, 1),
            matMul(DType::kFloat64, {200, 150}, a, {150, 170}, b, {200, 170}, 3));
}

TEST(Product, BatchesBroadcastAndVectorsLoseTheirAxis) {
  const auto a = randomFloats(2 * 1 * 3 * 4, 5), b = randomFloats(5 * 4 * 2, 6);
  const auto y = matMul(DType::kFloat32, {2, 1, 3, 4}, a, {5, 4, 2}, b, {2, 5, 3, 2});
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      const std::vector<double> partA(a.begin() + static_cast<std::ptrdiff_t>(i * 12),
                                      a.begin() + static_cast<std::ptrdiff_t>(i * 12 + 12));
      const std::vector<double> partB(b.begin() + static_cast<std::ptrdiff_t>(j * 8),
                                      b.begin() + static_cast<std::ptrdiff_t>(j * 8 + 8));
      const auto first = y.begin() + static_cast<std::ptrdiff_t>((i * 5 + j) * 6);
      EXPECT_EQ(std::vector<double>(first, first + 6), plainMatMul(3, 2, 4, partA, partB));
    }
  }
  EXPECT_EQ(matMul(DType::kFloat32, {3}, {1, 2, 3}, {3}, {4, 5, 6}, {}), (std::vector<double>{32}));
  EXPECT_EQ(matMul(DType::kFloat32, {2}, {1, 2}, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, {2, 2}),
            (std::vector<double>{7, 10, 19, 22}));
  EXPECT_EQ(matMul(DType::kFloat32, {2, 2}, {1, 2, 3, 4}, {2}, {5, 6}, {2}), (std::vector<double>{17, 39}));
}

TEST(Product, EmptySumsAreZeroAndEmptyResultsAreFine) {
  EXPECT_EQ(matMul(DType::kFloat32, {2, 0}, {}, {0, 3}, {}, {2, 3}), std::vector<double>(6, 0.0));
  EXPECT_TRUE(matMul(DType::kFloat32, {0, 4}, {}, {4, 3}, randomFloats(12, 7), {0, 3}).empty());
}

TEST(Product, IntegersWrap) {
  const auto y = runKernel({.name = "MatMul",
                            .inputs = {makeTensor(DType::kInt32, {1, 2}, {2147483647.0, 2.0}),
                                       makeTensor(DType::kInt32, {2, 1}, {2.0, 5.0})},
                            .outputTypes = {DType::kInt32},
                            .outputDims = {{1, 1}}});
  ASSERT_TRUE(y.isOk());
  EXPECT_EQ(valuesOf((*y)[0]), (std::vector<double>{8}));  // 2^32 - 2 + 10 modulo 2^32
  const auto big = runKernel({.name = "MatMul",
                              .inputs = {Tensor::ofInt64({(std::int64_t{1} << 62) + 1, -7}, {1, 2}),
                                         Tensor::ofInt64({4, -3}, {2, 1})},
                              .outputTypes = {DType::kInt64},
                              .outputDims = {{1, 1}}});
  ASSERT_TRUE(big.isOk());
  EXPECT_EQ(intAt((*big)[0].view(), 0), 25);
}

TEST(Product, InfinityAndNaNPropagate) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto y = matMul(DType::kFloat32, {2, 2}, {inf, 1, 0, 1}, {2, 2}, {1, 0, 2, 3}, {2, 2});
  EXPECT_EQ(y[0], inf);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[3], 3);
}

TEST(Product, MismatchIsAnError) {
  const auto y = runKernel(
      {.name = "MatMul",
       .inputs = {makeFloats({2, 3}, std::vector<double>(6)), makeFloats({2, 3}, std::vector<double>(6))},
       .outputTypes = {DType::kFloat32},
       .outputDims = {{2, 3}}});
  ASSERT_FALSE(y.isOk());
  EXPECT_EQ(y.status().code(), ErrorCode::kShapeMismatch);
}

TEST(Gemm, TransposesScalesAndBroadcastsC) {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6},
                            b = {1, 0, 2, 1, 3, 1};  // A [2,3] or its transpose [3,2], B likewise
  const auto gemm = [&](bool transA, bool transB, std::vector<std::int64_t> dimsC, std::vector<double> c,
                        float alpha, float beta) {
    KernelRun run{
        .name = "Gemm",
        .inputs = {makeFloats(transA ? std::vector<std::int64_t>{3, 2} : std::vector<std::int64_t>{2, 3}, a),
                   makeFloats(transB ? std::vector<std::int64_t>{2, 3} : std::vector<std::int64_t>{3, 2}, b)},
        .outputTypes = {DType::kFloat32},
        .outputDims = {{2, 2}}};
    run.attributes.set("transA", std::int64_t{transA});
    run.attributes.set("transB", std::int64_t{transB});
    run.attributes.set("alpha", alpha);
    run.attributes.set("beta", beta);
    if (!c.empty()) run.inputs.push_back(makeFloats(std::move(dimsC), c));
    const auto y = runKernel(run);
    EXPECT_TRUE(y.isOk()) << y.status().toString();
    return y.isOk() ? valuesOf((*y)[0]) : std::vector<double>{};
  };
  EXPECT_EQ(gemm(false, false, {}, {}, 1, 1), (std::vector<double>{14, 5, 32, 11}));
  EXPECT_EQ(gemm(true, false, {}, {}, 1, 1), (std::vector<double>{22, 8, 28, 10}));
  EXPECT_EQ(gemm(false, true, {}, {}, 1, 1), (std::vector<double>{7, 10, 16, 25}));
  EXPECT_EQ(gemm(false, false, {2, 1}, {10, 20}, 2, 0.5F), (std::vector<double>{33, 15, 74, 32}));
  EXPECT_EQ(gemm(false, false, {2}, {10, 20}, 1, 1), (std::vector<double>{24, 25, 42, 31}));
  EXPECT_EQ(gemm(false, false, {1}, {100}, 1, 1), (std::vector<double>{114, 105, 132, 111}));
  EXPECT_EQ(gemm(false, false, {1, 2}, {10, 20}, 1, 1), (std::vector<double>{24, 25, 42, 31}));
}

}  // namespace
}  // namespace rota::ref
