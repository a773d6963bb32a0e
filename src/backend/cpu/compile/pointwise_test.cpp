// SPDX-License-Identifier: Apache-2.0
// Pointwise regions by the vector kernel against the reference.
#include "backend/cpu/compile/kernel_testing.h"

namespace rota::tactic {
namespace {

using testing::expectReference;
using testing::KernelGraph;
using testing::randomTensor;
using testing::withSpecials;

testing::RunOptions byKernel(double relative = 2e-6, double absolute = 1e-6) {
  return {.relative = relative, .absolute = absolute, .kernel = "cpu.pointwise"};
}

TEST(PointwiseTactic, UnaryFunctionsWithSpecialValues) {
  for (const char* op :
       {"Abs",  "Acos",     "Acosh",      "Asin",  "Asinh", "Atan",        "Atanh",     "Ceil",      "Cos",
        "Cosh", "Erf",      "Exp",        "Floor", "Gelu",  "HardSigmoid", "HardSwish", "LeakyRelu", "Log",
        "Mish", "Neg",      "Reciprocal", "Relu",  "Round", "Selu",        "Sigmoid",   "Sign",      "Sin",
        "Sinh", "Softplus", "Sqrt",       "Tan",   "Tanh",  "IsNaN",       "IsInf",     "Elu"}) {
    SCOPED_TRACE(op);
    KernelGraph g;
    ir::Value* x = g.input("x", {3, 347});
    g.output(g.add(op, {x}, 22));
    const Tensor random = randomTensor(DType::kFloat32, {3, 347}, 7);
    // Functions that cancel differ by the rounding of their parts.
    expectReference(g, {{random}}, byKernel(4e-6, 1e-6));
    const std::string name = op;
    if (name != "Gelu" && name != "Mish" && name != "HardSwish" && name != "Selu" && name != "Elu") {
      KernelGraph h;
      h.output(h.add(op, {h.input("x", {3, 347})}, 22));
      expectReference(h, {{withSpecials(random)}}, byKernel(4e-6, 1e-6));
    }
  }
}

TEST(PointwiseTactic, BinaryOperationsBroadcast) {
  const std::vector<std::vector<std::int64_t>> shapes[] = {
      {{2, 3, 40}, {2, 3, 40}}, {{2, 3, 40}, {40}}, {{1}, {2, 3, 40}}, {{2, 3, 5, 7}, {3, 1, 1}},
      {{2, 1, 7}, {1, 300, 1}}, {{0, 4}, {4}},      {{}, {}},          {{5, 1, 3}, {2, 3}}};
  unsigned seed = 0;
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Less", "LessOrEqual", "Greater",
                         "GreaterOrEqual", "Equal", "Mod", "Pow"}) {
    for (const auto& pair : shapes) {
      SCOPED_TRACE(std::string(op) + ::testing::PrintToString(pair));
      KernelGraph g;
      std::vector<Size> a(pair[0].begin(), pair[0].end());
      std::vector<Size> b(pair[1].begin(), pair[1].end());
      ir::Node* n = g.node(op, {g.input("a", a), g.input("b", b)});
      g.output(n->outputs[0]);
      if (std::string(op) == "Mod") n->attributes.set("fmod", std::int64_t{0});
      expectReference(g,
                      {{withSpecials(randomTensor(DType::kFloat32, pair[0], ++seed)),
                        randomTensor(DType::kFloat32, pair[1], ++seed)}},
                      byKernel());
    }
  }
}

TEST(PointwiseTactic, IntegersAreExactAndWrap) {
  for (const DType dtype : {DType::kInt64, DType::kInt32, DType::kUInt8, DType::kInt8}) {
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Less", "Equal", "Mod"}) {
      SCOPED_TRACE(std::string(op) + info(dtype).name);
      KernelGraph g;
      g.output(g.add(op, {g.input("a", {700}, dtype), g.input("b", {700}, dtype)}));
      // Some divisors are 0: both must refuse.
      expectReference(g, {{randomTensor(dtype, {700}, 3, 1e9), randomTensor(dtype, {700}, 4, 1e8)}},
                      {.kernel = "cpu.pointwise"});
    }
  }
}

TEST(PointwiseTactic, ChainWithSeveralOutputsIsOneStep) {
  KernelGraph g;
  ir::Value* x = g.input("x", {g.symbol("n"), 33});
  ir::Value* y = g.input("y", {33});
  ir::Value* sum = g.add("Add", {x, y});
  ir::Value* gate = g.add("Sigmoid", {sum});
  ir::Value* silu = g.add("Mul", {sum, gate});
  g.output(sum);
  g.output(g.add("Pow", {silu, g.scalar(2)}));
  g.output(g.add("Greater", {silu, g.scalar(0.5F)}));
  EXPECT_EQ(testing::plannedKernels(g), std::vector<std::string>{"cpu.pointwise"});
  std::vector<std::vector<Tensor>> runs;
  for (const std::int64_t n : {1, 0, 17, 1000})
    runs.push_back({randomTensor(DType::kFloat32, {n, 33}, 5), randomTensor(DType::kFloat32, {33}, 6)});
  expectReference(g, runs, byKernel(4e-6));
}

