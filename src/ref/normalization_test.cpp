// SPDX-License-Identifier: Apache-2.0
// Normalisations: hand-made values, wide ranges, per-group and per-channel parameters, long rows.
#include <cmath>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

void expectNear(const Tensor& tensor, const std::vector<double>& wanted, double tolerance = 1e-5) {
  const std::vector<double> found = valuesOf(tensor);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(found[i], wanted[i], tolerance) << "element " << i;
}

TEST(LayerNormalization, AllOutputs) {
  auto result = runKernel(
      {.name = "LayerNormalization",
       .version = 17,
       .inputs = {makeFloats({2, 2}, {1, 3, 10, 30}), makeFloats({2}, {2, 3}), makeFloats({2}, {0.5, -0.5})},
       .outputTypes = {DType::kFloat32, DType::kFloat32, DType::kFloat32},
       .outputDims = {{2, 2}, {2, 1}, {2, 1}}});
  expectNear(result.value()[0], {-1.5, 2.5, -1.5, 2.5}, 1e-4);
  expectNear(result.value()[1], {2, 20});
  expectNear(result.value()[2], {1, 0.1});
}

// Variance 160000 is beyond the range of float16; the statistics are not.
TEST(LayerNormalization, Float16OfWideRange) {
  std::vector<double> x(8 * 768);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 400 : -400;
  auto result =
      runKernel({.name = "LayerNormalization",
                 .version = 17,
                 .inputs = {makeTensor(DType::kFloat16, {8, 768}, x), makeTensor(DType::kFloat16, {}, {1})},
                 .outputTypes = {DType::kFloat16},
                 .outputDims = {{8, 768}}});
  for (double& v : x) v /= 400;
  expectNear(result.value()[0], x, 1e-3);
}

TEST(LayerNormalization, LongRowsAndScaleOfEveryDim) {
  const std::int64_t n = 3000;
  std::vector<double> x(static_cast<std::size_t>(2 * n));
  std::vector<double> wanted(x.size());
  std::vector<double> scale(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 3000 + (i % 2 == 0 ? 0.5 : -0.5);
    scale[i % scale.size()] = static_cast<double>(i % scale.size() % 7);
    wanted[i] = (i % 2 == 0 ? 1 : -1) * scale[i % scale.size()];
  }
  auto result = runKernel({.name = "LayerNormalization",
                           .version = 17,
                           .inputs = {makeFloats({2, 3, n / 3}, x), makeFloats({3, n / 3}, scale)},
                           .outputTypes = {DType::kFloat32},
                           .outputDims = {{2, 3, n / 3}}});
  Attributes attributes;
  attributes.set("axis", std::int64_t{1});
  auto wide = runKernel({.name = "LayerNormalization",
                         .version = 17,
                         .attributes = attributes,
                         .inputs = {makeFloats({2, 3, n / 3}, x), makeFloats({3, n / 3}, scale)},
                         .outputTypes = {DType::kFloat32},
                         .outputDims = {{2, 3, n / 3}}});
  expectNear(result.value()[0], wanted, 1e-3);
  expectNear(wide.value()[0], wanted, 1e-3);
}

TEST(RmsNormalization, DividesByTheRootMeanSquare) {
  auto result = runKernel({.name = "RMSNormalization",
                           .version = 23,
                           .inputs = {makeFloats({1, 2}, {3, 4}), makeFloats({2}, {1, 2})},
                           .outputTypes = {DType::kFloat32},
                           .outputDims = {{1, 2}}});
  expectNear(result.value()[0], {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)});
}

TEST(BatchNormalization, InferenceAndTraining) {
  KernelRun run{.name = "BatchNormalization",
                .version = 15,
                .inputs = {makeFloats({2, 2, 1}, {1, 10, 3, 30}), makeFloats({2}, {2, 1}),
                           makeFloats({2}, {1, 0}), makeFloats({2}, {1, 10}), makeFloats({2}, {4, 100})},
                .outputTypes = {DType::kFloat32},
                .outputDims = {{2, 2, 1}}};
  expectNear(runKernel(run).value()[0], {1, 0, 3, 2}, 1e-4);
  run.attributes.set("training_mode", std::int64_t{1});
  run.attributes.set("momentum", 0.5F);
  run.outputTypes = {DType::kFloat32, DType::kFloat32, DType::kFloat32};
  run.outputDims = {{2, 2, 1}, {2}, {2}};
  auto trained = runKernel(run);
  expectNear(trained.value()[0], {-1, -1, 3, 1}, 1e-4);
  expectNear(trained.value()[1], {1.5, 15});
  expectNear(trained.value()[2], {2.5, 100});
}

