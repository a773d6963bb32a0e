// SPDX-License-Identifier: Apache-2.0
// Each way of breaking a graph is reported with its rule.
#include <functional>

#include <gtest/gtest.h>

#include "ir/graph.h"

namespace rota::ir {
namespace {

struct Fixture {
  Graph graph;
  Value* x = graph.addInput("x", {.dtype = DType::kFloat32, .shape = Shape::of({2})});
  Value* c = graph.addConstant("c", Tensor::ofInt64({1}, {1}), "test");
  Node* first = graph.addNode("first", "", "Relu", 13, {x}, {"y"});
  Node* second = graph.addNode("second", "", "If", 13, {first->outputs[0], nullptr}, {"z", ""});

  Fixture() {
    second->blockNames.emplace_back("then_branch");
    second->blocks.push_back(std::make_unique<Graph>(graph));
    Graph& block = *second->blocks[0];
    Node* inner = block.addNode("inner", "", "Neg", 13, {first->outputs[0]}, {"w"});
    block.addOutput(inner->outputs[0]);
    graph.addOutput(second->outputs[0]);
    graph.outputNames() = {"z"};
  }
  std::string rule() {
    const Status status = verify(graph);
    return status.isOk() ? "ok" : status.detail().expected;
  }
};

TEST(Verify, AcceptsASoundGraph) { EXPECT_EQ(Fixture().rule(), "ok"); }

TEST(Verify, NamesTheBrokenRule) {
  const std::vector<std::pair<std::string, std::function<void(Fixture&)>>> cases{
      {"inputs are computed before the node ('z')",
       [](Fixture& f) { f.first->inputs[0] = f.second->outputs[0]; }},
      {"inputs are values of this graph or of one around it",
       [](Fixture& f) { f.first->inputs[0] = f.second->blocks[0]->findValue("w"); }},
      {"an output knows its producer", [](Fixture& f) { f.first->outputs[0]->producer = f.second; }},
      {"outputs are values of the node's graph",
       [](Fixture& f) { f.second->outputs[0] = f.second->blocks[0]->findValue("w"); }},
      {"a value is found by its name", [](Fixture& f) { f.x->name = "other"; }},
      {"value ids are unique", [](Fixture& f) { f.second->blocks[0]->findValue("w")->id = f.x->id; }},
      {"node names are unique", [](Fixture& f) { f.second->name = "first"; }},
      {"every block has a name", [](Fixture& f) { f.second->blockNames.clear(); }},
      {"every graph output has a name, or none has",
       [](Fixture& f) { f.graph.outputNames().emplace_back("more"); }},
      {"graph outputs are computed values",
       [](Fixture& f) { f.graph.setOutput(0, f.second->blocks[0]->findValue("w")); }},
      {"a constant has the type of its tensor", [](Fixture& f) { f.c->type.dtype = DType::kInt32; }},
      {"a value without producer is a constant or an input", [](Fixture& f) { f.c->constant = Tensor(); }},
      {"dims are not negative", [](Fixture& f) { f.x->type.shape.dims[0] = -1; }},
      {"dims are valid sizes", [](Fixture& f) { f.x->type.shape.dims[0] = Size::invalid(); }},
      {"an unknown shape has no dims", [](Fixture& f) { f.x->type.shape.known = false; }},
      {"source ids are in the table", [](Fixture& f) { f.first->provenance.sources = {5}; }},
      {"a node's owner is the graph that holds it",
       [](Fixture& f) { f.first->owner = f.second->blocks[0].get(); }},
      {"the producer of a value is a node of its graph",
       [](Fixture& f) {
         f.second->outputs[0] = nullptr;  // z still says that it comes from this node
         f.graph.setOutput(0, f.x);
       }},
  };
  for (const auto& [rule, breakIt] : cases) {
    Fixture fixture;
    breakIt(fixture);
    EXPECT_EQ(fixture.rule(), rule);
  }
}

TEST(Verify, DanglingUsesAreNotRead) {
  Fixture fixture;
  // Erases a node whose output is still used: the use is reported without following the pointer.
  fixture.graph.eraseNode(fixture.first);
  EXPECT_EQ(fixture.rule(), "inputs are values of this graph or of one around it");
}

}  // namespace
}  // namespace rota::ir
