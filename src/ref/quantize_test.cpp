// SPDX-License-Identifier: Apache-2.0
// Quantisation per tensor, axis and block, ties and saturation; random numbers: seeds, ranges, moments.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

TEST(QuantizeLinear, TiesToEvenAndSaturates) {
  auto result = runKernel({.name = "QuantizeLinear",
                           .inputs = {makeFloats({6}, {1, 3, 5, -1, 1000, -1000}), makeFloats({}, {2}),
                                      makeTensor(DType::kInt8, {}, {1})},
                           .outputTypes = {DType::kInt8},
                           .outputDims = {{6}}});
  EXPECT_EQ(valuesOf(result.value()[0]), (std::vector<double>{1, 3, 3, 1, 127, -128}));
}

TEST(QuantizeLinear, PerAxisAndPackedTypes) {
  Attributes attributes;
  attributes.set("axis", std::int64_t{0});
  auto result = runKernel({.name = "QuantizeLinear",
                           .attributes = attributes,
                           .inputs = {makeFloats({2, 3}, {1, 2, 3, 10, 20, 300}), makeFloats({2}, {1, 10}),
                                      makeTensor(DType::kUInt4, {2}, {0, 1})},
                           .outputTypes = {DType::kUInt4},
                           .outputDims = {{2, 3}}});
  EXPECT_EQ(valuesOf(result.value()[0]), (std::vector<double>{1, 2, 3, 2, 3, 15}));
}

TEST(QuantizeLinear, FloatTargets) {
  KernelRun run{.name = "QuantizeLinear",
                .inputs = {makeFloats({3}, {1, 1000, -1e6}), makeFloats({}, {2}),
                           makeTensor(DType::kFloat8E4M3FN, {}, {0})},
                .outputTypes = {DType::kFloat8E4M3FN},
                .outputDims = {{3}}};
  EXPECT_EQ(valuesOf(runKernel(run).value()[0]), (std::vector<double>{0.5, 448, -448}));
  run.attributes.set("saturate", std::int64_t{0});
  EXPECT_TRUE(std::isnan(valuesOf(runKernel(run).value()[0])[1]));
}

TEST(DequantizeLinear, PerAxisInTheMiddleAndLast) {
  for (const std::int64_t axis : {1, 2}) {
    Attributes attributes;
    attributes.set("axis", axis);
    auto result = runKernel({.name = "DequantizeLinear",
                             .attributes = attributes,
                             .inputs = {makeTensor(DType::kUInt8, {1, 2, 2}, {1, 2, 3, 4}),
                                        makeFloats({2}, {1, 10}), makeTensor(DType::kUInt8, {2}, {1, 2})},
                             .outputTypes = {DType::kFloat32},
                             .outputDims = {{1, 2, 2}}});
    const std::vector<double> wanted =
        axis == 1 ? std::vector<double>{0, 1, 10, 20} : std::vector<double>{0, 0, 2, 20};
    EXPECT_EQ(valuesOf(result.value()[0]), wanted) << "axis " << axis;
  }
}

TEST(DequantizeLinear, BlocksAlongEitherAxisWithARest) {
  Attributes attributes;
  attributes.set("block_size", std::int64_t{2});
  attributes.set("axis", std::int64_t{1});
  auto along = runKernel({.name = "DequantizeLinear",
                          .attributes = attributes,
                          .inputs = {makeTensor(DType::kInt4, {2, 3}, {1, 2, 3, 4, 5, 6}),
                                     makeFloats({2, 2}, {1, 10, 100, 1000})},
                          .outputTypes = {DType::kFloat32},
                          .outputDims = {{2, 3}}});
  EXPECT_EQ(valuesOf(along.value()[0]), (std::vector<double>{1, 2, 30, 400, 500, 6000}));
  attributes.set("axis", std::int64_t{0});
  auto across = runKernel({.name = "DequantizeLinear",
                           .attributes = attributes,
                           .inputs = {makeTensor(DType::kInt4, {3, 2}, {1, 2, 3, 4, 5, 6}),
                                      makeFloats({2, 2}, {1, 10, 100, 1000})},
                           .outputTypes = {DType::kFloat32},
                           .outputDims = {{3, 2}}});
  EXPECT_EQ(valuesOf(across.value()[0]), (std::vector<double>{1, 20, 3, 40, 500, 6000}));
}

TEST(DequantizeLinear, ScaleOfTheWrongSizeIsAnError) {
  auto result =
      runKernel({.name = "DequantizeLinear",
                 .inputs = {makeTensor(DType::kInt8, {2, 3}, {1, 2, 3, 4, 5, 6}), makeFloats({2}, {1, 10})},
                 .outputTypes = {DType::kFloat32},
                 .outputDims = {{2, 3}}});
  ASSERT_FALSE(result.isOk());
  EXPECT_EQ(result.status().code(), ErrorCode::kShapeMismatch);
}

