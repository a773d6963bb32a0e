// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan: types that hold for every branch and turn, and runs through the evaluator.
#include <gtest/gtest.h>

#include "op/test_run.h"

namespace rota::op {
namespace {

/// A graph whose nodes may have blocks; nothing is inferred before `infer`.
class FlowGraph {
 public:
  ir::Graph& graph() { return graph_; }
  static ir::Value* node(ir::Graph& graph, const char* opType, std::vector<ir::Value*> inputs,
                         Attributes attributes = {}) {
    ir::Node* made = graph.addNode("", "", opType, 21, std::move(inputs), {std::string(opType) + "_out"});
    made->definition = find("", opType);
    made->attributes = std::move(attributes);
    return made->outputs[0];
  }
  static ir::Node* flow(ir::Graph& graph, const char* opType, std::vector<ir::Value*> inputs,
                        std::vector<std::string> blocks, std::size_t outputs) {
    ir::Node* made =
        graph.addNode("", "", opType, 21, std::move(inputs), std::vector<std::string>(outputs, "result"));
    made->definition = find("", opType);
    for (std::string& name : blocks) {
      made->blockNames.push_back(std::move(name));
      made->blocks.push_back(std::make_unique<ir::Graph>(graph));
    }
    return made;
  }
  void output(ir::Value* value) {
    graph_.addOutput(value);
    graph_.outputNames().push_back(value->name);
  }
  std::string infer() {
    const Status status = inferGraph(graph_);
    return status.isOk() ? "" : status.toString();
  }
  std::string typeOf(const ir::Value* value) { return describeType(value->type, graph_.sizes()); }
  std::vector<std::string> run(std::vector<Tensor> inputs) {
    std::vector<EvaluatedValue> values;
    for (Tensor& tensor : inputs) values.push_back({.tensor = std::move(tensor), .sequence = {}});
    ThreadPool threads(1);
    auto results = evaluateGraph(graph_, values, threads);
    if (!results) return {results.status().toString()};
    std::vector<std::string> texts;
    for (const EvaluatedValue& value : *results) texts.push_back(tensorText(value.tensor));
    return texts;
  }

