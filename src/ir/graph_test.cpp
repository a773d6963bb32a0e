// SPDX-License-Identifier: Apache-2.0
// Building, rewriting, sorting and cloning graphs.
#include "ir/graph.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "ir/walk.h"

namespace rota::ir {
namespace {

class GraphTest : public testing::Test {
 protected:
  Node* add(const std::string& op, std::vector<Value*> inputs, Graph* graph = nullptr,
            const Node* before = nullptr) {
    return (graph != nullptr ? graph : &graph_)
        ->addNode(op, "", op, 13, std::move(inputs), {op + "_out"}, {}, before);
  }
  Graph* block(Node* node, const char* name) {
    node->blockNames.emplace_back(name);
    node->blocks.push_back(std::make_unique<Graph>(*node->owner));
    return node->blocks.back().get();
  }
  std::string order() {
    std::string text;
    for (const auto& node : graph_.nodes()) text += node->name + " ";
    return text;
  }

  Graph graph_;
  Value* x_ = graph_.addInput("x", {.dtype = DType::kFloat32, .shape = Shape::of({2, 3})});
};

TEST_F(GraphTest, NamesAreMadeUnique) {
  EXPECT_EQ(graph_.addInput("x", {})->name, "x_1");
  EXPECT_EQ(graph_.addInput("x_1", {})->name, "x_1_1");
  EXPECT_EQ(add("Relu", {x_})->name, "Relu");
  EXPECT_EQ(add("Relu", {x_})->name, "Relu_1");
  EXPECT_EQ(graph_.findValue("Relu_out_1")->producer->name, "Relu_1");
  EXPECT_FALSE(graph_.addInput("", {})->name.empty());
  EXPECT_EQ(graph_.findValue("none"), nullptr);
}

TEST_F(GraphTest, ConstantsHaveTypeAndContents) {
  const Value* ints = graph_.addConstant("i", Tensor::ofInt64({2, -1}, {2}), "test");
  EXPECT_EQ(ints->type.shape, Shape::of({2}));
  EXPECT_EQ(ints->contents, (std::vector<Size>{2, -1}));
  EXPECT_FALSE(ints->isInput());
  EXPECT_FALSE(graph_.addConstant("f", Tensor::ofFloat({1}, {1}), "test")->contents.has_value());
  EXPECT_FALSE(graph_.addConstant("l", Tensor::ofInt64(std::vector<std::int64_t>(65), {65}), "test")
                   ->contents.has_value());
}

TEST_F(GraphTest, ReplaceUsesReachesNestedGraphsAndOutputs) {
  Node* relu = add("Relu", {x_});
  Node* branch = add("If", {relu->outputs[0]});
  Graph* inner = block(branch, "then_branch");
  Node* neg = add("Neg", {relu->outputs[0]}, inner);
  inner->addOutput(relu->outputs[0]);
  graph_.addOutput(relu->outputs[0]);
  EXPECT_EQ(graph_.usersOf(relu->outputs[0]), (std::vector<Node*>{branch, neg}));
  EXPECT_TRUE(graph_.isGraphOutput(relu->outputs[0]));
  graph_.replaceUses(relu->outputs[0], x_);
  EXPECT_TRUE(graph_.usersOf(relu->outputs[0]).empty());
  EXPECT_FALSE(graph_.isGraphOutput(relu->outputs[0]));
  EXPECT_EQ(neg->inputs[0], x_);
  EXPECT_EQ(inner->outputs()[0], x_);
  EXPECT_EQ(graph_.outputs()[0], x_);
  graph_.eraseNode(relu);
  EXPECT_EQ(graph_.findValue("Relu_out"), nullptr);
  EXPECT_TRUE(verify(graph_)) << verify(graph_).toString();
}

TEST_F(GraphTest, UnusedValuesGoAndOutputsStay) {
  graph_.addConstant("unused", Tensor::ofInt64({1}, {1}), "test");
  Value* used = graph_.addConstant("used", Tensor::ofInt64({1}, {1}), "test");
  Value* result = graph_.addConstant("result", Tensor::ofInt64({1}, {1}), "test");
  Value* captured = graph_.addConstant("captured", Tensor::ofInt64({1}, {1}), "test");
  Node* node = add("If", {used});
  block(node, "then_branch")->addOutput(captured);
  graph_.addOutput(result);
  graph_.eraseUnusedValues();
  EXPECT_EQ(graph_.findValue("unused"), nullptr);
  EXPECT_EQ(graph_.findValue("used"), used);
  EXPECT_EQ(graph_.findValue("result"), result);
  EXPECT_EQ(graph_.findValue("captured"), captured);
  EXPECT_EQ(graph_.findValue("x"), x_) << "inputs are part of the interface";
}

TEST_F(GraphTest, SortIsStableAndSeesCaptures) {
  Node* a = add("A", {x_});
  Node* b = add("B", {x_});
  Node* c = add("C", {x_});
  c->inputs[0] = b->outputs[0];
  ASSERT_TRUE(graph_.sortNodes());
  EXPECT_EQ(order(), "A B C ");
  // A block of A uses C, so A comes last.
  Graph* inner = block(a, "body");
  add("Inner", {c->outputs[0]}, inner);
  ASSERT_TRUE(graph_.sortNodes());
  EXPECT_EQ(order(), "B C A ");
  add("D", {x_}, nullptr, c);
  EXPECT_EQ(order(), "B D C A ");
}

TEST_F(GraphTest, CyclesAreNamed) {
  add("Before", {x_});
  Node* a = add("A", {x_});
  Node* b = add("B", {a->outputs[0]});
  add("After", {b->outputs[0]});
  a->inputs[0] = b->outputs[0];
  const Status status = graph_.sortNodes();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.code(), ErrorCode::kBadGraph);
  EXPECT_TRUE(status.detail().node == "A" || status.detail().node == "B") << status.toString();
}

TEST_F(GraphTest, ProvenanceMergesAndIsDescribed) {
  const auto conv = graph_.sources().add({"", "conv1", "Conv"});
  const auto relu = graph_.sources().add({"loop/body/", "relu1", "Relu"});
  Provenance p{{relu}};
  p.merge(Provenance{{conv}});
  p.merge(Provenance{{relu}});
  EXPECT_EQ(p.sources, (std::vector<std::uint32_t>{conv, relu}));
  EXPECT_EQ(graph_.sources().describe(p), "conv1 (Conv), loop/body/relu1 (Relu)");
  for (int i = 0; i < 4; ++i) p.merge(Provenance{{graph_.sources().add({"", "n", "N"})}});
  EXPECT_EQ(graph_.sources().describe(p), "conv1 (Conv), loop/body/relu1 (Relu), n (N) and 3 more");
}

TEST_F(GraphTest, ClonesAreEqualAndIndependent) {
  const Size n = graph_.sizes().newSymbol("n", {1, 8}, SymbolOrigin::kInputDim);
  Value* y = graph_.addInput("y", {.dtype = DType::kFloat32, .shape = Shape::of({n, n * 2})});
  Node* first = add("Shape", {y});
  first->attributes.set("start", std::int64_t{1});
  first->provenance.sources = {graph_.sources().add({"", "shape", "Shape"})};
  first->outputs[0]->contents = std::vector<Size>{n * 2};
  first->outputs[0]->type = {.dtype = DType::kInt64, .shape = Shape::of({1})};
  Node* loop = add("Loop", {x_});
  Graph* unused = block(loop, "a");
  Graph* body = block(loop, "body");
  ASSERT_NE(unused->scope, body->scope);
  add("Neg", {first->outputs[0]}, body);
  body->addOutput(body->findValue("Neg_out"));
  graph_.addOutput(loop->outputs[0]);
  graph_.outputNames() = {"result"};

  const auto copy = cloneGraph(graph_);
  EXPECT_EQ(printGraph(*copy), printGraph(graph_));
  EXPECT_TRUE(verify(*copy)) << verify(*copy).toString();
  EXPECT_EQ(copy->nodes()[1]->blocks[1]->scope, body->scope);
  EXPECT_EQ(copy->findValue("Shape_out")->id, first->outputs[0]->id);
  EXPECT_EQ(&copy->nodes()[1]->blocks[1]->sizes(), &copy->sizes());
  const std::string before = printGraph(graph_);
  copy->addInput("more", {});
  copy->sizes().newSymbol("m", {1}, SymbolOrigin::kInputDim);
  copy->nodes()[0]->attributes.set("start", std::int64_t{2});
  EXPECT_EQ(printGraph(graph_), before);
  EXPECT_NE(copy->addInput("fresh", {})->id, loop->outputs[0]->id);
}

TEST_F(GraphTest, WalksSeeEveryUse) {
  Node* outer = add("If", {x_});
  Graph* middle = block(outer, "then_branch");
  Node* inner = add("If", {x_}, middle);
  Graph* innermost = block(inner, "then_branch");
  Node* neg = add("Neg", {x_}, innermost);
  innermost->addOutput(neg->outputs[0]);
  std::size_t uses = 0;
  forEachUse(*outer, [&](const Value* value) { uses += value == x_ ? 1 : 0; });
  EXPECT_EQ(uses, 3U);
  std::vector<std::uint32_t> scopes;
  forEachGraph(graph_, [&](const Graph& graph) { scopes.push_back(graph.scope); });
  EXPECT_EQ(scopes, (std::vector<std::uint32_t>{0, middle->scope, innermost->scope}));
}

}  // namespace
}  // namespace rota::ir
