// SPDX-License-Identifier: Apache-2.0
// Inference of pointwise operators: shapes with symbols, contents of size computations, scalar expressions, errors.
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "op/evaluate.h"
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

double evaluateUnary(ScalarOp op, double a) {
  switch (op) {
    case ScalarOp::kNeg: return -a;
    case ScalarOp::kAbs: return std::fabs(a);
    case ScalarOp::kSign: return std::isnan(a) ? a : static_cast<double>((a > 0) - (a < 0));
    case ScalarOp::kFloor: return std::floor(a);
    case ScalarOp::kCeil: return std::ceil(a);
    case ScalarOp::kRound: return std::nearbyint(a);
    case ScalarOp::kReciprocal: return 1 / a;
    case ScalarOp::kSqrt: return std::sqrt(a);
    case ScalarOp::kExp: return std::exp(a);
    case ScalarOp::kLog: return std::log(a);
    case ScalarOp::kErf: return std::erf(a);
    case ScalarOp::kTanh: return std::tanh(a);
    case ScalarOp::kSigmoid: return 1 / (1 + std::exp(-a));
    case ScalarOp::kSin: return std::sin(a);
    case ScalarOp::kCos: return std::cos(a);
    case ScalarOp::kTan: return std::tan(a);
    case ScalarOp::kAsin: return std::asin(a);
    case ScalarOp::kAcos: return std::acos(a);
    case ScalarOp::kAtan: return std::atan(a);
    case ScalarOp::kSinh: return std::sinh(a);
    case ScalarOp::kCosh: return std::cosh(a);
    case ScalarOp::kAsinh: return std::asinh(a);
    case ScalarOp::kAcosh: return std::acosh(a);
    case ScalarOp::kAtanh: return std::atanh(a);
    case ScalarOp::kSoftplus: return a > 0 ? a + std::log1p(std::exp(-a)) : std::log1p(std::exp(a));
    case ScalarOp::kNot: return a == 0 ? 1 : 0;
    case ScalarOp::kIsNan: return std::isnan(a) ? 1 : 0;
    case ScalarOp::kIsInf: return std::isinf(a) ? 1 : 0;
    default: ADD_FAILURE() << "instruction " << static_cast<int>(op); return 0;
  }
}

double evaluateBinary(ScalarOp op, double a, double b) {
  switch (op) {
    case ScalarOp::kAdd: return a + b;
    case ScalarOp::kSub: return a - b;
    case ScalarOp::kMul: return a * b;
    case ScalarOp::kDiv: return a / b;
    case ScalarOp::kPow: return std::pow(a, b);
    case ScalarOp::kMin: return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
    case ScalarOp::kMax: return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
    case ScalarOp::kMod: {  // the sign of the divisor
      const double rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case ScalarOp::kLess: return a < b ? 1 : 0;
    case ScalarOp::kLessEqual: return a <= b ? 1 : 0;
    case ScalarOp::kGreater: return a > b ? 1 : 0;
    case ScalarOp::kGreaterEqual: return a >= b ? 1 : 0;
    case ScalarOp::kEqual: return a == b ? 1 : 0;
    case ScalarOp::kAnd: return a != 0 && b != 0 ? 1 : 0;
    case ScalarOp::kOr: return a != 0 || b != 0 ? 1 : 0;
    case ScalarOp::kXor: return (a != 0) != (b != 0) ? 1 : 0;
    default: return evaluateUnary(op, a);
  }
}

/// Runs a scalar expression in double.
double evaluate(const ScalarExpression& code, const std::vector<double>& inputs) {
  std::vector<double> v;
  for (const ScalarInstruction& i : code) {
    switch (i.op) {
      case ScalarOp::kInput: v.push_back(inputs.at(i.a)); break;
      case ScalarOp::kConstant: v.push_back(i.constant); break;
      case ScalarOp::kSelect: v.push_back(v[i.a] != 0 ? v[i.b] : v[i.c]); break;
      default: v.push_back(evaluateBinary(i.op, v[i.a], v[i.b])); break;
    }
  }
  return v.back();
}

/// Points on both sides of the corners of every function; input `k` has them in another order.
constexpr double kPoints[] = {-4, -1, -0.25, 0, 0.25, 0.75, 1.5, 4};
double pointOf(std::size_t k, std::size_t i, DType dtype) {
  const double point = kPoints[(i + 3 * k) % std::size(kPoints)];
  return dtype == DType::kBool ? (point > 0 ? 1 : 0) : point;
}

/// A node of the operator with its inputs in `dtype`; nothing when the operator does not take them.
struct PointwiseRun {
  ir::Graph graph;
  ir::Node* node = nullptr;
  std::vector<EvaluatedValue> inputs;
  Result<std::vector<EvaluatedValue>> results = Status(ErrorCode::kInternal, "not run");

  PointwiseRun(const Definition& definition, DType dtype) {
    std::vector<ir::Value*> values;
    for (std::size_t k = 0; k < definition.inputs.size(); ++k) {
      if (definition.inputs[k].option == FormalOption::kOptional) continue;
      const DType type = definition.name == "Where" && k == 0 ? DType::kBool : dtype;
      std::vector<double> points;
      for (std::size_t i = 0; i < std::size(kPoints); ++i) points.push_back(pointOf(k, i, type));
      inputs.push_back({ref::makeTensor(type, {8}, points), {}});
      values.push_back(graph.addInput("x", {.dtype = type, .shape = ir::Shape::of({8})}));
    }
    node =
        graph.addNode("node", definition.domain, definition.name, definition.versions.back(), values, {"y"});
    for (const AttributeFormal& formal : definition.attributes) {
      if (formal.required && formal.name == "to") node->attributes.set("to", std::int64_t{1});  // float32
    }
    ThreadPool threads(1);
    if (Status status = inferNode(*node); !status.isOk()) {
      results = status;
    } else {
      results = evaluateNode(*node, inputs, threads);
    }
  }
};

// The expressions that fusion uses say what the kernels compute: every operator that has one, with all its inputs and its default attributes.
TEST(ScalarExpressions, MatchTheReferenceKernels) {
  std::size_t compared = 0;
  for (const Definition* definition : all()) {
    if (definition->expression == nullptr) continue;
    EXPECT_EQ(definition->kind, Kind::kPointwise) << definition->name;
    DType dtype = DType::kFloat32;
    auto run = std::make_unique<PointwiseRun>(*definition, dtype);
    if (!run->results) run = std::make_unique<PointwiseRun>(*definition, dtype = DType::kBool);
    EXPECT_TRUE(run->results.isOk()) << definition->name << ": " << run->results.status().toString();
    if (!run->results) continue;
    const auto code = definition->expression(*run->node);
    if (!code) continue;  // has none for these attributes
    ++compared;
    const Tensor& wanted = (*run->results)[0].tensor;
    for (std::size_t i = 0; i < std::size(kPoints); ++i) {
      std::vector<double> operands;
      for (const EvaluatedValue& input : run->inputs)
        operands.push_back(realAt(input.tensor.view(), static_cast<std::int64_t>(i)));
      const double found = evaluate(*code, operands);
      const double right = realAt(wanted.view(), static_cast<std::int64_t>(i));
      if (found == right || (std::isnan(found) && std::isnan(right))) continue;
      EXPECT_NEAR(found, right, 1e-5 * (1 + std::fabs(right)))
          << definition->domain << "." << definition->name << " at " << kPoints[i];
    }
  }
  EXPECT_GT(compared, 60U);
}

}  // namespace
}  // namespace rota::op