TEST(DynamicQuantizeLinear, RangeIncludesZero) {
  const auto run = [](const std::vector<double>& x) {
    const auto n = static_cast<std::int64_t>(x.size());
    return runKernel({.name = "DynamicQuantizeLinear",
                      .inputs = {makeFloats({n}, x)},
                      .outputTypes = {DType::kUInt8, DType::kFloat32, DType::kUInt8},
                      .outputDims = {{n}, {}, {}}})
        .value();
  };
  const auto both = run({-1, 0, 4.1});
  EXPECT_EQ(valuesOf(both[0]), (std::vector<double>{0, 50, 255}));
  EXPECT_EQ(valuesOf(both[1])[0], static_cast<double>(5.1F / 255.0F));
  EXPECT_EQ(valuesOf(both[2]), std::vector<double>{50});
  const auto zeros = run({0, 0});
  EXPECT_EQ(valuesOf(zeros[0]), (std::vector<double>{0, 0}));
  EXPECT_EQ(valuesOf(zeros[2]), std::vector<double>{0});
}

Attributes seeded(float seed) {
  Attributes attributes;
  attributes.set("seed", seed);
  return attributes;
}

std::vector<double> draw(const std::string& name, std::int64_t n, Attributes attributes, int threads = 2) {
  return valuesOf(runKernel({.name = name,
                             .attributes = std::move(attributes),
                             .outputTypes = {DType::kFloat64},
                             .outputDims = {{n}},
                             .threads = threads})
                      .value()[0]);
}

TEST(Random, SeedsRepeatWhateverTheThreads) {
  EXPECT_EQ(draw("RandomUniform", 100000, seeded(3), 1), draw("RandomUniform", 100000, seeded(3), 3));
  EXPECT_NE(draw("RandomUniform", 100, seeded(3)), draw("RandomUniform", 100, seeded(4)));
  EXPECT_NE(draw("RandomUniform", 100, {}), draw("RandomUniform", 100, {}));
}

TEST(Random, Moments) {
  constexpr std::int64_t kCount = 200000;
  Attributes attributes = seeded(1);
  attributes.set("low", -1.0F);
  attributes.set("high", 3.0F);
  const auto uniform = draw("RandomUniform", kCount, attributes);
  EXPECT_GE(*std::min_element(uniform.begin(), uniform.end()), -1);
  EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 3);
  EXPECT_NEAR(std::accumulate(uniform.begin(), uniform.end(), 0.0) / kCount, 1, 0.02);
  attributes.set("mean", 5.0F);
  attributes.set("scale", 2.0F);
  const auto normal = draw("RandomNormal", kCount, attributes);
  const double mean = std::accumulate(normal.begin(), normal.end(), 0.0) / kCount;
  double variance = 0;
  for (double v : normal) variance += (v - mean) * (v - mean) / kCount;
  EXPECT_NEAR(mean, 5, 0.03);
  EXPECT_NEAR(variance, 4, 0.08);
}

TEST(Random, BernoulliAndMultinomialFollowTheirProbabilities) {
  const std::vector<double> p(100000, 0.25);
  const auto bits = valuesOf(runKernel({.name = "Bernoulli",
                                        .attributes = seeded(7),
                                        .inputs = {makeFloats({100000}, p)},
                                        .outputTypes = {DType::kBool},
                                        .outputDims = {{100000}}})
                                 .value()[0]);
  EXPECT_NEAR(std::accumulate(bits.begin(), bits.end(), 0.0) / 100000, 0.25, 0.01);
  const auto classes =
      valuesOf(runKernel({.name = "Multinomial",
                          .attributes = seeded(7),
                          .inputs = {makeFloats({1, 3}, {std::log(0.5), -1e30, std::log(0.5)})},
                          .outputTypes = {DType::kInt32},
                          .outputDims = {{1, 50000}}})
                   .value()[0]);
  EXPECT_EQ(std::count(classes.begin(), classes.end(), 1.0), 0);
  EXPECT_NEAR(static_cast<double>(std::count(classes.begin(), classes.end(), 2.0)), 25000, 500);
}

TEST(Dropout, InferenceCopiesAndTrainingDrops) {
  const std::vector<double> ones(10000, 1.0);
  KernelRun run{.name = "Dropout",
                .inputs = {makeFloats({10000}, ones), makeFloats({}, {0.25})},
                .outputTypes = {DType::kFloat32, DType::kBool},
                .outputDims = {{10000}, {10000}}};
  auto copied = runKernel(run);
  EXPECT_EQ(valuesOf(copied.value()[0]), ones);
  EXPECT_EQ(valuesOf(copied.value()[1]), ones);
  run.inputs.push_back(makeTensor(DType::kBool, {}, {1}));
  run.attributes.set("seed", std::int64_t{5});
  const auto dropped = valuesOf(runKernel(run).value()[0]);
  EXPECT_NEAR(static_cast<double>(std::count(dropped.begin(), dropped.end(), 0.0)), 2500, 150);
  EXPECT_NEAR(*std::max_element(dropped.begin(), dropped.end()), 4.0 / 3, 1e-6);
}

}  // namespace
}  // namespace rota::ref
