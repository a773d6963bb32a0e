// SPDX-License-Identifier: Apache-2.0
// The registry of operator definitions.
//
// Definitions register themselves from static initialisers of many translation units, in any order, so the table is a
// function-local static. It is sorted by (domain, name) and does not change after start-up; lookups need no lock.
// Tested by src/op/registry_test.cpp.
#include <map>
#include <string>
#include <utility>

#include "core/check.h"
#include "op/definition.h"
#include "op/describe.h"

namespace rota::op {
namespace {

using DefinitionKey = std::pair<std::string, std::string>;

struct DefinitionKeyLess {
  using is_transparent = void;
  template <typename A, typename B> bool operator()(const A& a, const B& b) const {
    const std::string_view domainA = a.first;
    const std::string_view domainB = b.first;
    return domainA != domainB ? domainA < domainB : std::string_view(a.second) < std::string_view(b.second);
  }
};

std::map<DefinitionKey, Definition, DefinitionKeyLess>& definitionTable() {
  static std::map<DefinitionKey, Definition, DefinitionKeyLess> table;
  return table;
}

std::string_view normalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

std::string versionsText(const Definition& definition) {
  std::string text;
  for (int version : definition.versions) text += (text.empty() ? "" : ", ") + std::to_string(version);
  return text;
}

Status attachDefinition(ir::Node& node) {
  const Definition* definition = find(node.domain, node.opType);
  const std::string operatorName = (node.domain.empty() ? "" : node.domain + ".") + node.opType;
  if (definition == nullptr) {
    return Status(ErrorCode::kUnsupportedOperator, "the operator '" + operatorName + "' is not known")
        .at(describeNode(node))
        .expected("an operator of the list that `rota list operators` prints")
        .found(operatorName + " of operator set " + std::to_string(node.version))
        .fix("export the model without this operator, or add it (HACKING.md shows how)");
  }
  if (!definition->versions.empty() && node.version < definition->versions.front()) {
    return Status(ErrorCode::kUnsupportedVersion, "this version of '" + operatorName + "' is not supported")
        .at(describeNode(node))
        .expected("operator set " + std::to_string(definition->versions.front()) +
                  " or later (it changed at " + versionsText(*definition) + ")")
        .found("operator set " + std::to_string(node.version))
        .fix("export the model with a newer operator set");
  }
  node.definition = definition;
  return Status::ok();
}

void attachAllDefinitions(ir::Graph& graph, std::vector<Status>& errors) {
  for (const auto& node : graph.nodes()) {
    if (Status status = attachDefinition(*node); !status) errors.push_back(std::move(status));
    for (const auto& block : node->blocks) attachAllDefinitions(*block, errors);
  }
}

}  // namespace

Register::Register(Definition definition) {
  DefinitionKey key(normalDomain(definition.domain), definition.name);
  definition.domain = key.first;
  const bool isNew = definitionTable().emplace(std::move(key), std::move(definition)).second;
  CHECK(isNew);
}

const Definition* find(std::string_view domain, std::string_view name) {
  const auto found = definitionTable().find(std::pair(normalDomain(domain), name));
  return found == definitionTable().end() ? nullptr : &found->second;
}

std::vector<const Definition*> all() {
  std::vector<const Definition*> result;
  for (const auto& [key, definition] : definitionTable()) result.push_back(&definition);
  return result;
}

std::vector<Status> attachDefinitions(ir::Graph& graph) {
  std::vector<Status> errors;
  attachAllDefinitions(graph, errors);
  return errors;
}

}  // namespace rota::op
