// SPDX-License-Identifier: Apache-2.0
// Every variant of the vector kernels that this machine runs, against double precision.
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/run/kernel_table.h"

namespace rota::simd {
namespace {

double ulpsApart(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(want) || std::fabs(want) > 3.4028235677973366e38)
    return std::isinf(got) && std::signbit(got) == std::signbit(want) ? 0 : 1e9;
  const double spacing =
      std::max(std::ldexp(1.0, std::ilogb(want == 0 ? 1e-45 : want) - 23), std::ldexp(1.0, -149));
  return std::fabs(static_cast<double>(got) - want) / spacing;
}

struct Function {
  PointwiseOp op;
  double (*exact)(double);
  double ulps;
  float largest;
};

const Function kFunctions[] = {
    {PointwiseOp::kExp, std::exp, 1.5, 110},
    {PointwiseOp::kLog, std::log, 1.5, 3e38F},
    {PointwiseOp::kErf, std::erf, 2.0, 6},
    {PointwiseOp::kTanh, std::tanh, 2.0, 20},
    {PointwiseOp::kSigmoid,
     [](double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }, 2.5, 110},
    {PointwiseOp::kSoftplus,
     [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, 3.0, 100},
    {PointwiseOp::kSin, std::sin, 2.0, 1e6F},
    {PointwiseOp::kCos, std::cos, 2.0, 1e6F},
    {PointwiseOp::kSqrt, std::sqrt, 0.51, 3e38F},
    {PointwiseOp::kRound, [](double x) { return std::nearbyint(x); }, 0, 1e8F},
    {PointwiseOp::kFloor, std::floor, 0, 1e8F},
    {PointwiseOp::kCeil, std::ceil, 0, 1e8F},
};

TEST(Simd, FunctionsStayWithinTheirErrors) {
  std::mt19937 random(1);
  for (const Kernels* table : usableKernels()) {
    for (const Function& f : kFunctions) {
      std::vector<float> x;
      for (int i = 0; i < 20000; ++i) {
        const double u = std::uniform_real_distribution<double>(-1, 1)(random);
        x.push_back(static_cast<float>(i % 3 == 0   ? u
                                       : i % 3 == 1 ? u * f.largest
                                                    : u * std::exp2(-static_cast<double>(random() % 140))));
      }
      for (const float s : {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 1e-45F, 88.7F, 88.8F, -87.4F, -103.9F,
                            0.5F, 1.5F, 2.5F, -0.5F, 8388607.5F})
        x.push_back(s);
      std::vector<float> y(x.size());
      table->map[static_cast<std::size_t>(f.op)](x.data(), x.data(), x.data(), y.data(),
                                                 static_cast<std::int64_t>(x.size()));
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_LE(ulpsApart(y[i], f.exact(static_cast<double>(x[i]))), f.ulps)
            << table->name << " operation " << static_cast<int>(f.op) << " of " << x[i] << " is " << y[i];
    }
  }
}

TEST(Simd, ZerosKeepTheirSign) {
  for (const Kernels* table : usableKernels()) {
    for (const PointwiseOp op : {PointwiseOp::kRound, PointwiseOp::kFloor, PointwiseOp::kCeil,
                                 PointwiseOp::kTanh, PointwiseOp::kErf, PointwiseOp::kSin}) {
      const float x[3] = {-0.0F, 0.0F, -0.0F};
      float y[3];
      table->map[static_cast<std::size_t>(op)](x, x, x, y, 3);
      EXPECT_TRUE(std::signbit(y[0]) && !std::signbit(y[1])) << table->name << static_cast<int>(op);
    }
  }
}

TEST(Simd, VariantsAgreeOnElementwiseBits) {
  std::mt19937 random(2);
  std::vector<float> x(1003);
  for (float& v : x) v = static_cast<float>(std::normal_distribution<double>(0, 3)(random));
  const auto all = usableKernels();
  for (std::size_t op = 0; op < kPointwiseOps; ++op) {
    if (all[0]->map[op] == nullptr) continue;
    std::vector<float> first(x.size()), other(x.size());
    all[0]->map[op](x.data(), x.data(), x.data(), first.data(), 1003);
    for (const Kernels* table : all) {
      table->map[op](x.data(), x.data(), x.data(), other.data(), 1003);
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_TRUE(first[i] == other[i] || (std::isnan(first[i]) && std::isnan(other[i])))
            << table->name << " operation " << op;
    }
  }
}

TEST(Simd, FoldsOfEveryLength) {
  std::mt19937 random(3);
  for (const Kernels* table : usableKernels()) {
    for (std::int64_t n : {0, 1, 3, 7, 8, 9, 31, 64, 100, 511, 512, 513, 5000}) {
      std::vector<float> x(static_cast<std::size_t>(n));
      double sum = 0, squares = 0, magnitudes = 0, exponentials = 0;
      float largest = -INFINITY, smallest = INFINITY;
      for (float& v : x) {
        v = static_cast<float>(std::normal_distribution<double>(1, 1)(random));
        const auto d = static_cast<double>(v);
        sum += d;
        squares += (d - 0.5) * (d - 0.5);
        magnitudes += std::fabs(d);
        exponentials += std::exp(d - 2);
        largest = std::max(largest, v);
        smallest = std::min(smallest, v);
      }
      EXPECT_NEAR(table->sum(x.data(), n), sum, 1e-6 * (magnitudes + 1));
      EXPECT_NEAR(table->sumOfSquares(x.data(), n, 0.5F), squares, 1e-6 * (squares + 1));
      EXPECT_NEAR(table->sumOfMagnitudes(x.data(), n), magnitudes, 1e-6 * (magnitudes + 1));
      EXPECT_NEAR(table->sumOfExponentials(x.data(), n, 2), exponentials, 1e-6 * (exponentials + 1));
      EXPECT_EQ(table->largest(x.data(), n), largest);
      EXPECT_EQ(table->smallest(x.data(), n), smallest);
      if (n == 0) continue;
      for (std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
        std::vector<float> bad = x;
        bad[static_cast<std::size_t>(at)] = NAN;
        EXPECT_TRUE(std::isnan(table->largest(bad.data(), n)) && std::isnan(table->smallest(bad.data(), n)))
            << table->name << n << at;
      }
    }
  }
}

}  // namespace
}  // namespace rota::simd
