// SPDX-License-Identifier: Apache-2.0
// Every pass: a graph that it changes, one that it leaves alone, and the same answers before and after.
#include "pass/pass.h"

#include <cmath>

#include <gtest/gtest.h>

#include "op/definition.h"
#include "op/evaluate.h"

namespace rota::pass {
namespace {

/// A small graph under construction.
struct Builder {
  std::unique_ptr<ir::Graph> graph = std::make_unique<ir::Graph>();

  ir::Value* input(const char* name, std::vector<Size> dims, DType dtype = DType::kFloat32) {
    ir::Type type;
    type.dtype = dtype;
    type.shape = ir::Shape::of(std::move(dims));
    return graph->addInput(name, type);
  }
  ir::Value* floats(const char* name, std::vector<float> values, std::vector<std::int64_t> dims) {
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
  void infer() {
    const Status s = op::inferGraph(*graph);
    ASSERT_TRUE(s.isOk()) << s.toString();
  }
};

std::string operators(const ir::Graph& graph) {
  std::string text;
  for (const auto& n : graph.nodes()) text += (text.empty() ? "" : " ") + n->opType;
  return text;
}

std::vector<float> run(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  ThreadPool threads(1);
  std::vector<op::EvaluatedValue> values;
  for (const Tensor& t : inputs) values.push_back({t, {}});
  auto results = op::evaluateGraph(graph, values, threads);
  EXPECT_TRUE(results.isOk()) << results.status().toString();
  std::vector<float> all;
  if (!results.isOk()) return all;
  for (const auto& r : *results) {
    for (std::int64_t i = 0; i < r.tensor.count(); ++i)
      all.push_back(static_cast<float>(realAt(r.tensor.view(), i)));
  }
  return all;
}

/// Runs one pass; the answers may not move by more than `tolerance`.
void check(Builder& b, std::string_view pass, const std::string& expected, const std::vector<Tensor>& inputs,
           float tolerance = 0) {
  b.infer();
  const std::vector<float> before = run(*b.graph, inputs);
  ThreadPool threads(1);
  const knob::KnobSet knobs;
  const std::string_view only[] = {pass};
  auto records = runPipeline(*b.graph, {knobs, threads}, only);
  ASSERT_TRUE(records.isOk()) << records.status().toString();
  EXPECT_EQ(operators(*b.graph), expected);
  const std::vector<float> after = run(*b.graph, inputs);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], after[i], tolerance) << i;
}

Tensor ramp(std::vector<std::int64_t> dims) {
  std::vector<float> values(static_cast<std::size_t>(elementCount(dims)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i) + 0.5F);
  return Tensor::ofFloat(std::move(values), std::move(dims));
}

TEST(FoldConstants, FoldsNodesOfConstants) {
  Builder b;
  ir::Value* x = b.input("x", {2});
  ir::Value* sum = b.add("Add", {b.floats("a", {1, 2}, {2}), b.floats("c", {3, 4}, {2})});
  b.output(b.add("Mul", {x, sum}), "y");
  check(b, "fold_constants", "Mul", {ramp({2})});
  EXPECT_EQ(b.graph->nodes()[0]->inputs[1]->recipe, "Add(initializer a, initializer c)");
}

TEST(FoldConstants, FoldsShapesOfStaticValues) {
  Builder b;
  ir::Value* x = b.input("x", {2, 3});
  ir::Value* shape = b.add("Shape", {x});
  b.output(b.add("Reshape",
                 {x, b.add("Concat", {b.add("Gather", {shape, b.ints("one", {1})}), b.ints("two", {-1})})}),
           "y");
  b.graph->nodes()[2]->attributes.set("axis", std::int64_t{0});
  check(b, "fold_constants", "Reshape", {ramp({2, 3})});
}

TEST(FoldConstants, LeavesWhatDependsOnInputsAndBlowUps) {
  Builder b;
  ir::Value* x = b.input("x", {1});
  ir::Value* big = b.add("Expand", {b.floats("z", {1}, {1}), b.ints("s", {1 << 20})});
  b.output(b.add("Add", {x, big}), "y");
  check(b, "fold_constants", "Expand Add", {ramp({1})});
}

TEST(FoldConstants, ResultsTogetherStayWithinTheBudget) {
  Builder b;
  ir::Value* x = b.input("x", {1});
  // Each step doubles what the one before made: within twice its inputs every time, without end together.
  ir::Value* grown = b.floats("z", {1}, {1});
  for (int i = 0; i < 40; ++i) {
    ir::Node* twice = b.node("Concat", {grown, grown});
    twice->attributes.set("axis", std::int64_t{0});
    grown = twice->outputs[0];
  }
  b.output(b.add("Add", {x, b.add("Slice", {grown, b.ints("from", {0}), b.ints("to", {1})})}), "y");
  b.infer();
  const knob::KnobSet knobs;
  ThreadPool threads(1);
  const std::string_view only[] = {"fold_constants"};
  auto done = runPipeline(*b.graph, {knobs, threads}, only);
  ASSERT_TRUE(done.isOk()) << done.status().toString();
  std::size_t bytes = 0;
  for (const auto& value : b.graph->values())
    if (value->isConstant()) bytes += value->constant.bytes();
  EXPECT_LT(bytes, std::size_t{129} << 20);
  EXPECT_GT(b.graph->nodes().size(), 10u) << "the last steps are left to the run";
}

TEST(FoldConstants, CostlyWorkIsLeftToTheRun) {
  Builder b;
  ir::Value* x = b.input("x", {1});
  const auto matrix = [&](const char* name, std::int64_t n) {
    return b.floats(name, std::vector<float>(static_cast<std::size_t>(n * n), 1.0F), {n, n});
  };
  ir::Value* small = b.add("MatMul", {matrix("a", 16), matrix("b", 16)});
  ir::Value* large = b.add("MatMul", {matrix("c", 512), matrix("d", 512)});
  b.output(b.add("Add", {x, b.add("Add", {b.add("ReduceSum", {small}), b.add("ReduceMax", {large})})}), "y");
  b.infer();
  const knob::KnobSet knobs;
  ThreadPool threads(1);
  const std::string_view only[] = {"fold_constants"};
  ASSERT_TRUE(runPipeline(*b.graph, {knobs, threads}, only).isOk());
  EXPECT_EQ(operators(*b.graph), "MatMul ReduceMax Add Add");
}

TEST(RemoveIdentities, RemovesNodesThatChangeNothing) {
  Builder b;
  ir::Value* x = b.input("x", {2, 3});
  ir::Node* cast = b.node("Cast", {b.add("Identity", {x})});
  cast->attributes.set("to", std::int64_t{1});
  ir::Node* transpose = b.node("Transpose", {cast->outputs[0]});
  transpose->attributes.set("perm", std::vector<std::int64_t>{0, 1});
  b.output(b.add("Relu", {b.add("Reshape", {transpose->outputs[0], b.ints("s", {2, 3})})}), "y");
  check(b, "remove_identities", "Relu", {ramp({2, 3})});
}

TEST(RemoveIdentities, LeavesRealTransposesAndOutputsOfInputs) {
  Builder b;
  ir::Value* x = b.input("x", {2, 2});
  ir::Node* transpose = b.node("Transpose", {x});
  transpose->attributes.set("perm", std::vector<std::int64_t>{1, 0});
  b.output(transpose->outputs[0], "y");
  check(b, "remove_identities", "Transpose", {ramp({2, 2})});
}

TEST(MergeCommon, ComputesEqualExpressionsOnce) {
  Builder b;
  ir::Value* x = b.input("x", {4});
  b.output(b.add("Add", {b.add("Relu", {x}), b.add("Relu", {x})}), "y");
  check(b, "merge_common", "Relu Add", {ramp({4})});
}

TEST(MergeCommon, LeavesDifferentAttributesAlone) {
  Builder b;
  ir::Value* x = b.input("x", {4});
  ir::Node* p = b.node("LeakyRelu", {x});
  ir::Node* q = b.node("LeakyRelu", {x});
  q->attributes.set("alpha", 0.5F);
  b.output(b.add("Add", {p->outputs[0], q->outputs[0]}), "y");
  check(b, "merge_common", "LeakyRelu LeakyRelu Add", {ramp({4})});
}

TEST(FoldBatchNorm, FoldsIntoTheConvolution) {
  Builder b;
  ir::Value* x = b.input("x", {1, 1, 3, 3});
  ir::Value* conv = b.add("Conv", {x, b.floats("w", {0.5F, -1, 2, 1, 0.25F, 0.125F, 1, -2}, {2, 1, 2, 2}),
                                   b.floats("b", {0.1F, -0.2F}, {2})});
  b.output(b.add("BatchNormalization",
                 {conv, b.floats("scale", {1.5F, 0.5F}, {2}), b.floats("shift", {0.25F, -1}, {2}),
                  b.floats("mean", {0.5F, 0.25F}, {2}), b.floats("var", {2, 0.5F}, {2})}),
           "y");
  check(b, "fold_batch_norm", "Conv", {ramp({1, 1, 3, 3})}, 1e-5F);
}

TEST(FoldBatchNorm, LeavesAConvolutionWithTwoUsers) {
  Builder b;
  ir::Value* x = b.input("x", {1, 1, 2, 2});
  ir::Value* conv = b.add("Conv", {x, b.floats("w", {2}, {1, 1, 1, 1})});
  ir::Value* norm =
      b.add("BatchNormalization", {conv, b.floats("scale", {1.5F}, {1}), b.floats("shift", {0.25F}, {1}),
                                   b.floats("mean", {0.5F}, {1}), b.floats("var", {2}, {1})});
  b.output(b.add("Add", {conv, norm}), "y");
  check(b, "fold_batch_norm", "Conv BatchNormalization Add", {ramp({1, 1, 2, 2})});
}

TEST(EliminateDead, RemovesWhatNobodyUses) {
  Builder b;
  ir::Value* x = b.input("x", {4});
  b.add("Exp", {b.add("Neg", {x})});
  b.output(b.add("Relu", {x}), "y");
  check(b, "eliminate_dead", "Relu", {ramp({4})});
}

TEST(Pipeline, KnobSwitchesAPassOff) {
  Builder b;
  ir::Value* x = b.input("x", {4});
  b.output(b.add("Relu", {b.add("Identity", {x})}), "y");
  b.infer();
  const auto knobs = knob::KnobSet::parseRoute("-pass:remove_identities=off");
  ASSERT_TRUE(knobs.isOk()) << knobs.status().toString();
  ThreadPool threads(1);
  ASSERT_TRUE(runPipeline(*b.graph, {*knobs, threads}).isOk());
  EXPECT_EQ(operators(*b.graph), "Identity Relu");
}

}  // namespace
}  // namespace rota::pass