TEST(PointwiseTactic, NarrowFloatsAndCasts) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    KernelGraph g;
    ir::Value* x = g.input("x", {5, 600}, dtype);
    ir::Node* wide = g.node("Cast", {x});
    wide->attributes.set("to", std::int64_t{info(DType::kFloat32).onnx});
    ir::Value* e = g.add("Tanh", {wide->outputs[0]});
    ir::Node* narrow = g.node("Cast", {e});
    narrow->attributes.set("to", std::int64_t{info(dtype).onnx});
    g.output(g.add("Add", {narrow->outputs[0], x}));
    g.output(narrow->outputs[0]);
    expectReference(g, {{randomTensor(dtype, {5, 600}, 8)}},
                    {.relative = 1e-2, .absolute = 1e-3, .kernel = "cpu.pointwise"});
  }
  for (const DType to : {DType::kInt64, DType::kInt32, DType::kUInt8, DType::kBool, DType::kFloat16}) {
    KernelGraph g;
    ir::Node* cast = g.node("Cast", {g.input("x", {999})});
    cast->attributes.set("to", std::int64_t{info(to).onnx});
    g.output(cast->outputs[0]);
    expectReference(g, {{withSpecials(randomTensor(DType::kFloat32, {999}, 9, 100))}}, byKernel());
  }
}

TEST(PointwiseTactic, WhereSelectsByMask) {
  KernelGraph g;
  ir::Value* c = g.input("c", {1, 1, 7, 9}, DType::kBool);
  ir::Value* x = g.input("x", {2, 3, 7, 9});
  g.output(g.add("Where", {c, x, g.scalar(-1e9F)}));
  expectReference(g,
                  {{randomTensor(DType::kBool, {1, 1, 7, 9}, 1),
                    withSpecials(randomTensor(DType::kFloat32, {2, 3, 7, 9}, 2))}},
                  byKernel());
  KernelGraph h;
  h.output(h.add("Where", {h.input("c", {70, 1}, DType::kBool), h.input("x", {70, 9}, DType::kInt64),
                           h.input("y", {9}, DType::kInt64)}));
  expectReference(h,
                  {{randomTensor(DType::kBool, {70, 1}, 1), randomTensor(DType::kInt64, {70, 9}, 2, 1e15),
                    randomTensor(DType::kInt64, {9}, 2, 1e15)}},
                  byKernel());
}

TEST(PointwiseTactic, BlockedLayoutIsKept) {
  KernelGraph g;
  ir::Value* x = g.input("x", {1, 16, 6, 5});
  ir::Value* w = g.constant(randomTensor(DType::kFloat32, {16, 16, 1, 1}, 3));
  ir::Value* a = g.add("Conv", {x, w});
  ir::Value* b = g.add("Mul", {g.add("Erf", {a}), a});  // not an epilogue that the library knows
  ir::Value* scaled = g.add("Mul", {b, g.constant(randomTensor(DType::kFloat32, {16, 1, 1}, 4))});
  g.output(g.add("Conv", {scaled, w}));
  expectReference(g, {{randomTensor(DType::kFloat32, {1, 16, 6, 5}, 5)}}, byKernel(1e-4, 1e-4));
}

TEST(PointwiseTactic, BatchNormalizationByChannel) {
  KernelGraph g;
  ir::Value* x = g.input("x", {2, 5, 4, 3});
  auto variance = randomTensor(DType::kFloat32, {5}, 4);
  std::vector<float> positive;
  for (std::int64_t i = 0; i < 5; ++i)
    positive.push_back(static_cast<float>(std::fabs(realAt(variance.view(), i))) + 0.1F);
  ir::Value* n =
      g.add("BatchNormalization",
            {x, g.constant(randomTensor(DType::kFloat32, {5}, 1)),
             g.constant(randomTensor(DType::kFloat32, {5}, 2)),
             g.constant(randomTensor(DType::kFloat32, {5}, 3)), g.constant(Tensor::ofFloat(positive, {5}))},
            15);
  g.output(g.add("Relu", {n}));
  expectReference(g, {{randomTensor(DType::kFloat32, {2, 5, 4, 3}, 5)}}, byKernel(4e-6, 2e-6));
}

}  // namespace
}  // namespace rota::tactic
