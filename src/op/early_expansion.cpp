// SPDX-License-Identifier: Apache-2.0
// Nodes that are expanded when a model is imported; see early_expansion.h. Tested by src/op/early_expansion_test.cpp.
#include "op/early_expansion.h"

#include <map>

#include "core/element_access.h"
#include "ir/walk.h"
#include "op/describe.h"

namespace rota::op {
namespace {

/// Operator set whose forms the written nodes have.
constexpr int kEarlyVersion = 24;

struct EarlyEntry {
  bool (*applies)(const ir::Node&) = nullptr;
  EarlyExpansion expand = nullptr;
};

std::map<std::pair<std::string, std::string>, EarlyEntry>& earlyTable() {
  static std::map<std::pair<std::string, std::string>, EarlyEntry> table;
  return table;
}

const EarlyEntry* earlyEntryOf(const ir::Node& node) {
  const auto found = earlyTable().find({node.domain, node.opType});
  if (found == earlyTable().end()) return nullptr;
  const EarlyEntry& entry = found->second;
  return entry.applies == nullptr || entry.applies(node) ? &entry : nullptr;
}

/// The guards of a block that goes away go with it.
void dropGuards(ir::Graph& block) {
  ir::forEachGraph(block, [](ir::Graph& graph) {
    graph.sizes().pushScope(graph.scope);
    graph.sizes().popScope();
  });
}

Status expandEarlyIn(ir::Graph& graph, bool& changed) {
  std::vector<ir::Node*> nodes;
  for (const auto& node : graph.nodes()) nodes.push_back(node.get());
  for (ir::Node* node : nodes) {
    for (const auto& block : node->blocks) ROTA_RETURN_IF_ERROR(expandEarlyIn(*block, changed));
    const EarlyEntry* entry = earlyEntryOf(*node);
    if (entry == nullptr) continue;
    auto outputs = entry->expand(graph, *node);
    if (!outputs) return outputs.status();
    for (std::size_t i = 0; i < node->outputs.size(); ++i) {
      if (node->outputs[i] != nullptr) graph.replaceUses(node->outputs[i], (*outputs)[i]);
    }
    for (const auto& block : node->blocks) dropGuards(*block);
    graph.eraseNode(node);
    changed = true;
  }
  return Status::ok();
}

}  // namespace

RegisterEarlyExpansion::RegisterEarlyExpansion(const char* domain, const char* name,
                                               bool (*applies)(const ir::Node&), EarlyExpansion expand) {
  earlyTable()[{domain, name}] = {applies, expand};
}

Status expandEarly(ir::Graph& graph) {
  bool changed = false;
  ROTA_RETURN_IF_ERROR(expandEarlyIn(graph, changed));
  return changed ? inferGraph(graph) : Status::ok();
}

ir::Node* NodeWriter::node(const char* opType, std::vector<ir::Value*> inputs, std::size_t outputs,
                           std::vector<std::pair<std::string, Attribute>> attributes, const char* domain) {
  const std::string name = expanded_.name + "/" + opType;
  const int version = domain[0] == '\0' ? kEarlyVersion : 1;
  ir::Node* made = graph_.addNode(name, domain, opType, version, std::move(inputs),
                                  std::vector<std::string>(outputs, name), expanded_.provenance, before_);
  made->definition = find(domain, opType);
  for (auto& [key, value] : attributes) made->attributes.set(std::move(key), std::move(value));
  return made;
}

ir::Value* NodeWriter::cast(ir::Value* value, DType dtype) {
  return add("Cast", {value}, {{"to", static_cast<std::int64_t>(info(dtype).onnx)}});
}

ir::Value* NodeWriter::ints(std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return graph_.addConstant(expanded_.name + "/constant", Tensor::ofInt64(std::move(values), {count}),
                            "constant of " + expanded_.opType, expanded_.provenance);
}

ir::Value* NodeWriter::scalar(double value, DType dtype) {
  auto tensor = Tensor::allocate(dtype, {});
  CHECK(tensor.isOk());
  storeFromDouble(tensor->mutableView(), 0, 1, &value);
  return graph_.addConstant(expanded_.name + "/constant", *tensor, "constant of " + expanded_.opType,
                            expanded_.provenance);
}

ir::Graph& NodeWriter::block(ir::Node& node, const char* name) {
  node.blockNames.emplace_back(name);
  ir::Graph& made = *node.blocks.emplace_back(std::make_unique<ir::Graph>(graph_));
  made.name = node.name + "/" + name;
  return made;
}

}  // namespace rota::op
