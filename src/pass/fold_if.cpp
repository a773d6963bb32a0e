// SPDX-License-Identifier: Apache-2.0
// An If with a known condition: the nodes of the branch move into the graph around it, which keeps provenance and captures as they are.
#include "pass/fold_if.h"

#include <map>

#include "core/check.h"
#include "op/definition.h"

namespace rota::pass {
namespace {

const knob::RegisterKnob kRegisterFoldIf(kPassFoldIf);

/// Copies the nodes of `branch` before `node`; returns the values that stand for the branch's outputs.
std::vector<ir::Value*> inlineBranch(ir::Graph& graph, ir::Graph& branch, const ir::Node* node) {
  std::map<const ir::Value*, ir::Value*> moved;
  const auto lookup = [&](ir::Value* v) -> ir::Value* {
    if (v == nullptr) return nullptr;
    if (const auto it = moved.find(v); it != moved.end()) return it->second;
    if (v->owner == &branch && v->isConstant())
      return moved[v] = graph.addConstant(v->name, v->constant, v->recipe, v->provenance);
    return v;
  };
  for (const auto& inner : branch.nodes()) {
    std::vector<ir::Value*> inputs;
    for (ir::Value* in : inner->inputs) inputs.push_back(lookup(in));
    std::vector<std::string> names;
    for (const ir::Value* out : inner->outputs) names.push_back(out == nullptr ? "" : out->name);
    ir::Node* copy = graph.addNode(inner->name, inner->domain, inner->opType, inner->version, inputs, names,
                                   inner->provenance, node);
    copy->definition = inner->definition;
    copy->attributes = inner->attributes;
    for (std::size_t i = 0; i < inner->outputs.size(); ++i) {
      if (inner->outputs[i] != nullptr) moved[inner->outputs[i]] = copy->outputs[i];
    }
  }
  std::vector<ir::Value*> results;
  for (ir::Value* out : branch.outputs()) results.push_back(lookup(out));
  return results;
}

bool hasNestedBlocks(const ir::Graph& graph) {
  for (const auto& n : graph.nodes())
    if (!n->blocks.empty()) return true;
  return false;
}

}  // namespace

Status foldIf(ir::Graph& graph, const PassContext&, bool& changed) {
  std::vector<ir::Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  for (ir::Node* node : nodes) {
    if (node->opType != "If" || !node->domain.empty() || node->input(0) == nullptr) continue;
    const ir::Value& condition = *node->input(0);
    if (!condition.isConstant() || condition.constant.count() != 1) continue;
    ir::Graph* branch = node->block(intAt(condition.constant.view(), 0) != 0 ? "then_branch" : "else_branch");
    // Nested control flow inside the branch keeps the If: its blocks would have to change owners.
    if (branch == nullptr || hasNestedBlocks(*branch)) continue;
    const std::vector<ir::Value*> results = inlineBranch(graph, *branch, node);
    for (std::size_t i = 0; i < node->outputs.size(); ++i) {
      if (node->outputs[i] != nullptr) graph.replaceUses(node->outputs[i], results[i]);
    }
    graph.eraseNode(node);
    changed = true;
  }
  return Status::ok();
}

}  // namespace rota::pass
