// SPDX-License-Identifier: Apache-2.0
// Inference of pointwise operators: shapes with symbols, contents of size computations, scalar expressions, errors.
#include <cmath>

#include <gtest/gtest.h>

#include "op/test_graph.h"
#include "ref/test_host.h"

namespace rota::op {
namespace {

TEST(PointwiseInference, BroadcastsSymbols) {
  TestGraph g;
  auto* a = g.input("a", DType::kFloat32, "[N, 1, 4]");
  auto* b = g.input("b", DType::kFloat32, "[M, 1]");
  EXPECT_EQ(g.type("Add", {a, b}), "float32[N, M, 4]");
  EXPECT_EQ(g.type("Greater", {a, b}), "bool[N, M, 4]");
  EXPECT_EQ(g.type("Where", {g.input("c", DType::kBool, "[4]"), a, b}), "float32[N, M, 4]");
  EXPECT_EQ(g.type("Max", {a, b, g.input("d", DType::kFloat32, "[]")}), "float32[N, M, 4]");
  EXPECT_EQ(g.type("Relu", {g.input("u", DType::kFloat16, "?")}), "float16[?]");
  EXPECT_EQ(g.type("Add", {a, g.input("v", DType::kFloat32, "?")}), "float32[?]");
}

TEST(PointwiseInference, ShapesThatDoNotBroadcastAndMixedTypes) {
  TestGraph g;
  auto* a = g.input("a", DType::kFloat32, "[2, 3]");
  EXPECT_EQ(g.type("Add", {a, g.input("b", DType::kFloat32, "[4]")}), "R1204");
  EXPECT_NE(g.status().toString().find("Add"), std::string::npos);
  EXPECT_EQ(g.type("Add", {a, g.input("c", DType::kInt32, "[3]")}), "R1205");
  EXPECT_EQ(g.type("PRelu", {a, g.input("d", DType::kFloat32, "[5, 2, 3]")}), "R1204");
  EXPECT_EQ(g.type("PRelu", {a, g.input("e", DType::kFloat32, "[3]")}), "float32[2, 3]");
  EXPECT_EQ(g.type("Clip", {a, g.input("f", DType::kFloat32, "[2]")}), "R1204");
  EXPECT_EQ(g.type("SwiGLU", {a, g.input("g", DType::kFloat32, "[2, 4]")}, {}, 28), "R1204");
  EXPECT_EQ(g.type("BitShift", {g.input("h", DType::kUInt8, "[2]"), g.input("i", DType::kUInt8, "[2]")},
                   attributesOf({{"direction", std::string("UP")}})),
            "R1206");
}

TEST(PointwiseInference, SizeComputationsKeepTheirContents) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, 6]");
  auto* shape = g.add("Shape", {x})[0];
  const auto contents = [&](const std::string& op, std::vector<ir::Value*> inputs,
                            Attributes attributes = {}) {
    const auto outputs = g.add(op, std::move(inputs), std::move(attributes));
    return outputs.empty() ? g.status().toString() : g.contentsOf(outputs[0]);
  };
  EXPECT_EQ(contents("Mul", {shape, g.scalar(2)}), "{2*N, 12}");
  EXPECT_EQ(contents("Add", {shape, g.ints({1, -1})}), "{N + 1, 5}");
  EXPECT_EQ(contents("Sub", {g.scalar(0), shape}), "{-N, -6}");
  EXPECT_EQ(contents("Div", {shape, g.scalar(3)}), "{floordiv(N, 3), 2}");
  EXPECT_EQ(contents("Div", {g.scalar(-7), g.scalar(2)}), "{-3}");
  EXPECT_EQ(contents("Div", {shape, g.scalar(0)}), "{}");
  EXPECT_EQ(contents("Neg", {shape}), "{-N, -6}");
  EXPECT_EQ(contents("Max", {shape, g.scalar(1)}), "{N, 6}");
  EXPECT_EQ(contents("Min", {shape, g.scalar(4000)}), "{N, 6}");
  EXPECT_EQ(contents("Greater", {shape, g.scalar(0)}), "{1, 1}");
  EXPECT_EQ(contents("Equal", {shape, g.scalar(-1)}), "{0, 0}");
  EXPECT_EQ(contents("Equal", {shape, shape}), "{1, 1}");
  EXPECT_EQ(contents("Equal", {shape, g.scalar(6)}), "{}");
  auto* isMinusOne = g.add("Equal", {g.ints({-1, 5}), g.scalar(-1)})[0];
  EXPECT_EQ(contents("Where", {isMinusOne, shape, g.ints({7, 5})}), "{N, 5}");
  EXPECT_EQ(contents("Cast", {shape}, attributesOf({{"to", std::int64_t{6}}})), "{N, 6}");
  EXPECT_EQ(contents("Identity", {shape}), "{N, 6}");
}

