// SPDX-License-Identifier: Apache-2.0
#include "plan/regions.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/check.h"
#include "op/definition.h"

namespace rota::plan {
namespace {

using tactic::Region;

constexpr knob::Knob kFuseEpilogue = knob::toggle(
    "fuse:epilogue", true, "Lets products, convolutions and reductions take the pointwise nodes after them.",
    {.stage = knob::Stage::kRegion});
constexpr knob::Knob kFusePointwise =
    knob::toggle("fuse:pointwise", true, "Groups pointwise nodes of one shape into one kernel.",
                 {.stage = knob::Stage::kRegion});
constexpr knob::Knob kPointwiseNodes =
    knob::choice("fuse:pointwise_nodes", {"2", "4", "8", "16", "32"}, "32",
                 "The most nodes that one pointwise kernel may take.", {.stage = knob::Stage::kRegion});
const knob::RegisterKnob kRegisterFuseEpilogue(kFuseEpilogue);
const knob::RegisterKnob kRegisterFusePointwise(kFusePointwise);
const knob::RegisterKnob kRegisterPointwiseNodes(kPointwiseNodes);

constexpr std::size_t kMaxEpilogue = 8;
constexpr std::size_t kMaxRegionInputs = 12;

/// Facts about one graph that region forming asks for again and again.
class Former {
 public:
  Former(ir::Graph& graph, const RegionOptions& options) : graph_(graph), options_(options), users_(graph) {
    for (const auto& node : graph.nodes()) {
      index_[node.get()] = nodes_.size();
      nodes_.push_back(node.get());
    }
    regionOf_.assign(nodes_.size(), kUnassigned);
  }

  Result<std::vector<Region>> run() {
    for (ir::Node* node : nodes_) {
      if (isRoot(*node)) growFromRoot(node);
    }
    for (ir::Node* node : nodes_) {
      if (regionOf_[index_[node]] != kUnassigned) continue;
      if (!isPointwise(*node) || !joinPointwise(node)) open(node, isPointwise(*node) ? nullptr : node);
    }
    for (Region& r : regions_) completeRegion(graph_, users_, r);
    return order();
  }

 private:
  static constexpr std::size_t kUnassigned = ~std::size_t{0};

  static bool isPointwise(const ir::Node& node) {
    return node.definition->kind == op::Kind::kPointwise && node.definition->expression != nullptr &&
           node.outputs.size() == 1 && node.definition->expression(node).has_value();
  }
  static bool isRoot(const ir::Node& node) {
    return node.definition->kind == op::Kind::kContraction || node.definition->kind == op::Kind::kReduction;
  }

  /// The one node that may follow `value` in its region, or nullptr.
  ir::Node* onlyPointwiseUser(const ir::Value* value) const {
    const auto& users = users_.usersOf(value);
    if (users_.isOutput(value) || users.size() != 1) return nullptr;
    ir::Node* user = users[0];
    if (user->owner != &graph_ || !isPointwise(*user) || user->outputs[0] == nullptr) return nullptr;
    if (regionOf_[index_.at(user)] != kUnassigned) return nullptr;
    return user->outputs[0]->type.shape == value->type.shape ? user : nullptr;
  }

  bool isFreePointwise(const ir::Node* node, const ir::Value* like) const {
    return node->owner == &graph_ && isPointwise(*node) && node->outputs[0] != nullptr &&
           regionOf_[index_.at(node)] == kUnassigned && node->outputs[0]->type.shape == like->type.shape;
  }

  /// x -> gate(x) -> join(x, gate(x)), the form of x * sigmoid(x): both nodes, or nullptr.
  std::pair<ir::Node*, ir::Node*> diamond(const ir::Value* value) const {
    const auto& users = users_.usersOf(value);
    if (users_.isOutput(value) || users.size() != 2) return {nullptr, nullptr};
    for (std::size_t i = 0; i < 2; ++i) {
      ir::Node* gate = users[i];
      ir::Node* join = users[1 - i];
      if (!isFreePointwise(gate, value) || !isFreePointwise(join, value) || gate->inputs.size() != 1)
        continue;
      const auto& gateUsers = users_.usersOf(gate->outputs[0]);
      if (!users_.isOutput(gate->outputs[0]) && gateUsers.size() == 1 && gateUsers[0] == join)
        return {gate, join};
    }
    return {nullptr, nullptr};
  }

  std::size_t open(ir::Node* node, ir::Node* root) {
    Region region;
    region.root = root;
    region.nodes = {node};
    regionOf_[index_[node]] = regions_.size();
    regions_.push_back(std::move(region));
    return regions_.size() - 1;
  }

