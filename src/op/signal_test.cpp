// SPDX-License-Identifier: Apache-2.0
// Inference of the signal operators: lengths from constants, axes from attributes and inputs, symbols.
#include <gtest/gtest.h>

#include "op/test_graph.h"

namespace rota::op {
namespace {

TEST(DftInference, LengthsAndSides) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[B, 16, 1]");
  EXPECT_EQ(g.type("DFT", {x}, attributesOf({{"onesided", std::int64_t{1}}})), "float32[B, 9, 2]");
  EXPECT_EQ(g.type("DFT", {x, g.scalar(20)}), "float32[B, 20, 2]");
  EXPECT_EQ(g.type("DFT", {x, nullptr, g.scalar(0)}), "float32[B, 16, 2]");
  EXPECT_EQ(g.type("DFT", {x, nullptr, g.scalar(-1)}), "R1206");
  EXPECT_EQ(g.type("DFT", {g.input("z", DType::kFloat32, "[9, 2]")},
                   attributesOf({{"inverse", std::int64_t{1}}, {"onesided", std::int64_t{1}}})),
            "float32[16, 1]");
  EXPECT_EQ(g.type("DFT", {x}, attributesOf({{"axis", std::int64_t{1}}}), 17), "float32[B, 16, 2]");
}

TEST(StftInference, FramesAndBins) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[B, 100, 1]");
  EXPECT_EQ(g.type("STFT", {x, g.scalar(10), g.input("w", DType::kFloat32, "[16]")}), "float32[B, 9, 9, 2]");
  EXPECT_EQ(
      g.type("STFT", {x, g.scalar(10), nullptr, g.scalar(20)}, attributesOf({{"onesided", std::int64_t{0}}})),
      "float32[B, 9, 20, 2]");
  EXPECT_EQ(g.type("STFT", {x, g.scalar(10), g.input("v", DType::kFloat32, "[16]"), g.scalar(20)}), "R1204");
}

TEST(WindowFunctionInference, SizesAndTypes) {
  TestGraph g;
  EXPECT_EQ(g.type("HannWindow", {g.scalar(12)}), "float32[12]");
  EXPECT_EQ(g.type("BlackmanWindow", {g.scalar(12)}, attributesOf({{"output_datatype", std::int64_t{11}}})),
            "float64[12]");
  EXPECT_EQ(g.type("MelWeightMatrix",
                   {g.scalar(8), g.scalar(512), g.scalar(8000), g.constant(Tensor::ofFloat({0}, {})),
                    g.constant(Tensor::ofFloat({4000}, {}))}),
            "float32[257, 8]");
}

}  // namespace
}  // namespace rota::op
