// SPDX-License-Identifier: Apache-2.0
// Cuts a graph into regions: a root with the pointwise nodes that follow it, or pointwise nodes alone.
//
// Roots are taken first: a contraction, reduction or normalisation grows along its only user while that user is pointwise with the same
// shape and some tactic can run the whole; the longest such region wins. The pointwise nodes that are left are grouped into regions of one
// shape, without cycles between regions. Everything else is a region of one node. The regions come in a valid order of execution.
// Only operator kinds, expressions and tactics decide; no operator is named here. Tested by src/plan/regions_test.cpp.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tactic/tactic.h"

namespace rota::plan {

struct RegionOptions {
  const tactic::Target& target;
  const knob::KnobSet& knobs;
};

Result<std::vector<tactic::Region>> formRegions(ir::Graph& graph, const RegionOptions& options);

/// Who uses each value of one graph (nodes with nested graphs count as users of what these capture).
class UserIndex {
 public:
  explicit UserIndex(ir::Graph& graph);
  const std::vector<ir::Node*>& usersOf(const ir::Value* value) const;
  bool isOutput(const ir::Value* value) const { return outputs_.contains(value); }
  const std::unordered_map<const ir::Value*, std::vector<ir::Node*>>& all() const { return users_; }

 private:
  void note(const ir::Value* value, ir::Node* user);
  void noteNested(const ir::Graph& nested, ir::Node* user);
  std::unordered_map<const ir::Value*, std::vector<ir::Node*>> users_;
  std::unordered_set<const ir::Value*> outputs_;
};

/// Inputs, outputs and scope of a region from its nodes.
void completeRegion(ir::Graph& graph, const UserIndex& users, tactic::Region& region);

}  // namespace rota::plan