// Sizes on their way through floating point, as exporters write scaled sizes.
TEST(PointwiseInference, SizesPassThroughFloatingPoint) {
  TestGraph g;
  auto* shape = g.add("Shape", {g.input("x", DType::kFloat32, "[N, 6]")})[0];
  auto* real = g.add("Cast", {shape}, attributesOf({{"to", std::int64_t{1}}}))[0];
  auto* scaled = g.add("Mul", {real, g.constant(Tensor::ofFloat({2.0F, 3.0F}, {2}))})[0];
  auto* whole = g.add("Cast", {g.add("Floor", {scaled})[0]}, attributesOf({{"to", std::int64_t{7}}}))[0];
  EXPECT_EQ(g.contentsOf(whole), "{2*N, 18}");
  EXPECT_EQ(g.contentsOf(g.add("Div", {scaled, g.constant(Tensor::ofFloat({2.0F}, {1}))})[0]), "{N, 9}");
  EXPECT_EQ(g.contentsOf(g.add("Div", {real, g.constant(Tensor::ofFloat({4.0F}, {1}))})[0]), "{}");
  EXPECT_EQ(g.contentsOf(g.add("Mul", {real, g.constant(Tensor::ofFloat({0.5F}, {1}))})[0]), "{}");
}

TEST(PointwiseInference, CastTakesTheTypeFromAttributeOrInput) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N]");
  EXPECT_EQ(g.type("Cast", {x}, attributesOf({{"to", std::int64_t{10}}})), "float16[N]");
  EXPECT_EQ(g.type("Cast", {x}, attributesOf({{"to", std::int64_t{999}}})), "R1206");
  EXPECT_EQ(g.type("CastLike", {x, g.input("y", DType::kInt8, "[]")}), "int8[N]");
  EXPECT_EQ(g.type("BitCast", {x}, attributesOf({{"to", std::int64_t{6}}}), 26), "int32[N]");
  EXPECT_EQ(g.type("BitCast", {x}, attributesOf({{"to", std::int64_t{10}}}), 26), "R1205");
}

TEST(PointwiseInference, DropoutMaskAndUnwantedOutputs) {
  TestGraph g;
  auto outputs = g.add("Dropout", {g.input("x", DType::kFloat16, "[N, 2]")}, {}, 2);
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(g.typeOf(outputs[0]), "float16[N, 2]");
  EXPECT_EQ(g.typeOf(outputs[1]), "bool[N, 2]");
}

/// Runs a scalar expression in double.
double evaluate(const ScalarExpression& code, const std::vector<double>& inputs) {
  std::vector<double> v;
  for (const ScalarInstruction& i : code) {
    const auto a = [&] { return v[i.a]; };
    const auto b = [&] { return v[i.b]; };
    switch (i.op) {
      case ScalarOp::kInput: v.push_back(inputs[i.a]); break;
      case ScalarOp::kConstant: v.push_back(i.constant); break;
      case ScalarOp::kAdd: v.push_back(a() + b()); break;
      case ScalarOp::kSub: v.push_back(a() - b()); break;
      case ScalarOp::kMul: v.push_back(a() * b()); break;
      case ScalarOp::kDiv: v.push_back(a() / b()); break;
      case ScalarOp::kMax: v.push_back(std::max(a(), b())); break;
      case ScalarOp::kMin: v.push_back(std::min(a(), b())); break;
      case ScalarOp::kAbs: v.push_back(std::fabs(a())); break;
      case ScalarOp::kExp: v.push_back(std::exp(a())); break;
      case ScalarOp::kErf: v.push_back(std::erf(a())); break;
      case ScalarOp::kTanh: v.push_back(std::tanh(a())); break;
      case ScalarOp::kSigmoid: v.push_back(1 / (1 + std::exp(-a()))); break;
      case ScalarOp::kSoftplus: v.push_back(std::log1p(std::exp(a()))); break;
      case ScalarOp::kLess: v.push_back(a() < b() ? 1 : 0); break;
      case ScalarOp::kLessEqual: v.push_back(a() <= b() ? 1 : 0); break;
      case ScalarOp::kGreater: v.push_back(a() > b() ? 1 : 0); break;
      case ScalarOp::kSelect: v.push_back(a() != 0 ? b() : v[i.c]); break;
      default: ADD_FAILURE() << "instruction " << static_cast<int>(i.op); return 0;
    }
  }
  return v.back();
}

// The expressions that fusion uses say what the kernels compute: every composite of one input, at points on both sides of its corners.
TEST(ScalarExpressions, MatchTheReferenceKernels) {
  const std::vector<std::string> names{"Celu",      "Elu",   "Gelu",           "HardSigmoid", "HardSwish",
                                       "LeakyRelu", "Mish",  "Relu",           "Selu",        "Shrink",
                                       "Softsign",  "Swish", "ThresholdedRelu"};
  const std::vector<float> points{-4, -1, -0.25F, 0, 0.25F, 0.75F, 1.5F, 4};
  for (const std::string& name : names) {
    TestGraph g;
    auto* x = g.input("x", DType::kFloat32, "[8]");
    const auto outputs = g.add(name, {x}, {}, 1, 28);
    ASSERT_EQ(outputs.size(), 1U) << name << g.status().toString();
    const ir::Node& node = *outputs[0]->producer;
    const auto code = node.definition->expression(node);
    ASSERT_TRUE(code) << name;
    const auto wanted = ref::runKernel({.name = name,
                                        .inputs = {Tensor::ofFloat(points, {8})},
                                        .outputTypes = {DType::kFloat32},
                                        .outputDims = {{8}}});
    ASSERT_TRUE(wanted.isOk()) << name << wanted.status().toString();
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(evaluate(*code, {points[i]}),
                  realAt(wanted.value()[0].view(), static_cast<std::int64_t>(i)), 1e-5)
          << name << " at " << points[i];
    }
  }
}

}  // namespace
}  // namespace rota::op
