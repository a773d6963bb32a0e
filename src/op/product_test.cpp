// SPDX-License-Identifier: Apache-2.0
// Inference of matrix products and Einsum: symbols, broadcasting, unknown ranks, errors.
#include <gtest/gtest.h>

#include "op/test_graph.h"

namespace rota::op {
namespace {

TEST(MatMulInference, VectorsBatchesAndSymbols) {
  TestGraph g;
  auto* a = g.input("a", DType::kFloat32, "[B, 1, M, K]");
  EXPECT_EQ(g.type("MatMul", {a, g.input("b", DType::kFloat32, "[H, K, 5]")}), "float32[B, H, M, 5]");
  EXPECT_EQ(g.type("MatMul", {a, g.input("v", DType::kFloat32, "[K]")}), "float32[B, 1, M]");
  auto* v = g.input("w", DType::kFloat32, "[3]");
  EXPECT_EQ(g.type("MatMul", {v, v}), "float32[]");
  EXPECT_EQ(g.type("MatMul", {v, g.input("c", DType::kFloat32, "[2, 3, 4]")}), "float32[2, 4]");
  EXPECT_EQ(g.type("MatMul", {v, g.input("d", DType::kFloat32, "[4, 3]")}), "R1204");
  EXPECT_EQ(g.type("MatMul", {g.input("s", DType::kFloat32, "[]"), v}), "R1204");
  EXPECT_EQ(g.type("MatMul", {a, g.input("u", DType::kFloat32, "?")}), "float32[?]");
}

TEST(MatMulInference, InnerSymbolsAreUnified) {
  TestGraph g;
  auto* y =
      g.add("MatMul", {g.input("a", DType::kFloat32, "[M, K]"), g.input("b", DType::kFloat32, "[8, N]")})[0];
  EXPECT_EQ(g.typeOf(y), "float32[M, N]");
  EXPECT_EQ(g.graph().sizes().toString(
                g.graph().sizes().resolve(g.graph().sizes().symbol(*g.graph().sizes().findSymbol("K")))),
            "8");
}

TEST(GemmInference, TransposesAndChecksC) {
  TestGraph g;
  auto* a = g.input("a", DType::kFloat32, "[K, M]");
  auto* b = g.input("b", DType::kFloat32, "[5, K]");
  const Attributes both = attributesOf({{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}});
  EXPECT_EQ(g.type("Gemm", {a, b}, both), "float32[M, 5]");
  EXPECT_EQ(g.type("Gemm", {a, b, g.input("c", DType::kFloat32, "[M, 1]")}, both), "float32[M, 5]");
  EXPECT_EQ(g.type("Gemm", {a, b, g.input("d", DType::kFloat32, "[5]")}, both), "float32[M, 5]");
  EXPECT_EQ(g.type("Gemm", {a, b, g.input("e", DType::kFloat32, "[4]")}, both), "R1204");
  EXPECT_EQ(g.type("Gemm", {a, b, g.input("f", DType::kFloat32, "[1, 1, 5]")}, both), "R1204");
  EXPECT_EQ(g.type("Gemm", {g.input("x", DType::kFloat32, "[2, 3, 4]"), b}), "R1204");
}

TEST(EinsumInference, LabelsEllipsesAndErrors) {
  TestGraph g;
  auto* a = g.input("a", DType::kFloat32, "[B, H, I, D]");
  auto* b = g.input("b", DType::kFloat32, "[B, H, J, D]");
  const auto einsum = [&](const char* equation, std::vector<ir::Value*> inputs) {
    return g.type("Einsum", std::move(inputs), attributesOf({{"equation", std::string(equation)}}));
  };
  EXPECT_EQ(einsum("bhid,bhjd->bhij", {a, b}), "float32[B, H, I, J]");
  EXPECT_EQ(einsum("...id,...jd->...ij", {a, b}), "float32[B, H, I, J]");
  EXPECT_EQ(einsum("bhid->dh", {a}), "float32[D, H]");
  EXPECT_EQ(
      einsum("ij,jk", {g.input("c", DType::kFloat32, "[2, 3]"), g.input("d", DType::kFloat32, "[3, 4]")}),
      "float32[2, 4]");
  EXPECT_EQ(
      einsum("ij,jk", {g.input("e", DType::kFloat32, "[2, 3]"), g.input("f", DType::kFloat32, "[4, 4]")}),
      "R1204");
  EXPECT_EQ(einsum("ij->", {a}), "R1206");
  EXPECT_EQ(einsum("bhid->bhid", {g.input("u", DType::kFloat32, "?")}), "float32[?]");
}

TEST(IntegerProductInference, ResultTypes) {
  TestGraph g;
  auto* a = g.input("a", DType::kUInt8, "[M, 4]");
  auto* b = g.input("b", DType::kInt8, "[4, 5]");
  EXPECT_EQ(g.type("MatMulInteger", {a, b}), "int32[M, 5]");
  auto* scale = g.input("s", DType::kFloat32, "[]");
  auto* zeroA = g.input("za", DType::kUInt8, "[]");
  auto* zeroB = g.input("zb", DType::kInt8, "[]");
  EXPECT_EQ(g.type("QLinearMatMul", {a, scale, zeroA, b, scale, zeroB, scale, zeroB}), "int8[M, 5]");
}

}  // namespace
}  // namespace rota::op
