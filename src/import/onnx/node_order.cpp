// SPDX-License-Identifier: Apache-2.0
// See node_order.h.
#include "import/onnx/node_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>

namespace rota::onnx {
namespace {

using Producers = std::unordered_map<std::string_view, std::uint32_t>;

/// Indices of the nodes whose outputs `node` uses.
std::vector<std::uint32_t> usesOf(const NodeView& node, const Producers& producers) {
  std::vector<std::uint32_t> uses;
  const auto add = [&](std::string_view name) {
    if (const auto found = producers.find(name); found != producers.end()) uses.push_back(found->second);
  };
  for (const std::string_view name : node.inputs) add(name);
  for (const AttributeView& attribute : node.attributes) {
    if (!attribute.graph) continue;
    for (const std::string_view name : attribute.graph->captures) add(name);
  }
  std::sort(uses.begin(), uses.end());
  uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  return uses;
}

/// From any stuck node, going to a stuck node that it uses must come back to a node seen before.
std::vector<std::uint32_t> findCycle(const std::vector<std::vector<std::uint32_t>>& uses,
                                     const std::vector<bool>& done, std::uint32_t start) {
  std::vector<std::uint32_t> path;
  std::vector<std::size_t> position(uses.size(), SIZE_MAX);
  std::uint32_t at = start;
  while (position[at] == SIZE_MAX) {
    position[at] = path.size();
    path.push_back(at);
    at = *std::find_if(uses[at].begin(), uses[at].end(), [&](std::uint32_t used) { return !done[used]; });
  }
  path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(position[at]));
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

NodeOrder orderNodes(const std::vector<NodeView>& nodes) {
  Producers producers;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    for (const std::string_view name : nodes[i].outputs) {
      if (!name.empty()) producers.emplace(name, i);  // a second definition is reported by the builder
    }
  }
  std::vector<std::vector<std::uint32_t>> uses(nodes.size());
  std::vector<std::vector<std::uint32_t>> users(nodes.size());
  std::vector<std::size_t> waitsFor(nodes.size());
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    uses[i] = usesOf(nodes[i], producers);
    waitsFor[i] = uses[i].size();
    for (const std::uint32_t used : uses[i]) users[used].push_back(i);
    if (waitsFor[i] == 0) ready.push(i);
  }
  NodeOrder result;
  std::vector<bool> done(nodes.size(), false);
  while (!ready.empty()) {
    const std::uint32_t i = ready.top();
    ready.pop();
    done[i] = true;
    result.order.push_back(i);
    for (const std::uint32_t user : users[i]) {
      if (--waitsFor[user] == 0) ready.push(user);
    }
  }
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (!done[i]) result.stuck.push_back(i);
  }
  if (!result.stuck.empty()) result.cycle = findCycle(uses, done, result.stuck.front());
  return result;
}

}  // namespace rota::onnx
