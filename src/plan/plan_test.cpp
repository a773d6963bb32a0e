// SPDX-License-Identifier: Apache-2.0
// Graph to program to answer: what the planned program computes equals the evaluation of the graph by the reference.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "op/definition.h"
#include "op/evaluate.h"
#include "plan/program_builder.h"
#include "plan/regions.h"
#include "runtime/context.h"

namespace rota::plan {
namespace {

struct Model {
  std::unique_ptr<ir::Graph> graph = std::make_unique<ir::Graph>();

  ir::Value* input(const char* name, std::vector<Size> dims, DType dtype = DType::kFloat32) {
    ir::Type type;
    type.dtype = dtype;
    type.shape = ir::Shape::of(std::move(dims));
    return graph->addInput(name, type);
  }
  Size symbol(const char* name) { return graph->sizes().newSymbol(name, {.lo = 1}, SymbolOrigin::kInputDim); }
  ir::Value* floats(const char* name, std::vector<std::int64_t> dims, float scale = 1) {
    std::vector<float> values(static_cast<std::size_t>(elementCount(dims)));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = scale * std::sin(0.7F * static_cast<float>(i) + 0.3F);
    return graph->addConstant(name, Tensor::ofFloat(std::move(values), std::move(dims)),
                              std::string("initializer ") + name);
  }
  ir::Value* ints(const char* name, std::vector<std::int64_t> values) {
    const auto n = static_cast<std::int64_t>(values.size());
    return graph->addConstant(name, Tensor::ofInt64(std::move(values), {n}),
                              std::string("initializer ") + name);
  }
  ir::Node* node(const char* op, std::vector<ir::Value*> inputs, int version = 17) {
    const std::string name = std::string(op) + std::to_string(graph->nodes().size());
    ir::Node* n = graph->addNode(name, "", op, version, std::move(inputs), {name + ".out"},
                                 {{graph->sources().add({"", name, op})}});
    n->definition = op::find("", op);
    EXPECT_NE(n->definition, nullptr) << op;
    return n;
  }
  ir::Value* add(const char* op, std::vector<ir::Value*> inputs, int version = 17) {
    return node(op, std::move(inputs), version)->outputs[0];
  }
  void output(ir::Value* v, const char* name) {
    graph->addOutput(v);
    graph->outputNames().push_back(name);
  }
};

Tensor ramp(std::vector<std::int64_t> dims) {
  std::vector<float> values(static_cast<std::size_t>(elementCount(dims)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::cos(static_cast<float>(i) * 0.37F);
  return Tensor::ofFloat(std::move(values), std::move(dims));
}

BuiltProgram build(Model& m, const char* route = "", bool generic = false) {
  EXPECT_TRUE(op::inferGraph(*m.graph).isOk());
  tactic::Target target;
  target.generic = generic;
  static std::vector<std::unique_ptr<knob::KnobSet>> kept;
  auto knobs = knob::KnobSet::parseRoute(route);
  EXPECT_TRUE(knobs.isOk());
  kept.push_back(std::make_unique<knob::KnobSet>(std::move(*knobs)));
  auto built = buildProgram(*m.graph, {.target = target, .knobs = *kept.back(), .profiles = {}});
  EXPECT_TRUE(built.isOk()) << built.status().toString();
  const Status valid = runtime::validate(built->program);
  EXPECT_TRUE(valid.isOk()) << valid.toString();
  return std::move(*built);
}

std::unique_ptr<Context> contextOf(const BuiltProgram& built) {
  auto constants = std::make_shared<std::vector<Tensor>>(built.constants);
  std::vector<const std::byte*> addresses;
  for (const Tensor& t : *constants) addresses.push_back(t.data());
  auto loaded = runtime::loadProgram(std::make_shared<runtime::Program>(built.program), addresses, constants);
  EXPECT_TRUE(loaded.isOk()) << loaded.status().toString();
  auto context = runtime::createContext(*loaded, std::make_shared<ThreadPool>(1));
  EXPECT_TRUE(context.isOk());
  return std::move(*context);
}

/// Runs the program on `inputs` and compares every output with the reference evaluation of the graph.
void expectSame(Model& m, Context& context, const std::vector<Tensor>& inputs, double tolerance = 1e-5) {
  ThreadPool threads(1);
  std::vector<op::EvaluatedValue> values;
  for (const Tensor& t : inputs) values.push_back({t, {}});
  const auto expected = op::evaluateGraph(*m.graph, values, threads);
  ASSERT_TRUE(expected.isOk()) << expected.status().toString();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Status s = context.setInput(m.graph->inputs()[i]->name, inputs[i].view());
    ASSERT_TRUE(s.isOk()) << s.toString();
  }
  const Status ran = context.run();
  ASSERT_TRUE(ran.isOk()) << ran.toString();
  for (std::size_t o = 0; o < expected->size(); ++o) {
    const auto got = context.output(m.graph->outputNames()[o]);
    ASSERT_TRUE(got.isOk()) << got.status().toString();
    const TensorView want = (*expected)[o].tensor.view();
    ASSERT_TRUE(std::equal(got->dims.begin(), got->dims.end(), want.dims.begin(), want.dims.end()))
        << "output " << o;
    ASSERT_EQ(got->dtype, want.dtype);
    for (std::int64_t i = 0; i < want.count(); ++i)
      ASSERT_NEAR(realAt(*got, i), realAt(want, i), tolerance) << "output " << o << " element " << i;
  }
}

std::vector<std::string> kernelsOf(const BuiltProgram& built) {
  std::vector<std::string> names;
  for (const auto& s : built.program.blocks[0].steps) names.push_back(s.kernel);
  return names;
}

TEST(Plan, ProductWithBiasAndActivationIsOneStep) {
  Model m;
  ir::Value* x = m.input("x", {3, 5});
  ir::Value* y =
      m.add("Relu", {m.add("Add", {m.add("MatMul", {x, m.floats("w", {5, 4})}), m.floats("b", {4})})});
  m.output(y, "y");
  const BuiltProgram built = build(m);
  EXPECT_EQ(kernelsOf(built), std::vector<std::string>{"onednn.matmul"});
  EXPECT_EQ(built.program.blocks[0].steps[0].sources.size(), 3U);
  expectSame(m, *contextOf(built), {ramp({3, 5})});
}

TEST(Plan, EpilogueKnobSplitsTheStep) {
  Model m;
  ir::Value* x = m.input("x", {3, 5});
  m.output(m.add("Relu", {m.add("MatMul", {x, m.floats("w", {5, 4})})}), "y");
  const BuiltProgram built = build(m, "-fuse:epilogue=off");
  EXPECT_EQ(built.program.blocks[0].steps.size(), 2U);
  expectSame(m, *contextOf(built), {ramp({3, 5})});
}

TEST(Plan, GenericTargetUsesReferenceKernelsOnly) {
  Model m;
  ir::Value* x = m.input("x", {3, 5});
  m.output(m.add("Relu", {m.add("MatMul", {x, m.floats("w", {5, 4})})}), "y");
  const BuiltProgram built = build(m, "", true);
  for (const std::string& k : kernelsOf(built)) EXPECT_EQ(k.substr(0, 4), "ref:") << k;
  expectSame(m, *contextOf(built), {ramp({3, 5})});
}

TEST(Plan, ConvolutionsInBlockedLayoutWithResidual) {
  Model m;
  ir::Value* x = m.input("x", {2, 3, 9, 9});
  ir::Node* stem = m.node("Conv", {x, m.floats("w0", {16, 3, 3, 3}, 0.2F), m.floats("b0", {16})});
  stem->attributes.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  ir::Value* a = m.add("Relu", {stem->outputs[0]});
  ir::Node* conv = m.node("Conv", {a, m.floats("w1", {16, 16, 3, 3}, 0.1F)});
  conv->attributes.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  m.output(m.add("Relu", {m.add("Add", {conv->outputs[0], a})}), "y");
  const BuiltProgram built = build(m);
  expectSame(m, *contextOf(built), {ramp({2, 3, 9, 9})}, 1e-4);
}

TEST(Plan, GateAfterConvolutionIsFused) {
  Model m;
  ir::Value* x = m.input("x", {1, 8, 4, 4});
  ir::Value* c = m.add("Conv", {x, m.floats("w", {8, 8, 1, 1}, 0.3F)});
  m.output(m.add("Mul", {c, m.add("Sigmoid", {c})}), "y");
  const BuiltProgram built = build(m);
  const auto kernels = kernelsOf(built);
  EXPECT_EQ(std::count(kernels.begin(), kernels.end(), "onednn.convolution"), 1);
  EXPECT_EQ(std::count_if(kernels.begin(), kernels.end(),
                          [](const std::string& k) { return k.starts_with("ref:"); }),
            0);
  expectSame(m, *contextOf(built), {ramp({1, 8, 4, 4})}, 1e-5);
}

TEST(Plan, ShapeChainsBecomeSizesAndReshapeAView) {
  Model m;
  const Size batch = m.symbol("batch"), seq = m.symbol("seq");
  ir::Value* x = m.input("x", {batch, seq, 6});
  ir::Value* shape = m.add("Shape", {x});
  ir::Node* first = m.node("Gather", {shape, m.ints("zero", {0})});
  ir::Node* target = m.node("Concat", {first->outputs[0], m.ints("rest", {-1, 3})});
  target->attributes.set("axis", std::int64_t{0});
  m.output(m.add("Relu", {m.add("Reshape", {x, target->outputs[0]})}), "y");
  const BuiltProgram built = build(m);
  EXPECT_EQ(kernelsOf(built).size(), 1U) << testing::PrintToString(kernelsOf(built));
  auto context = contextOf(built);
  expectSame(m, *context, {ramp({2, 4, 6})});
  expectSame(m, *context, {ramp({1, 7, 6})});
}

TEST(Plan, SizesFoundWhileRunning) {
  Model m;
  ir::Value* x = m.input("x", {3, 4});
  ir::Value* places = m.add("NonZero", {m.add("Relu", {x})});
  m.output(places, "places");
  m.output(m.add("Transpose", {places}), "rows");
  const BuiltProgram built = build(m);
  expectSame(m, *contextOf(built), {ramp({3, 4})});
}

TEST(Plan, OutputsThatAreInputsConstantsOrTheSameValue) {
  Model m;
  ir::Value* x = m.input("x", {2, 2});
  ir::Value* r = m.add("Relu", {x});
  m.output(x, "input");
  m.output(m.floats("c", {2}), "constant");
  m.output(r, "first");
  m.output(r, "second");
  const BuiltProgram built = build(m);
  expectSame(m, *contextOf(built), {ramp({2, 2})});
}

TEST(Plan, GuardNamesTheSizesThatDiffer) {
  Model m;
  const Size p = m.symbol("p"), q = m.symbol("q");
  ir::Value* x = m.input("x", {2, p});
  ir::Value* y = m.input("y", {q, 3});
  m.output(m.add("MatMul", {x, y}), "z");
  const BuiltProgram built = build(m);
  auto context = contextOf(built);
  expectSame(m, *context, {ramp({2, 5}), ramp({5, 3})});
  const Tensor a = ramp({2, 5}), b = ramp({4, 3});
  ASSERT_TRUE(context->setInput("x", a.view()).isOk());
  ASSERT_TRUE(context->setInput("y", b.view()).isOk());
  const Status s = context->run();
  ASSERT_FALSE(s.isOk());
  EXPECT_EQ(s.code(), ErrorCode::kShapeGuard) << s.toString();
  EXPECT_NE(s.toString().find("MatMul0"), std::string::npos) << s.toString();
}

TEST(Plan, EqualGraphsGiveEqualPrograms) {
  const auto text = [] {
    Model m;
    ir::Value* x = m.input("x", {3, 5});
    m.output(m.add("Tanh", {m.add("Exp", {m.add("MatMul", {x, m.floats("w", {5, 4})})})}), "y");
    const BuiltProgram built = build(m);
    std::string all;
    for (const auto& s : built.program.blocks[0].steps) {
      all += s.kernel + s.tactic;
      for (auto i : s.inputs) all += " " + std::to_string(i);
      for (auto o : s.outputs) all += " > " + std::to_string(o);
    }
    return all;
  };
  EXPECT_EQ(text(), text());
}

}  // namespace
}  // namespace rota::plan
