// SPDX-License-Identifier: Apache-2.0
// One backward sweep is enough: nodes are in topological order.
#include "pass/eliminate_dead.h"

#include <set>

#include "core/check.h"
#include "op/definition.h"

namespace rota::pass {
namespace {

const knob::RegisterKnob kRegisterEliminateDead(kPassEliminateDead);

void collectUses(const ir::Graph& graph, std::set<const ir::Value*>& used) {
  for (const ir::Value* v : graph.outputs()) used.insert(v);
  for (const auto& node : graph.nodes()) {
    for (const ir::Value* in : node->inputs) used.insert(in);
    for (const auto& block : node->blocks) collectUses(*block, used);
  }
}

}  // namespace

Status eliminateDead(ir::Graph& graph, const PassContext&, bool& changed) {
  std::set<const ir::Value*> used;
  for (const ir::Value* v : graph.outputs()) used.insert(v);
  std::vector<ir::Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    ir::Node* node = *it;
    bool wanted = false;
    for (const ir::Value* out : node->outputs) wanted = wanted || (out != nullptr && used.contains(out));
    if (!wanted) {
      graph.eraseNode(node);
      changed = true;
      continue;
    }
    for (const ir::Value* in : node->inputs) used.insert(in);
    for (const auto& block : node->blocks) collectUses(*block, used);
  }
  graph.eraseUnusedValues();
  return Status::ok();
}

}  // namespace rota::pass
