// SPDX-License-Identifier: Apache-2.0
#include "ref/quantized_product.h"

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Values = std::vector<double>;

Values first(const KernelRun& run) {
  const auto y = runKernel(run);
  EXPECT_TRUE(y.isOk()) << y.status().toString();
  return y.isOk() ? valuesOf((*y)[0]) : Values{};
}

TEST(MatMulInteger, IsExactWherePairsOfProductsExceed16Bits) {
  EXPECT_EQ(first({.name = "MatMulInteger",
                   .inputs = {makeTensor(DType::kUInt8, {1, 3}, {210, 198, 234}),
                              makeTensor(DType::kInt8, {3, 1}, {-81, -80, 127})},
                   .outputTypes = {DType::kInt32},
                   .outputDims = {{1, 1}}}),
            (Values{-3132}));
  EXPECT_EQ(first({.name = "MatMulInteger",
                   .inputs = {makeTensor(DType::kUInt8, {1, 64}, Values(64, 255)),
                              makeTensor(DType::kInt8, {64, 1}, Values(64, 127))},
                   .outputTypes = {DType::kInt32},
                   .outputDims = {{1, 1}}}),
            (Values{2072640}));
}

TEST(MatMulInteger, ZeroPointsOfRowsAndColumns) {
  EXPECT_EQ(
      first({.name = "MatMulInteger",
             .inputs = {makeTensor(DType::kUInt8, {2, 2}, {11, 12, 21, 22}),
                        makeTensor(DType::kInt8, {2, 2}, {1, 2, 3, 4}),
                        makeTensor(DType::kUInt8, {2}, {10, 20}), makeTensor(DType::kInt8, {2}, {1, -1})},
             .outputTypes = {DType::kInt32},
             .outputDims = {{2, 2}}}),
      (Values{4, 13, 4, 13}));  // [[1, 2], [1, 2]] * [[0, 3], [2, 5]]
}

TEST(QLinearMatMul, RoundsTiesToEvenAndSaturates) {
  const KernelRun run{
      .name = "QLinearMatMul",
      .inputs = {makeTensor(DType::kUInt8, {1, 1}, {5}), makeFloats({}, {0.5}),
                 makeTensor(DType::kUInt8, {}, {0}), makeTensor(DType::kInt8, {1, 4}, {1, 3, 100, -100}),
                 makeFloats({}, {1}), makeTensor(DType::kInt8, {}, {0}), makeFloats({}, {1}),
                 makeTensor(DType::kUInt8, {}, {3})},
      .outputTypes = {DType::kUInt8},
      .outputDims = {{1, 4}}};
  EXPECT_EQ(first(run), (Values{5, 11, 253, 0}));  // 2.5 and 7.5 go to 2 and 8
}

TEST(ConvInteger, PadsWithTheZeroPoint) {
  KernelRun run{
      .name = "ConvInteger",
      .inputs = {makeTensor(DType::kUInt8, {1, 1, 3}, {11, 12, 13}),
                 makeTensor(DType::kUInt8, {1, 1, 3}, {1, 1, 1}), makeTensor(DType::kUInt8, {}, {10})},
      .outputTypes = {DType::kInt32},
      .outputDims = {{1, 1, 3}}};
  run.attributes.set("pads", std::vector<std::int64_t>{1, 1});
  EXPECT_EQ(first(run), (Values{3, 6, 5}));
}

TEST(QLinearConv, ScalesOfFiltersAndBias) {
  const KernelRun run{
      .name = "QLinearConv",
      .inputs = {makeTensor(DType::kUInt8, {1, 1, 2}, {12, 14}), makeFloats({}, {0.5}),
                 makeTensor(DType::kUInt8, {}, {10}), makeTensor(DType::kInt8, {2, 1, 1}, {2, 3}),
                 makeFloats({2}, {1, 2}), makeTensor(DType::kInt8, {2}, {0, 1}), makeFloats({}, {0.5}),
                 makeTensor(DType::kUInt8, {}, {100}), makeTensor(DType::kInt32, {2}, {4, -4})},
      .outputTypes = {DType::kUInt8},
      .outputDims = {{1, 2, 2}}};
  EXPECT_EQ(first(run), (Values{108, 112, 100, 108}));
}

}  // namespace
}  // namespace rota::ref
