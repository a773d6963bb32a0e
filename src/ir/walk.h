// SPDX-License-Identifier: Apache-2.0
// Walks over a graph and the graphs nested in it.
#pragma once

#include "ir/graph.h"

namespace rota::ir {

/// Calls `visit` with `graph` and every graph nested in it, outer before inner.
template <typename GraphType, typename Visit> void forEachGraph(GraphType& graph, const Visit& visit) {
  visit(graph);
  for (const auto& node : graph.nodes()) {
    for (const auto& block : node->blocks) forEachGraph<GraphType>(*block, visit);
  }
}

/// Calls `visit` with every value that `node` uses: its inputs, and what its blocks (at any depth) use, their own values included.
template <typename Visit> void forEachUse(const Node& node, const Visit& visit) {
  for (Value* input : node.inputs) {
    if (input != nullptr) visit(input);
  }
  for (const auto& block : node.blocks) {
    for (const auto& inner : block->nodes()) forEachUse(*inner, visit);
    for (Value* output : block->outputs()) visit(output);
  }
}

}  // namespace rota::ir
