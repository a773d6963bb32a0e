// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Values = std::vector<double>;

KernelRun lossRun(const char* reduction, std::vector<std::int64_t> labels) {
  const bool none = std::string(reduction) == "none";
  KernelRun run{.name = "NegativeLogLikelihoodLoss",
                .inputs = {makeFloats({2, 3}, {-1, -2, -3, -4, -5, -6}),
                           Tensor::ofInt64(std::move(labels), {2}), makeFloats({3}, {1, 2, 4})},
                .outputTypes = {DType::kFloat32},
                .outputDims = {none ? std::vector<std::int64_t>{2} : std::vector<std::int64_t>{}}};
  run.attributes.set("reduction", std::string(reduction));
  return run;
}

TEST(NegativeLogLikelihoodLoss, ReducesWithWeights) {
  EXPECT_EQ(valuesOf((*runKernel(lossRun("none", {1, 2})))[0]), (Values{4, 24}));
  EXPECT_EQ(valuesOf((*runKernel(lossRun("sum", {1, 2})))[0]), (Values{28}));
  EXPECT_FLOAT_EQ(static_cast<float>(valuesOf((*runKernel(lossRun("mean", {1, 2})))[0])[0]), 28.0F / 6);
}

TEST(NegativeLogLikelihoodLoss, IgnoresAndRefusesLabels) {
  KernelRun run = lossRun("mean", {1, -7});
  EXPECT_EQ(runKernel(run).status().code(), ErrorCode::kBadIndex);
  run.attributes.set("ignore_index", std::int64_t{-7});
  EXPECT_EQ(valuesOf((*runKernel(run))[0]), (Values{2}));
}

TEST(SoftmaxCrossEntropyLoss, IsStableForLargeScores) {
  const KernelRun run{
      .name = "SoftmaxCrossEntropyLoss",
      .inputs = {makeTensor(DType::kFloat64, {1, 2, 1}, {1000, 1000}), Tensor::ofInt64({1}, {1, 1})},
      .outputTypes = {DType::kFloat64, DType::kFloat64},
      .outputDims = {{}, {1, 2, 1}}};
  const auto y = runKernel(run);
  ASSERT_TRUE(y.isOk()) << y.status().toString();
  EXPECT_NEAR(valuesOf((*y)[0])[0], std::log(2.0), 1e-12);
  EXPECT_NEAR(valuesOf((*y)[1])[0], -std::log(2.0), 1e-12);
}

}  // namespace
}  // namespace rota::ref
