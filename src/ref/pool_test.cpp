// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Sizes = std::vector<std::int64_t>;

std::vector<double> counting(std::int64_t count, double first) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

KernelRun poolRun(const char* name, Sizes dims, const std::vector<double>& x, Sizes out, Sizes kernel,
                  DType dtype = DType::kFloat32) {
  KernelRun run{.name = name,
                .inputs = {makeTensor(dtype, std::move(dims), x)},
                .outputTypes = {dtype},
                .outputDims = {std::move(out)}};
  run.attributes.set("kernel_shape", std::move(kernel));
  return run;
}

std::vector<double> first(const KernelRun& run) {
  const auto y = runKernel(run);
  EXPECT_TRUE(y.isOk()) << y.status().toString();
  return y.isOk() ? valuesOf((*y)[0]) : std::vector<double>{};
}

TEST(AveragePool, CeilModeCountsPaddingButNotWhatLiesBeyondIt) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
    KernelRun run = poolRun("AveragePool", {1, 1, 4, 4}, counting(16, 1), {1, 1, 2, 2}, {3, 3}, dtype);
    run.attributes.set("strides", Sizes{2, 2});
    run.attributes.set("ceil_mode", std::int64_t{1});
    run.attributes.set("count_include_pad", std::int64_t{1});
    EXPECT_EQ(first(run), (std::vector<double>{6, 7.5, 12, 13.5}));
  }
}

TEST(AveragePool, SameLowerCountsPaddingAtTheEnd) {
  KernelRun run =
      poolRun("AveragePool", {1, 1, 6, 2}, counting(12, 0), {1, 1, 6, 2}, {5, 1}, DType::kFloat64);
  run.attributes.set("auto_pad", std::string("SAME_LOWER"));
  run.attributes.set("count_include_pad", std::int64_t{1});
  const std::vector<double> expected = {1.2, 1.8, 2.4, 3.2, 4, 5, 6, 7, 5.6, 6.4, 4.8, 5.4};
  const auto y = first(run);
  ASSERT_EQ(y.size(), expected.size());
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-12) << i;
}

TEST(AveragePool, LeavesOutPaddingAndSkipsByDilation) {
  KernelRun run = poolRun("AveragePool", {1, 1, 5}, {1, 2, 4, 8, 16}, {1, 1, 3}, {2});
  run.attributes.set("dilations", Sizes{3});
  run.attributes.set("pads", Sizes{1, 0});
  EXPECT_EQ(first(run), (std::vector<double>{4, 4.5, 9}));
}

TEST(MaxPool, WindowsInPaddingOnlyNeverHappenAndPaddingNeverWins) {
  KernelRun run = poolRun("MaxPool", {1, 1, 2}, {5, 7}, {1, 1, 1}, {1});
  run.attributes.set("strides", Sizes{2});
  run.attributes.set("ceil_mode", std::int64_t{1});
  EXPECT_EQ(first(run), (std::vector<double>{5}));
  KernelRun negative = poolRun("MaxPool", {1, 1, 3}, {-5, -7, -1}, {1, 1, 3}, {3});
  negative.attributes.set("pads", Sizes{1, 1});
  EXPECT_EQ(first(negative), (std::vector<double>{-5, -1, -1}));
}

TEST(MaxPool, IndicesByRowsAndByColumns) {
  KernelRun run = poolRun("MaxPool", {1, 2, 3, 3}, {1, 2, 3, 4, 9, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1},
                          {1, 2, 2, 2}, {2, 2});
  run.outputTypes.push_back(DType::kInt64);
  run.outputDims.push_back({1, 2, 2, 2});
  const auto rows = runKernel(run);
  ASSERT_TRUE(rows.isOk());
  EXPECT_EQ(valuesOf((*rows)[0]), (std::vector<double>{9, 9, 9, 9, 9, 8, 6, 5}));
  EXPECT_EQ(intsOf((*rows)[1].view()), (Sizes{4, 4, 4, 4, 9, 10, 12, 13}));
  run.attributes.set("storage_order", std::int64_t{1});
  const auto columns = runKernel(run);
  ASSERT_TRUE(columns.isOk());
  EXPECT_EQ(intsOf((*columns)[1].view()), (Sizes{4, 4, 4, 4, 9, 12, 10, 13}));
}

TEST(MaxPool, TheFirstOfEqualElementsIsChosenAndNaNWins) {
  KernelRun run = poolRun("MaxPool", {1, 1, 4}, {3, 3, std::nan(""), 1}, {1, 1, 3}, {2});
  run.outputTypes.push_back(DType::kInt64);
  run.outputDims.push_back({1, 1, 3});
  const auto y = runKernel(run);
  ASSERT_TRUE(y.isOk());
  EXPECT_EQ(valuesOf((*y)[0])[0], 3);
  EXPECT_TRUE(std::isnan(valuesOf((*y)[0])[1]));
  EXPECT_TRUE(std::isnan(valuesOf((*y)[0])[2]));
  EXPECT_EQ(intsOf((*y)[1].view()), (Sizes{0, 2, 2}));
  EXPECT_EQ(first(poolRun("MaxPool", {1, 1, 3}, {-100, 127, 5}, {1, 1, 2}, {2}, DType::kInt8)),
            (std::vector<double>{127, 127}));
}

TEST(LpPool, NormsOfEveryOrder) {
  KernelRun run = poolRun("LpPool", {1, 1, 3}, {-3, 4, 0}, {1, 1, 2}, {2}, DType::kFloat64);
  EXPECT_EQ(first(run), (std::vector<double>{5, 4}));
  run.attributes.set("p", std::int64_t{1});
  EXPECT_EQ(first(run), (std::vector<double>{7, 4}));
  run.attributes.set("p", std::int64_t{3});
  EXPECT_NEAR(first(run)[0], std::cbrt(91.0), 1e-12);
}

TEST(GlobalPools, FoldEachChannel) {
  const auto run = [](const char* name) {
    return first({.name = name,
                  .inputs = {makeFloats({1, 2, 2, 2}, {3, 4, 0, 0, 1, 2, 3, -6})},
                  .outputTypes = {DType::kFloat32},
                  .outputDims = {{1, 2, 1, 1}}});
  };
  EXPECT_EQ(run("GlobalAveragePool"), (std::vector<double>{1.75, 0}));
  EXPECT_EQ(run("GlobalMaxPool"), (std::vector<double>{4, 3}));
  EXPECT_EQ(run("GlobalLpPool")[0], 5);
}

TEST(MaxUnpool, PutsValuesBackAndRefusesIndicesOutside) {
  KernelRun run{
      .name = "MaxUnpool",
      .inputs = {makeFloats({1, 1, 2, 2}, {1, 2, 3, 4}), Tensor::ofInt64({5, 7, 13, 15}, {1, 1, 2, 2})},
      .outputTypes = {DType::kFloat32},
      .outputDims = {{1, 1, 4, 4}}};
  run.attributes.set("kernel_shape", Sizes{2, 2});
  run.attributes.set("strides", Sizes{2, 2});
  EXPECT_EQ(first(run), (std::vector<double>{0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4}));
  run.inputs[1] = Tensor::ofInt64({5, 7, 13, 16}, {1, 1, 2, 2});
  const auto y = runKernel(run);
  ASSERT_FALSE(y.isOk());
  EXPECT_EQ(y.status().code(), ErrorCode::kBadIndex);
}

}  // namespace
}  // namespace rota::ref