  void growFromRoot(ir::Node* root) {
    Region region;
    region.root = root;
    region.nodes = {root};
    std::vector<ir::Node*> chain;
    if (root->outputs.size() == 1 || std::count(root->outputs.begin(), root->outputs.end(), nullptr) + 1 ==
                                         static_cast<long>(root->outputs.size())) {
      const ir::Value* last = root->outputs[0];
      while (last != nullptr && chain.size() < kMaxEpilogue) {
        if (ir::Node* next = onlyPointwiseUser(last)) {
          chain.push_back(next);
          last = next->outputs[0];
        } else if (const auto [gate, join] = diamond(last); join != nullptr) {
          chain.push_back(gate);
          chain.push_back(join);
          last = join->outputs[0];
        } else {
          break;
        }
      }
    }
    // The longest epilogue that a tactic of this region takes.
    for (std::size_t take = chain.size(); take > 0; --take) {
      Region trial = region;
      trial.nodes.insert(trial.nodes.end(), chain.begin(), chain.begin() + static_cast<long>(take));
      completeRegion(graph_, users_, trial);
      if (!options_.knobs.on(kFuseEpilogue, trial.scope)) continue;
      if (!tactic::enumerate({trial, options_.target, options_.knobs, graph_.sizes()}).usable.empty()) {
        region = std::move(trial);
        break;
      }
    }
    for (ir::Node* n : region.nodes) regionOf_[index_[n]] = regions_.size();
    regions_.push_back(std::move(region));
  }

  /// The last node that runs together with `node`: nothing before the target's first node can depend on the target.
  std::size_t lastOf(const ir::Node* node) const {
    const std::size_t r = regionOf_[index_.at(node)];
    std::size_t last = index_.at(node);
    if (r == kUnassigned) return last;
    for (const ir::Node* n : regions_[r].nodes) last = std::max(last, index_.at(n));
    return last;
  }

  /// True when some value that `node` needs, other than through region `target`, depends on that region.
  bool wouldCycle(const ir::Node* node, std::size_t target) const {
    std::size_t first = kUnassigned;
    for (const ir::Node* n : regions_[target].nodes) first = std::min(first, index_.at(n));
    std::vector<const ir::Node*> stack;
    std::set<const ir::Node*> seen;
    const auto push = [&](const ir::Value* v) {
      if (v == nullptr || v->producer == nullptr || v->producer->owner != &graph_) return;
      if (lastOf(v->producer) > first && seen.insert(v->producer).second) stack.push_back(v->producer);
    };
    const auto inTarget = [&](const ir::Node* n) { return regionOf_[index_.at(n)] == target; };
    for (const ir::Value* in : node->inputs) {
      if (in != nullptr && in->producer != nullptr && in->producer->owner == &graph_ &&
          !inTarget(in->producer))
        push(in);
    }
    while (!stack.empty()) {
      const ir::Node* n = stack.back();
      stack.pop_back();
      // All nodes of n's region run together, so what any of them needs, n needs.
      const std::size_t r = regionOf_[index_.at(n)];
      const std::vector<ir::Node*> together =
          r == kUnassigned ? std::vector<ir::Node*>{const_cast<ir::Node*>(n)} : regions_[r].nodes;
      for (const ir::Node* m : together) {
        if (inTarget(m)) return true;
        for (const ir::Value* in : m->inputs) {
          if (in != nullptr && in->producer != nullptr && in->producer->owner == &graph_ &&
              inTarget(in->producer))
            return true;
          push(in);
        }
        for (const auto& block : m->blocks)
          if (dependsOn(*block, target)) return true;
      }
    }
    return false;
  }

  bool dependsOn(const ir::Graph& nested, std::size_t target) const {
    for (const auto& node : nested.nodes()) {
      for (const ir::Value* in : node->inputs) {
        if (in != nullptr && in->producer != nullptr && in->producer->owner == &graph_ &&
            regionOf_[index_.at(in->producer)] == target)
          return true;
      }
      for (const auto& block : node->blocks)
        if (dependsOn(*block, target)) return true;
    }
    return false;
  }

  /// Puts a pointwise node into the region of one of its producers, where shape, limits, order and tactics allow.
  bool joinPointwise(ir::Node* node) {
    if (node->outputs[0] == nullptr) return false;
    for (const ir::Value* in : node->inputs) {
      if (in == nullptr || in->producer == nullptr || in->producer->owner != &graph_) continue;
      const std::size_t r = regionOf_[index_[in->producer]];
      if (r == kUnassigned || regions_[r].root != nullptr || in->type.shape != node->outputs[0]->type.shape)
        continue;
      if (!isPointwise(*regions_[r].nodes[0])) continue;
      Region trial = regions_[r];
      trial.nodes.push_back(node);
      completeRegion(graph_, users_, trial);
      if (!options_.knobs.on(kFusePointwise, trial.scope)) continue;
      if (trial.nodes.size() > static_cast<std::size_t>(options_.knobs.number(kPointwiseNodes, trial.scope)))
        continue;
      if (trial.inputs.size() > kMaxRegionInputs || wouldCycle(node, r)) continue;
      if (tactic::enumerate({trial, options_.target, options_.knobs, graph_.sizes()}).usable.empty())
        continue;
      regionOf_[index_[node]] = r;
      regions_[r].nodes.push_back(node);
      return true;
    }
    return false;
  }

