// SPDX-License-Identifier: Apache-2.0
// Inference of reductions, softmax, normalisations, quantisation and random numbers: symbols, unknown axes and ranks, errors.
#include <gtest/gtest.h>

#include "op/test_graph.h"

namespace rota::op {
namespace {

TEST(ReductionInference, AxesFromAttributeAndInput) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, C, 4]");
  EXPECT_EQ(g.type("ReduceMean", {x}, attributesOf({{"axes", std::vector<std::int64_t>{-1}}}), 13),
            "float32[N, C, 1]");
  EXPECT_EQ(g.type("ReduceMean", {x, g.ints({0, 2})}, attributesOf({{"keepdims", std::int64_t{0}}})),
            "float32[C]");
  EXPECT_EQ(g.type("ReduceSum", {x}), "float32[1, 1, 1]");
  EXPECT_EQ(g.type("ReduceSum", {x}, attributesOf({{"noop_with_empty_axes", std::int64_t{1}}})),
            "float32[N, C, 4]");
  EXPECT_EQ(g.type("ReduceSum", {x, g.ints({3})}), "R1206");
  EXPECT_EQ(g.type("ReduceSum", {x, g.ints({1, -2})}), "R1206");
  EXPECT_EQ(g.type("ReduceSum", {g.input("u", DType::kFloat32, "?")}), "float32[?]");
}

TEST(ReductionInference, AxesThatOnlyTheDataKnows) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, 1]");
  auto* axes = g.input("axes", DType::kInt64, "[1]");
  const auto outputs = g.add("ReduceSum", {x, axes});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0]->type.shape.rank(), 2U);
  EXPECT_TRUE(outputs[0]->type.shape.dims[1].is(1));
  EXPECT_FALSE(outputs[0]->type.shape.dims[0].isConstant());
  EXPECT_EQ(g.type("ReduceSum", {x, axes}, attributesOf({{"keepdims", std::int64_t{0}}})), "float32[?]");
}

TEST(ReductionInference, ContentsOfFoldedShapes) {
  TestGraph g;
  auto* shape = g.add("Shape", {g.input("x", DType::kFloat32, "[N, 3, 2]")})[0];
  const auto contents = [&](const char* op) {
    return g.contentsOf(g.add(op, {shape, g.ints({0})}, attributesOf({{"keepdims", std::int64_t{0}}}))[0]);
  };
  EXPECT_EQ(contents("ReduceProd"), "{6*N}");
  EXPECT_EQ(contents("ReduceSum"), "{N + 5}");
  EXPECT_EQ(contents("ReduceMax"), "{max(3, N)}");
}

TEST(ReductionInference, ArgMaxAndSoftmax) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, 4]");
  EXPECT_EQ(g.type("ArgMax", {x}, attributesOf({{"axis", std::int64_t{-1}}})), "int64[N, 1]");
  EXPECT_EQ(g.type("ArgMin", {x}, attributesOf({{"keepdims", std::int64_t{0}}})), "int64[4]");
  EXPECT_EQ(g.type("ArgMax", {x}, attributesOf({{"axis", std::int64_t{2}}})), "R1206");
  EXPECT_EQ(g.type("Softmax", {x}), "float32[N, 4]");
  EXPECT_EQ(g.type("Softmax", {x}, attributesOf({{"axis", std::int64_t{2}}})), "R1206");
  EXPECT_EQ(g.type("Softmax", {x}, attributesOf({{"axis", std::int64_t{2}}}), 11), "float32[N, 4]");
}

TEST(NormalizationInference, StatisticsAndParameters) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat16, "[N, S, 8]");
  auto* scale = g.input("scale", DType::kFloat16, "[8]");
  const auto outputs = g.add("LayerNormalization", {x, scale}, {}, 3);
  ASSERT_EQ(outputs.size(), 3U) << g.status().toString();
  EXPECT_EQ(g.typeOf(outputs[0]), "float16[N, S, 8]");
  EXPECT_EQ(g.typeOf(outputs[1]), "float32[N, S, 1]");
  EXPECT_EQ(g.typeOf(outputs[2]), "float32[N, S, 1]");
  EXPECT_EQ(g.type("LayerNormalization", {x, g.input("s7", DType::kFloat16, "[7]")}), "R1204");
  EXPECT_EQ(g.type("RMSNormalization", {x, scale}, {}, 23), "float16[N, S, 8]");
  EXPECT_EQ(g.type("GroupNormalization",
                   {g.input("i", DType::kFloat32, "[N, 6, 2]"), g.input("a", DType::kFloat32, "[6]"),
                    g.input("b", DType::kFloat32, "[6]")},
                   attributesOf({{"num_groups", std::int64_t{4}}})),
            "R1204");
  auto* c = g.input("c", DType::kFloat32, "[6]");
  auto* image = g.input("image", DType::kFloat32, "[N, 6, H, W]");
  EXPECT_EQ(g.type("BatchNormalization", {image, c, c, c, c}), "float32[N, 6, H, W]");
  auto* five = g.input("five", DType::kFloat32, "[5]");
  EXPECT_EQ(g.type("BatchNormalization", {image, five, five, five, five}), "R1204");
  EXPECT_EQ(g.type("LpNormalization", {image}, attributesOf({{"p", std::int64_t{3}}})), "R1206");
}

TEST(QuantizeInference, ScaleShapesAndTypes) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, 6]");
  auto* s = g.input("s", DType::kFloat32, "[]");
  EXPECT_EQ(g.type("QuantizeLinear", {x, s}), "uint8[N, 6]");
  EXPECT_EQ(g.type("QuantizeLinear", {x, s, g.input("z", DType::kInt4, "[1]")}), "int4[N, 6]");
  EXPECT_EQ(g.type("QuantizeLinear", {x, s}, attributesOf({{"output_dtype", std::int64_t{3}}})),
            "int8[N, 6]");
  EXPECT_EQ(g.type("QuantizeLinear", {x, g.input("s5", DType::kFloat32, "[5]")}), "R1204");
  auto* q = g.input("q", DType::kInt4, "[N, 6]");
  EXPECT_EQ(g.type("DequantizeLinear", {q, g.input("b", DType::kFloat16, "[N, 2]")},
                   attributesOf({{"block_size", std::int64_t{4}}})),
            "float16[N, 6]");
  EXPECT_EQ(g.type("DequantizeLinear", {q, g.input("b3", DType::kFloat16, "[N, 3]")},
                   attributesOf({{"block_size", std::int64_t{4}}})),
            "R1204");
}

TEST(RandomInference, ShapesAndPurity) {
  TestGraph g;
  EXPECT_EQ(g.type("RandomNormal", {}, attributesOf({{"shape", std::vector<std::int64_t>{2, 3}}})),
            "float32[2, 3]");
  EXPECT_EQ(g.type("RandomUniform", {}, attributesOf({{"shape", std::vector<std::int64_t>{2, -3}}})),
            "R1206");
  auto* x = g.input("x", DType::kFloat64, "[N, 3]");
  EXPECT_EQ(g.type("RandomNormalLike", {x}), "float64[N, 3]");
  EXPECT_EQ(g.type("Bernoulli", {x}, attributesOf({{"dtype", std::int64_t{9}}})), "bool[N, 3]");
  EXPECT_EQ(g.type("Multinomial", {x}, attributesOf({{"sample_size", std::int64_t{5}}})), "int32[N, 5]");
  EXPECT_FALSE(find("", "Bernoulli")->isPure);
}

}  // namespace
}  // namespace rota::op
