// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Values = std::vector<double>;
using Sizes = std::vector<std::int64_t>;

Values randomValues(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Values values(static_cast<std::size_t>(count));
  for (double& v : values) v = uniform(generator);
  return values;
}

Values plainDft(const Values& x, std::int64_t length, bool inverse) {  // pairs in, pairs out
  Values y;
  const auto n = static_cast<std::int64_t>(x.size()) / 2;
  for (std::int64_t k = 0; k < length; ++k) {
    std::complex<double> sum = 0;
    for (std::int64_t t = 0; t < std::min(n, length); ++t) {
      const double angle = (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(k * t % length) /
                           static_cast<double>(length);
      sum += std::complex(x[static_cast<std::size_t>(2 * t)], x[static_cast<std::size_t>(2 * t + 1)]) *
             std::polar(1.0, angle);
    }
    if (inverse) sum /= static_cast<double>(length);
    y.push_back(sum.real());
    y.push_back(sum.imag());
  }
  return y;
}

void expectNear(const Values& found, const Values& expected, double tolerance = 1e-11) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], tolerance) << i;
}

Values dft(const Sizes& dims, const Values& x, std::int64_t axis, const Sizes& outDims, bool inverse,
           bool oneSided, std::int64_t length = 0) {
  KernelRun run{
      .name = "DFT",
      .inputs = {makeTensor(DType::kFloat64, dims, x), length > 0 ? Tensor::ofInt64({length}, {}) : Tensor(),
                 Tensor::ofInt64({axis}, {})},
      .outputTypes = {DType::kFloat64},
      .outputDims = {outDims}};
  run.attributes.set("inverse", std::int64_t{inverse});
  run.attributes.set("onesided", std::int64_t{oneSided});
  const auto y = runKernel(run);
  EXPECT_TRUE(y.isOk()) << y.status().toString();
  return y.isOk() ? valuesOf((*y)[0]) : Values{};
}

TEST(Dft, EveryLengthEqualsTheDefinition) {
  for (std::int64_t n = 1; n <= 40; ++n) {
    const Values x = randomValues(2 * n, static_cast<unsigned>(n));
    for (const bool inverse : {false, true})
      expectNear(dft({n, 2}, x, 0, {n, 2}, inverse, false), plainDft(x, n, inverse));
  }
}

TEST(Dft, OneSidedThereAndBack) {
  for (const std::int64_t n : {7, 8, 30, 31}) {
    const Values x = randomValues(n, 3);
    const Values half = dft({1, n, 1}, x, 1, {1, n / 2 + 1, 2}, false, true);
    expectNear(dft({1, n / 2 + 1, 2}, half, 1, {1, n, 1}, true, true, n), x);
  }
}

TEST(Dft, AnyAxisCutAndPadded) {
  const Values x = randomValues(3 * 4 * 2, 4);  // [3, 4, 2], transform axis 0
  for (const std::int64_t length : {2, 3, 5}) {
    const Values y = dft({3, 4, 2}, x, 0, {length, 4, 2}, false, false, length);
    for (std::int64_t column = 0; column < 4; ++column) {
      Values line, found;
      for (std::int64_t i = 0; i < 3; ++i)
        line.insert(line.end(), x.begin() + (i * 4 + column) * 2, x.begin() + (i * 4 + column) * 2 + 2);
      for (std::int64_t i = 0; i < length; ++i)
        found.insert(found.end(), y.begin() + (i * 4 + column) * 2, y.begin() + (i * 4 + column) * 2 + 2);
      expectNear(found, plainDft(line, length, false));
    }
  }
}

TEST(Stft, TransformsWeightedFrames) {
  const Values x = randomValues(11, 5), window = {0.5, 1, 2, 1};
  const auto y = runKernel({.name = "STFT",
                            .inputs = {makeTensor(DType::kFloat64, {1, 11, 1}, x), Tensor::ofInt64({3}, {}),
                                       makeTensor(DType::kFloat64, {4}, window)},
                            .outputTypes = {DType::kFloat64},
                            .outputDims = {{1, 3, 3, 2}}});
  ASSERT_TRUE(y.isOk()) << y.status().toString();
  Values expected;
  for (std::size_t frame = 0; frame < 3; ++frame) {
    Values weighted;
    for (std::size_t i = 0; i < 4; ++i) weighted.insert(weighted.end(), {x[3 * frame + i] * window[i], 0});
    const Values spectrum = plainDft(weighted, 4, false);
    expected.insert(expected.end(), spectrum.begin(), spectrum.begin() + 6);
  }
  expectNear(valuesOf((*y)[0]), expected);
}

TEST(WindowFunctions, PeriodicAndSymmetric) {
  KernelRun run{.name = "HannWindow",
                .inputs = {Tensor::ofInt64({4}, {})},
                .outputTypes = {DType::kFloat64},
                .outputDims = {{4}}};
  expectNear(valuesOf((*runKernel(run))[0]), {0, 0.5, 1, 0.5});
  run.attributes.set("periodic", std::int64_t{0});
  expectNear(valuesOf((*runKernel(run))[0]), {0, 0.75, 0.75, 0});
  run.name = "BlackmanWindow";
  expectNear(valuesOf((*runKernel(run))[0]), {0, 0.63, 0.63, 0});
  run.name = "HammingWindow";
  expectNear(valuesOf((*runKernel(run))[0]), {4.0 / 46, 0.771739130434783, 0.771739130434783, 4.0 / 46},
             1e-12);
}

TEST(MelWeightMatrix, TrianglesPeakAtOne) {
  const auto y =
      runKernel({.name = "MelWeightMatrix",
                 .inputs = {Tensor::ofInt64({3}, {}), Tensor::ofInt64({32}, {}), Tensor::ofInt64({8000}, {}),
                            makeFloats({}, {0}), makeFloats({}, {4000})},
                 .outputTypes = {DType::kFloat32},
                 .outputDims = {{17, 3}}});
  ASSERT_TRUE(y.isOk()) << y.status().toString();
  const Values m = valuesOf((*y)[0]);
  for (std::size_t band = 0; band < 3; ++band) {
    double peak = 0;
    for (std::size_t bin = 0; bin < 17; ++bin) peak = std::max(peak, m[bin * 3 + band]);
    EXPECT_EQ(peak, 1);
  }
  EXPECT_EQ(m[0], 0);
}

}  // namespace
}  // namespace rota::ref
