// SPDX-License-Identifier: Apache-2.0
// Inference of convolutions and pools: pads, auto_pad, ceil_mode, dilations, groups, symbols, errors.
#include <gtest/gtest.h>

#include "op/test_graph.h"

namespace rota::op {
namespace {

using Ints = std::vector<std::int64_t>;

TEST(ConvInference, PadsStridesDilationsGroups) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, 4, 32, 17]");
  auto* w = g.input("w", DType::kFloat32, "[6, 2, 3, 5]");
  const Attributes attributes = attributesOf({{"group", std::int64_t{2}},
                                              {"strides", Ints{2, 1}},
                                              {"dilations", Ints{1, 2}},
                                              {"pads", Ints{1, 0, 2, 3}}});
  EXPECT_EQ(g.type("Conv", {x, w}, attributes), "float32[N, 6, 17, 12]");
  EXPECT_EQ(g.type("Conv", {x, w}), "R1204");  // channels without the groups
  EXPECT_EQ(g.type("Conv", {x, g.input("v", DType::kFloat32, "[6, 4, 3, 3, 3]")}), "R1204");
  EXPECT_EQ(g.type("Conv", {x, g.input("big", DType::kFloat32, "[6, 4, 40, 3]")}), "R1204");
  EXPECT_EQ(g.type("Conv", {x, w}, attributesOf({{"group", std::int64_t{2}}, {"strides", Ints{2}}})),
            "R1206");
  EXPECT_EQ(
      g.type("Conv", {x, w}, attributesOf({{"group", std::int64_t{2}}, {"auto_pad", std::string("AROUND")}})),
      "R1206");
  EXPECT_EQ(g.type("Conv", {x, w}, attributesOf({{"group", std::int64_t{2}}, {"kernel_shape", Ints{3, 3}}})),
            "R1204");
}

TEST(ConvInference, SymbolicImages) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, 3, H, W]");
  auto* w = g.input("w", DType::kFloat32, "[8, 3, 3, 3]");
  EXPECT_EQ(g.type("Conv", {x, w}, attributesOf({{"pads", Ints{1, 1, 1, 1}}})), "float32[N, 8, H, W]");
  EXPECT_EQ(g.type("Conv", {x, w}, attributesOf({{"auto_pad", std::string("SAME_UPPER")}})),
            "float32[N, 8, H, W]");
  EXPECT_EQ(g.type("Conv", {x, g.input("u", DType::kFloat32, "?")}), "float32[?]");
}

TEST(ConvTransposeInference, OutputShapeAutoPadAndPadding) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, 2, 3, 3]");
  auto* w = g.input("w", DType::kFloat32, "[2, 1, 3, 3]");
  EXPECT_EQ(g.type("ConvTranspose", {x, w}, attributesOf({{"strides", Ints{2, 2}}})), "float32[N, 1, 7, 7]");
  EXPECT_EQ(g.type("ConvTranspose", {x, w},
                   attributesOf({{"strides", Ints{2, 2}},
                                 {"auto_pad", std::string("SAME_UPPER")},
                                 {"output_padding", Ints{1, 1}}})),
            "float32[N, 1, 6, 6]");
  EXPECT_EQ(g.type("ConvTranspose", {x, w},
                   attributesOf({{"output_shape", Ints{8, 9}}, {"group", std::int64_t{2}}})),
            "float32[N, 2, 8, 9]");
  EXPECT_EQ(g.type("ConvTranspose", {x, w}, attributesOf({{"pads", Ints{3, 3, 3, 3}}})), "R1204");
}

TEST(PoolInference, CeilModeDropsWindowsThatStartBeyondTheInput) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[1, 1, 2]");
  const Attributes beyond =
      attributesOf({{"kernel_shape", Ints{1}}, {"strides", Ints{2}}, {"ceil_mode", std::int64_t{1}}});
  EXPECT_EQ(g.type("MaxPool", {x}, beyond), "float32[1, 1, 1]");
  EXPECT_EQ(g.type("AveragePool", {x}, beyond), "float32[1, 1, 1]");
  auto* y = g.input("y", DType::kFloat32, "[1, 1, 4, 4]");
  EXPECT_EQ(
      g.type("AveragePool", {y},
             attributesOf(
                 {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", std::int64_t{1}}})),
      "float32[1, 1, 2, 2]");
  EXPECT_EQ(g.type("MaxPool", {y}), "R1206");
}

TEST(PoolInference, IndicesAndGlobalPools) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat16, "[N, C, 8, H]");
  const auto both =
      g.add("MaxPool", {x}, attributesOf({{"kernel_shape", Ints{2, 1}}, {"strides", Ints{2, 1}}}), 2);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(g.typeOf(both[0]), "float16[N, C, 4, H]");
  EXPECT_EQ(g.typeOf(both[1]), "int64[N, C, 4, H]");
  EXPECT_EQ(g.type("GlobalAveragePool", {x}), "float16[N, C, 1, 1]");
  EXPECT_EQ(g.type("MaxUnpool", both, attributesOf({{"kernel_shape", Ints{2, 1}}, {"strides", Ints{2, 1}}})),
            "float16[N, C, 8, H]");
}

}  // namespace
}  // namespace rota::op
