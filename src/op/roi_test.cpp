// SPDX-License-Identifier: Apache-2.0
// Operators on regions and boxes: RoiAlign, MaxRoiPool, NonMaxSuppression; Col2Im; the refusal of ImageDecoder.
#include <gtest/gtest.h>

#include "op/test_run.h"

namespace rota::op {
namespace {

TEST(Roi, AlignOfAWholeImageIsItsMean) {
  const Tensor x = countingFloats({1, 1, 4, 4});
  const Tensor region = ref::makeFloats({1, 4}, {0, 0, 4, 4});
  const Attributes attributes = attributesOf({{"sampling_ratio", std::int64_t{4}}});
  // Sixteen points on the centres of the elements.
  EXPECT_EQ(OperatorRun("RoiAlign", {x, region, intTensor({0})}, attributes, 1, 16).text(),
            "float32[1, 1, 1, 1] 7.5");
  EXPECT_EQ(OperatorRun("RoiAlign", {x, region, intTensor({1})}, attributes, 1, 16).text(), "R1406");
  EXPECT_EQ(
      OperatorRun("RoiAlign", {x, ref::makeFloats({0, 4}, {}), Tensor::ofInt64({}, {0})}, attributes, 1, 16)
          .text(),
      "float32[0, 1, 1, 1]");
}

TEST(Roi, MaxPoolOfQuadrants) {
  const Tensor x = countingFloats({1, 1, 4, 4});
  const Attributes attributes = attributesOf({{"pooled_shape", std::vector<std::int64_t>{2, 2}}});
  EXPECT_EQ(
      OperatorRun("MaxRoiPool", {x, ref::makeFloats({1, 5}, {0, 0, 0, 3, 3})}, attributes, 1, 22).text(),
      "float32[1, 1, 2, 2] 5 7 13 15");
  EXPECT_EQ(
      OperatorRun("MaxRoiPool", {x, ref::makeFloats({1, 5}, {2, 0, 0, 3, 3})}, attributes, 1, 22).text(),
      "R1406");
}

TEST(NonMaxSuppression, TakesTheBestAndDropsOverlaps) {
  const Tensor boxes = ref::makeFloats({1, 4, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11, 0, 100, 1, 101});
  const Tensor scores = ref::makeFloats({1, 1, 4}, {0.9, 0.95, 0.5, 0.5});
  const auto run = [&](std::int64_t most, double overlap, double score) {
    return OperatorRun(
               "NonMaxSuppression",
               {boxes, scores, intScalar(most), ref::makeFloats({}, {overlap}), ref::makeFloats({}, {score})},
               {}, 1, 11)
        .text();
  };
  EXPECT_EQ(run(10, 0.5, 0), "int64[3, 3] 0 0 1 0 0 2 0 0 3");
  EXPECT_EQ(run(10, 0.9, 0), "int64[4, 3] 0 0 1 0 0 0 0 0 2 0 0 3");
  EXPECT_EQ(run(1, 0.5, 0), "int64[1, 3] 0 0 1");
  EXPECT_EQ(run(10, 0.5, 0.5), "int64[1, 3] 0 0 1");
  EXPECT_EQ(run(0, 0.5, 0), "int64[0, 3]");
  EXPECT_EQ(OperatorRun("NonMaxSuppression", {boxes, scores}, {}, 1, 11).text(), "int64[0, 3]");
}

TEST(Col2Im, AddsWhereBlocksOverlap) {
  // Blocks of 2 at each of the 3 places of a row of 4: columns [2, 3].
  const Tensor columns = ref::makeFloats({1, 2, 3}, {1, 2, 3, 10, 20, 30});
  EXPECT_EQ(OperatorRun("Col2Im", {columns, intTensor({4}), intTensor({2})}, {}, 1, 18).text(),
            "float32[1, 1, 4] 1 12 23 30");
  EXPECT_EQ(OperatorRun("Col2Im", {columns, intTensor({9}), intTensor({2})}, {}, 1, 18).text(), "R1204");
}

TEST(ImageDecoder, IsRefusedWithAReason) {
  TestGraph g;
  EXPECT_EQ(g.type("ImageDecoder", {g.input("x", DType::kUInt8, "[100]")}), "R1201");
  EXPECT_NE(g.status().toString().find("pass the pixels"), std::string::npos);
}

}  // namespace
}  // namespace rota::op
