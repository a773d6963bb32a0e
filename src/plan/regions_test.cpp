// SPDX-License-Identifier: Apache-2.0
#include "plan/regions.h"

#include <gtest/gtest.h>

#include "op/definition.h"

namespace rota::plan {
namespace {

struct Model {
  ir::Graph graph;
  ir::Value* input(const char* name, std::vector<Size> dims) {
    ir::Type type;
    type.dtype = DType::kFloat32;
    type.shape = ir::Shape::of(std::move(dims));
    return graph.addInput(name, type);
  }
  ir::Value* add(const char* op, std::vector<ir::Value*> inputs) {
    const std::string name = op + std::to_string(graph.nodes().size());
    ir::Node* n =
        graph.addNode(name, "", op, 17, std::move(inputs), {name}, {{graph.sources().add({"", name, op})}});
    n->definition = op::find("", op);
    return n->outputs[0];
  }
  void output(ir::Value* v) {
    graph.addOutput(v);
    graph.outputNames().push_back(v->name);
  }
  /// "Relu0+Add1 MatMul2": regions in order, nodes joined by '+'.
  std::string regions(const char* route = "") {
    EXPECT_TRUE(op::inferGraph(graph).isOk());
    const tactic::Target target;
    const auto knobs = knob::KnobSet::parseRoute(route);
    EXPECT_TRUE(knobs.isOk());
    auto formed = formRegions(graph, {target, *knobs});
    EXPECT_TRUE(formed.isOk()) << formed.status().toString();
    std::string text;
    for (const auto& r : *formed) {
      if (!text.empty()) text += " ";
      for (std::size_t i = 0; i < r.nodes.size(); ++i) text += (i == 0 ? "" : "+") + r.nodes[i]->name;
    }
    return text;
  }
};

TEST(Regions, PointwiseNodesOfOneShapeJoin) {
  Model m;
  ir::Value* x = m.input("x", {4, 4});
  m.output(m.add("Tanh", {m.add("Mul", {m.add("Exp", {x}), x})}));
  EXPECT_EQ(m.regions(), "Exp0+Mul1+Tanh2");
}

TEST(Regions, KnobsLimitThem) {
  Model m;
  ir::Value* x = m.input("x", {4, 4});
  m.output(m.add("Tanh", {m.add("Mul", {m.add("Exp", {x}), x})}));
  EXPECT_EQ(m.regions("-fuse:pointwise=off"), "Exp0 Mul1 Tanh2");
  EXPECT_EQ(m.regions("-fuse:pointwise_nodes=2"), "Exp0+Mul1 Tanh2");
}

TEST(Regions, NoRegionDependsOnItself) {
  // Exp0 -> MatMul1 -> Add2(Exp0, MatMul1): Add2 may not join Exp0, for the product stands between them.
  Model m;
  ir::Value* x = m.input("x", {4, 4});
  ir::Value* e = m.add("Exp", {x});
  ir::Value* p = m.add("MatMul", {e, x});
  ir::Value* s = m.add("Add", {e, p});
  m.output(s);
  m.output(m.add("Tanh", {p}));
  EXPECT_EQ(m.regions(), "Exp0 MatMul1 Add2 Tanh3");
}

TEST(Regions, AnEarlyNodeOfALateRegionIsSeen) {
  // Sub joins Neg0, and with it that region needs the product of Exp1; Mul(Exp1, Neg0) may not join Exp1 then, only Neg0.
  Model m;
  ir::Value* x = m.input("x", {4, 4});
  ir::Value* early = m.add("Neg", {x});
  ir::Value* e = m.add("Exp", {x});
  ir::Value* p = m.add("MatMul", {e, x});
  m.output(m.add("Relu", {p}));
  m.output(p);
  m.output(m.add("Sub", {early, p}));
  m.output(m.add("Mul", {e, early}));
  EXPECT_EQ(m.regions(), "Exp1 MatMul2 Relu3 Neg0+Sub4+Mul5");
}

}  // namespace
}  // namespace rota::plan