  /// Kahn's algorithm over regions; ties by the first node, so that the order is the model's where it can be.
  Result<std::vector<Region>> order() {
    std::vector<std::set<std::size_t>> after(regions_.size());
    std::vector<std::size_t> waiting(regions_.size(), 0);
    for (const auto& [value, users] : users_.all()) {
      if (value->producer == nullptr || value->producer->owner != &graph_) continue;
      const std::size_t from = regionOf_[index_[value->producer]];
      for (ir::Node* user : users) {
        const std::size_t to = regionOf_[index_[user]];
        if (from != to && after[from].insert(to).second) ++waiting[to];
      }
    }
    const auto firstNode = [&](std::size_t r) { return index_[regions_[r].nodes.back()]; };
    std::set<std::pair<std::size_t, std::size_t>> ready;
    for (std::size_t r = 0; r < regions_.size(); ++r)
      if (waiting[r] == 0) ready.emplace(firstNode(r), r);
    std::vector<Region> ordered;
    while (!ready.empty()) {
      const std::size_t r = ready.begin()->second;
      ready.erase(ready.begin());
      for (std::size_t next : after[r])
        if (--waiting[next] == 0) ready.emplace(firstNode(next), next);
      ordered.push_back(std::move(regions_[r]));
    }
    if (ordered.size() != regions_.size())
      return Status(ErrorCode::kInternal, "regions depend on each other in a circle");
    return ordered;
  }

  ir::Graph& graph_;
  const RegionOptions& options_;
  std::vector<ir::Node*> nodes_;
  UserIndex users_;
  std::unordered_map<const ir::Node*, std::size_t> index_;
  std::vector<std::size_t> regionOf_;
  std::vector<Region> regions_;
};

void collectCaptures(const ir::Graph& nested, const ir::Graph& owner, std::vector<ir::Value*>& inputs) {
  const auto add = [&](ir::Value* v) {
    if (v != nullptr && v->owner == &owner && std::find(inputs.begin(), inputs.end(), v) == inputs.end())
      inputs.push_back(v);
  };
  for (ir::Value* out : nested.outputs()) add(out);
  for (const auto& node : nested.nodes()) {
    for (ir::Value* in : node->inputs) add(in);
    for (const auto& block : node->blocks) collectCaptures(*block, owner, inputs);
  }
}

}  // namespace

UserIndex::UserIndex(ir::Graph& graph) {
  for (const auto& node : graph.nodes()) {
    for (const ir::Value* in : node->inputs) note(in, node.get());
    for (const auto& block : node->blocks) noteNested(*block, node.get());
  }
  outputs_.insert(graph.outputs().begin(), graph.outputs().end());
}

const std::vector<ir::Node*>& UserIndex::usersOf(const ir::Value* value) const {
  static const std::vector<ir::Node*> kNobody;
  const auto it = users_.find(value);
  return it == users_.end() ? kNobody : it->second;
}

void UserIndex::note(const ir::Value* value, ir::Node* user) {
  if (value == nullptr) return;
  auto& users = users_[value];
  if (users.empty() || users.back() != user) users.push_back(user);
}

void UserIndex::noteNested(const ir::Graph& nested, ir::Node* user) {
  for (const ir::Value* out : nested.outputs()) note(out, user);
  for (const auto& node : nested.nodes()) {
    for (const ir::Value* in : node->inputs) note(in, user);
    for (const auto& block : node->blocks) noteNested(*block, user);
  }
}

void completeRegion(ir::Graph& graph, const UserIndex& users, Region& region) {
  region.inputs.clear();
  region.outputs.clear();
  region.scope.clear();
  const auto inside = [&](const ir::Node* n) {
    return n != nullptr && std::find(region.nodes.begin(), region.nodes.end(), n) != region.nodes.end();
  };
  ir::Provenance provenance;
  for (ir::Node* node : region.nodes) {
    for (ir::Value* in : node->inputs) {
      if (in != nullptr && !inside(in->producer) &&
          std::find(region.inputs.begin(), region.inputs.end(), in) == region.inputs.end())
        region.inputs.push_back(in);
    }
    for (const auto& block : node->blocks) collectCaptures(*block, graph, region.inputs);
    provenance.merge(node->provenance);
  }
  for (ir::Node* node : region.nodes) {
    for (ir::Value* out : node->outputs) {
      if (out == nullptr) continue;
      bool outside = users.isOutput(out);
      for (const ir::Node* user : users.usersOf(out)) outside = outside || !inside(user);
      if (outside) region.outputs.push_back(out);
    }
  }
  for (std::uint32_t id : provenance.sources) {
    const ir::SourceNode& source = graph.sources().at(id);
    region.scope += (region.scope.empty() ? "" : "\n") + source.scope + source.name;
  }
}

Result<std::vector<Region>> formRegions(ir::Graph& graph, const RegionOptions& options) {
  return Former(graph, options).run();
}

}  // namespace rota::plan
