// SPDX-License-Identifier: Apache-2.0
// Inference of recurrent layers: layouts, directions, symbols, shapes that do not fit.
#include <gtest/gtest.h>

#include "op/test_graph.h"

namespace rota::op {
namespace {

TEST(RecurrentInference, LayoutsAndDirections) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[T, N, 4]");
  auto* w = g.input("w", DType::kFloat32, "[2, 12, 4]");
  auto* r = g.input("r", DType::kFloat32, "[2, 12, 3]");
  const auto lstm = g.add("LSTM", {x, w, r}, attributesOf({{"direction", std::string("bidirectional")}}), 3);
  ASSERT_EQ(lstm.size(), 3U);
  EXPECT_EQ(g.typeOf(lstm[0]), "float32[T, 2, N, 3]");
  EXPECT_EQ(g.typeOf(lstm[1]), "float32[2, N, 3]");
  EXPECT_EQ(g.typeOf(lstm[2]), "float32[2, N, 3]");
  auto* batchFirst = g.input("y", DType::kFloat32, "[N, T, 4]");
  const auto gru = g.add(
      "GRU",
      {batchFirst, g.input("w2", DType::kFloat32, "[1, 9, 4]"), g.input("r2", DType::kFloat32, "[1, 9, 3]")},
      attributesOf({{"layout", std::int64_t{1}}}), 2);
  ASSERT_EQ(gru.size(), 2U);
  EXPECT_EQ(g.typeOf(gru[0]), "float32[N, T, 1, 3]");
  EXPECT_EQ(g.typeOf(gru[1]), "float32[N, 1, 3]");
}

TEST(RecurrentInference, ShapesThatDoNotFitAreErrors) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[5, 2, 4]");
  auto* r = g.input("r", DType::kFloat32, "[1, 3, 3]");
  EXPECT_EQ(g.type("RNN", {x, g.input("w", DType::kFloat32, "[1, 3, 5]"), r}), "R1204");
  auto* w = g.input("v", DType::kFloat32, "[1, 3, 4]");
  EXPECT_EQ(g.type("RNN", {x, w, r}), "float32[5, 1, 2, 3]");
  EXPECT_EQ(g.type("RNN", {x, w, r}, attributesOf({{"direction", std::string("sideways")}})), "R1206");
  EXPECT_EQ(g.type("RNN", {x, w, r, nullptr, g.input("l", DType::kInt32, "[3]")}), "R1204");
}

}  // namespace
}  // namespace rota::op