 private:
  ir::Graph graph_;
};

ir::Type tensorType(DType dtype, std::vector<Size> dims) {
  return {.dtype = dtype, .shape = ir::Shape::of(std::move(dims))};
}
ir::Value* constantOf(ir::Graph& graph, Tensor tensor) {
  return graph.addConstant("", std::move(tensor), "test");
}

/// C17 (a): then Squeeze axis 1, else the input itself; the condition asks whether the axis is 1.
struct SqueezeOrNot {
  FlowGraph flow;
  ir::Node* node = nullptr;
  explicit SqueezeOrNot(Size columns) {
    ir::Graph& g = flow.graph();
    const Size rows = g.sizes().newSymbol("N", {1, 64}, SymbolOrigin::kInputDim);
    ir::Value* x = g.addInput("x", tensorType(DType::kFloat32, {rows, columns}));
    ir::Value* size =
        FlowGraph::node(g, "Gather", {FlowGraph::node(g, "Shape", {x}), constantOf(g, intScalar(1))});
    ir::Value* isOne = FlowGraph::node(g, "Equal", {size, constantOf(g, intScalar(1))});
    node = FlowGraph::flow(g, "If", {isOne}, {"then_branch", "else_branch"}, 1);
    ir::Graph& then = *node->blocks[0];
    then.addOutput(FlowGraph::node(then, "Squeeze", {x, constantOf(then, intTensor({1}))}));
    node->blocks[1]->addOutput(x);
    flow.output(node->outputs[0]);
  }
};

TEST(If, BranchesOfDifferentRank) {
  SqueezeOrNot one(1);
  EXPECT_EQ(one.flow.infer(), "");
  EXPECT_EQ(one.flow.typeOf(one.node->outputs[0]), "float32[N]");
  SqueezeOrNot five(5);
  EXPECT_EQ(five.flow.infer(), "");
  EXPECT_EQ(five.flow.typeOf(five.node->outputs[0]), "float32[N, 5]");
  EXPECT_EQ(five.flow.run({countingFloats({1, 5})}), std::vector<std::string>{"float32[1, 5] 0 1 2 3 4"});
}

TEST(If, RankThatOnlyTheRunKnows) {
  FlowGraph flow;
  ir::Graph& g = flow.graph();
  const Size n = g.sizes().newSymbol("N", {1, 64}, SymbolOrigin::kInputDim);
  const Size c = g.sizes().newSymbol("C", {1, 64}, SymbolOrigin::kInputDim);
  ir::Value* x = g.addInput("x", tensorType(DType::kFloat32, {n, c}));
  ir::Value* condition = g.addInput("condition", tensorType(DType::kBool, {}));
  ir::Node* node = FlowGraph::flow(g, "If", {condition}, {"then_branch", "else_branch"}, 2);
  ir::Graph& then = *node->blocks[0];
  then.addOutput(FlowGraph::node(then, "Squeeze", {x, constantOf(then, intTensor({1}))}));
  then.addOutput(constantOf(then, intTensor({1, 2})));
  ir::Graph& other = *node->blocks[1];
  other.addOutput(x);
  other.addOutput(constantOf(other, intTensor({3})));
  flow.output(node->outputs[0]);
  flow.output(node->outputs[1]);
  ASSERT_EQ(flow.infer(), "");
  EXPECT_EQ(flow.typeOf(node->outputs[0]), "float32[?]");
  // The branch has not made C to 1 outside.
  EXPECT_EQ(flow.typeOf(x), "float32[N, C]");
  ASSERT_EQ(node->outputs[1]->type.shape.rank(), 1U);
  EXPECT_FALSE(node->outputs[1]->type.shape.dims[0].isConstant());
  const Tensor yes = ref::makeTensor(DType::kBool, {}, {1});
  const Tensor no = ref::makeTensor(DType::kBool, {}, {0});
  EXPECT_EQ(flow.run({countingFloats({2, 1}), yes}),
            (std::vector<std::string>{"float32[2] 0 1", "int64[2] 1 2"}));
  EXPECT_EQ(flow.run({countingFloats({1, 2}), no}),
            (std::vector<std::string>{"float32[1, 2] 0 1", "int64[1] 3"}));
  EXPECT_NE(flow.run({countingFloats({1, 2}), yes})[0].find("R1204"), std::string::npos);
}

TEST(If, TypesMustAgree) {
  FlowGraph flow;
  ir::Graph& g = flow.graph();
  ir::Node* node = FlowGraph::flow(g, "If", {g.addInput("condition", tensorType(DType::kBool, {}))},
                                   {"then_branch", "else_branch"}, 1);
  node->blocks[0]->addOutput(constantOf(*node->blocks[0], intTensor({1})));
  node->blocks[1]->addOutput(constantOf(*node->blocks[1], countingFloats({1})));
  EXPECT_NE(flow.infer().find("R1205"), std::string::npos);
}

/// A Loop with one carried value and one collected value; `makeBody` gets the body with its three inputs and adds its three outputs.
template <typename MakeBody>
ir::Node* makeLoop(FlowGraph& flow, ir::Value* trips, ir::Value* condition, ir::Value* initial,
                   const MakeBody& makeBody) {
  ir::Node* loop = FlowGraph::flow(flow.graph(), "Loop", {trips, condition, initial}, {"body"}, 2);
  ir::Graph& body = *loop->blocks[0];
  body.addInput("turn", tensorType(DType::kInt64, {}));
  body.addInput("go_on", tensorType(DType::kBool, {}));
  body.addInput("state", initial->type);
  makeBody(body);
  for (ir::Value* output : loop->outputs) flow.output(output);
  return loop;
}

TEST(Loop, ForLoopHasOneRowATurn) {
  // C19 (b, c).
  FlowGraph flow;
  ir::Graph& g = flow.graph();
  ir::Value* initial = g.addInput("x", tensorType(DType::kFloat32, {2}));
  ir::Node* loop = makeLoop(flow, constantOf(g, intScalar(4)), nullptr, initial, [](ir::Graph& body) {
    body.addOutput(FlowGraph::node(body, "Identity", {body.inputs()[1]}));
    body.addOutput(FlowGraph::node(body, "Add", {body.inputs()[2], body.inputs()[2]}));
    body.addOutput(body.inputs()[0]);
  });
  ASSERT_EQ(flow.infer(), "");
  EXPECT_EQ(flow.typeOf(loop->outputs[0]), "float32[2]");
  EXPECT_EQ(flow.typeOf(loop->outputs[1]), "int64[4]");
  EXPECT_EQ(flow.run({ref::makeFloats({2}, {1, 2})}),
            (std::vector<std::string>{"float32[2] 16 32", "int64[4] 0 1 2 3"}));
}

TEST(Loop, WhileLoopStopsInTime) {
  // C19 (a): while sum(x) < 10: x = x + 1.
  FlowGraph flow;
  ir::Graph& g = flow.graph();
  ir::Value* initial = g.addInput("x", tensorType(DType::kFloat32, {2}));
  const auto isSmall = [](ir::Graph& graph, ir::Value* x) {
    ir::Value* sum = FlowGraph::node(graph, "ReduceSum", {x}, attributesOf({{"keepdims", std::int64_t{0}}}));
    return FlowGraph::node(graph, "Less", {sum, constantOf(graph, ref::makeFloats({}, {10}))});
  };
  ir::Node* loop = makeLoop(flow, nullptr, isSmall(g, initial), initial, [&](ir::Graph& body) {
    ir::Value* next =
        FlowGraph::node(body, "Add", {body.inputs()[2], constantOf(body, ref::makeFloats({}, {1}))});
    body.addOutput(isSmall(body, next));
    body.addOutput(next);
    body.addOutput(body.inputs()[0]);
  });
  ASSERT_EQ(flow.infer(), "");
  ASSERT_EQ(loop->outputs[1]->type.shape.rank(), 1U);
  EXPECT_FALSE(loop->outputs[1]->type.shape.dims[0].isConstant());
  EXPECT_EQ(flow.run({ref::makeFloats({2}, {2.2, 3.3})}),
            (std::vector<std::string>{"float32[2] 5.2 6.3", "int64[3] 0 1 2"}));
  EXPECT_EQ(flow.run({ref::makeFloats({2}, {20, 3})}),
            (std::vector<std::string>{"float32[2] 20 3", "int64[0]"}));
}

TEST(Loop, CarriedValueThatGrows) {
  FlowGraph flow;
  ir::Graph& g = flow.graph();
  ir::Value* trips = g.addInput("trips", tensorType(DType::kInt64, {}));
  ir::Value* initial = g.addInput("x", tensorType(DType::kFloat32, {1, 2}));
  ir::Node* loop = makeLoop(flow, trips, nullptr, initial, [](ir::Graph& body) {
    body.addOutput(FlowGraph::node(body, "Identity", {body.inputs()[1]}));
    body.addOutput(FlowGraph::node(body, "Concat", {body.inputs()[2], body.inputs()[2]},
                                   attributesOf({{"axis", std::int64_t{0}}})));
    body.addOutput(FlowGraph::node(body, "Size", {body.inputs()[2]}));
  });
  ASSERT_EQ(flow.infer(), "");
  const ir::Type& type = loop->outputs[0]->type;
  ASSERT_EQ(type.shape.rank(), 2U);
  EXPECT_FALSE(type.shape.dims[0].isConstant());
  EXPECT_TRUE(type.shape.dims[1].is(2));
  EXPECT_EQ(flow.run({intScalar(2), ref::makeFloats({1, 2}, {1, 2})}),
            (std::vector<std::string>{"float32[4, 2] 1 2 1 2 1 2 1 2", "int64[2] 2 4"}));
  EXPECT_EQ(flow.run({intScalar(0), ref::makeFloats({1, 2}, {1, 2})}),
            (std::vector<std::string>{"float32[1, 2] 1 2", "int64[0]"}));
}

TEST(Scan, SumsBackwardsOverSlices) {
  FlowGraph flow;
  ir::Graph& g = flow.graph();
  const Size t = g.sizes().newSymbol("T", {1, 64}, SymbolOrigin::kInputDim);
  ir::Value* initial = g.addInput("state", tensorType(DType::kFloat32, {2}));
  ir::Value* x = g.addInput("x", tensorType(DType::kFloat32, {2, t}));
  ir::Node* scan = FlowGraph::flow(g, "Scan", {initial, x}, {"body"}, 2);
  scan->attributes = attributesOf({{"num_scan_inputs", std::int64_t{1}},
                                   {"scan_input_axes", std::vector<std::int64_t>{1}},
                                   {"scan_input_directions", std::vector<std::int64_t>{1}},
                                   {"scan_output_axes", std::vector<std::int64_t>{-1}}});
  ir::Graph& body = *scan->blocks[0];
  body.addInput("state", {});
  body.addInput("slice", {});
  ir::Value* sum = FlowGraph::node(body, "Add", {body.inputs()[0], body.inputs()[1]});
  body.addOutput(sum);
  body.addOutput(sum);
  flow.output(scan->outputs[0]);
  flow.output(scan->outputs[1]);
  ASSERT_EQ(flow.infer(), "");
  EXPECT_EQ(flow.typeOf(scan->outputs[0]), "float32[2]");
  EXPECT_EQ(flow.typeOf(scan->outputs[1]), "float32[2, T]");
  EXPECT_EQ(flow.run({ref::makeFloats({2}, {0, 0}), ref::makeFloats({2, 3}, {1, 2, 3, 4, 5, 6})}),
            (std::vector<std::string>{"float32[2] 6 15", "float32[2, 3] 3 5 6 6 11 15"}));
}

}  // namespace
}  // namespace rota::op