TEST(BatchNormalization, ParametersOfTheWrongSizeAreAnError) {
  const Tensor three = makeFloats({3}, {1, 1, 1});
  auto result = runKernel({.name = "BatchNormalization",
                           .inputs = {makeFloats({1, 2}, {1, 2}), three, three, three, three},
                           .outputTypes = {DType::kFloat32},
                           .outputDims = {{1, 2}}});
  ASSERT_FALSE(result.isOk());
  EXPECT_EQ(result.status().code(), ErrorCode::kShapeMismatch);
}

TEST(GroupNormalization, ParametersByGroupAndByChannel) {
  Attributes attributes;
  attributes.set("num_groups", std::int64_t{2});
  const Tensor x = makeFloats({1, 4, 1}, {1, 3, 10, 30});
  const auto run = [&](int version, std::vector<double> scale, std::vector<double> bias) {
    const auto n = static_cast<std::int64_t>(scale.size());
    return runKernel({.name = "GroupNormalization",
                      .version = version,
                      .attributes = attributes,
                      .inputs = {x, makeFloats({n}, scale), makeFloats({n}, bias)},
                      .outputTypes = {DType::kFloat32},
                      .outputDims = {{1, 4, 1}}});
  };
  expectNear(run(18, {2, 3}, {0, 1}).value()[0], {-2, 2, -2, 4}, 1e-4);
  expectNear(run(21, {1, 2, 3, 4}, {0, 0, 0, 1}).value()[0], {-1, 2, -3, 5}, 1e-4);
}

TEST(InstanceNormalization, EveryChannelOfEveryInstance) {
  auto result = runKernel(
      {.name = "InstanceNormalization",
       .inputs = {makeFloats({1, 2, 2}, {1, 3, 10, 30}), makeFloats({2}, {1, 2}), makeFloats({2}, {0, 1})},
       .outputTypes = {DType::kFloat32},
       .outputDims = {{1, 2, 2}}});
  expectNear(result.value()[0], {-1, 1, -1, 3}, 1e-4);
}

TEST(LpNormalization, BothNormsAndZero) {
  Attributes attributes;
  attributes.set("axis", std::int64_t{0});
  KernelRun run{.name = "LpNormalization",
                .attributes = attributes,
                .inputs = {makeFloats({2, 2}, {3, 0, 4, 0})},
                .outputTypes = {DType::kFloat32},
                .outputDims = {{2, 2}}};
  expectNear(runKernel(run).value()[0], {0.6, 0, 0.8, 0});
  run.attributes.set("p", std::int64_t{1});
  expectNear(runKernel(run).value()[0], {3.0 / 7, 0, 4.0 / 7, 0});
}

TEST(MeanVarianceNormalization, DefaultAxes) {
  auto result = runKernel({.name = "MeanVarianceNormalization",
                           .inputs = {makeFloats({1, 2, 1, 2}, {1, 3, 10, 30})},
                           .outputTypes = {DType::kFloat32},
                           .outputDims = {{1, 2, 1, 2}}});
  expectNear(result.value()[0], {-1, 1, -1, 1});
}

TEST(Lrn, NeighbouringChannels) {
  Attributes attributes;
  attributes.set("size", std::int64_t{3});
  attributes.set("alpha", 3.0F);
  attributes.set("beta", 1.0F);
  auto result = runKernel({.name = "LRN",
                           .attributes = attributes,
                           .inputs = {makeFloats({1, 3, 1}, {1, 2, 3})},
                           .outputTypes = {DType::kFloat32},
                           .outputDims = {{1, 3, 1}}});
  expectNear(result.value()[0], {1.0 / 6, 2.0 / 15, 3.0 / 14});
}

}  // namespace
}  // namespace rota::ref
