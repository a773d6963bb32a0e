// SPDX-License-Identifier: Apache-2.0
// Inference of Attention and RotaryEmbedding: packed and separate heads, cache, symbols.
#include <gtest/gtest.h>

#include "op/test_graph.h"

namespace rota::op {
namespace {

TEST(AttentionInference, SeparateAndPackedHeads) {
  TestGraph g;
  auto* q = g.input("q", DType::kFloat32, "[B, 8, S, 64]");
  auto* k = g.input("k", DType::kFloat32, "[B, 2, L, 64]");
  auto* v = g.input("v", DType::kFloat32, "[B, 2, L, 32]");
  EXPECT_EQ(g.type("Attention", {q, k, v}, {}, 23), "float32[B, 8, S, 32]");
  const Attributes heads =
      attributesOf({{"q_num_heads", std::int64_t{8}}, {"kv_num_heads", std::int64_t{2}}});
  auto* q3 = g.input("q3", DType::kFloat32, "[B, S, 512]");
  auto* k3 = g.input("k3", DType::kFloat32, "[B, L, 128]");
  auto* v3 = g.input("v3", DType::kFloat32, "[B, L, 64]");
  EXPECT_EQ(g.type("Attention", {q3, k3, v3}, heads, 24), "float32[B, S, 256]");
  EXPECT_EQ(g.type("Attention", {q3, k3, v3}, {}, 24), "R1206");
  EXPECT_EQ(g.type("Attention", {q, k3, v}, {}, 23), "R1204");
}

TEST(AttentionInference, TheCacheGrows) {
  TestGraph g;
  auto* q = g.input("q", DType::kFloat32, "[B, 4, S, 16]");
  auto* past = g.input("p", DType::kFloat32, "[B, 4, P, 16]");
  const auto outputs = g.add("Attention", {q, q, q, nullptr, past, past}, {}, 4, 23);
  ASSERT_EQ(outputs.size(), 4U);
  EXPECT_EQ(g.typeOf(outputs[1]), g.typeOf(outputs[2]));
  EXPECT_EQ(outputs[1]->type.shape.dims[2], past->type.shape.dims[2] + q->type.shape.dims[2]);
  EXPECT_EQ(outputs[3]->type.shape.dims[3], outputs[1]->type.shape.dims[2]);
  EXPECT_EQ(g.type("Attention", {q, q, q, nullptr, past}, {}, 23), "R1207");
}

TEST(RotaryInference, KeepsTheShape) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat16, "[B, S, 64]");
  auto* cache = g.input("c", DType::kFloat16, "[512, 8]");
  EXPECT_EQ(g.type("RotaryEmbedding", {x, cache, cache, g.input("ids", DType::kInt64, "[B, S]")},
                   attributesOf({{"num_heads", std::int64_t{4}}}), 23),
            "float16[B, S, 64]");
}

}  // namespace
}  // namespace rota::op
