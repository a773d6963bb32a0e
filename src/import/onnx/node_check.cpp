// SPDX-License-Identifier: Apache-2.0
// See node_check.h.
#include "import/onnx/node_check.h"

#include <algorithm>

namespace rota::onnx {
namespace {

AttributeKind kindOf(op::AttributeType type) {
  switch (type) {
    case op::AttributeType::kInt: return AttributeKind::kInt;
    case op::AttributeType::kFloat: return AttributeKind::kFloat;
    case op::AttributeType::kString: return AttributeKind::kString;
    case op::AttributeType::kTensor: return AttributeKind::kTensor;
    case op::AttributeType::kGraph: return AttributeKind::kGraph;
    case op::AttributeType::kInts: return AttributeKind::kInts;
    case op::AttributeType::kFloats: return AttributeKind::kFloats;
    case op::AttributeType::kStrings: return AttributeKind::kStrings;
    case op::AttributeType::kTensors: return AttributeKind::kTensors;
    case op::AttributeType::kTypeProto: return AttributeKind::kTypeProto;
  }
  return AttributeKind::kUndefined;
}

bool isVariadic(const std::vector<op::Formal>& formals) {
  return !formals.empty() && formals.back().option == op::FormalOption::kVariadic;
}

std::string countText(const std::vector<op::Formal>& formals) {
  return isVariadic(formals) ? "any number" : "at most " + std::to_string(formals.size());
}

}  // namespace

std::string operatorName(std::string_view domain, std::string_view opType) {
  return domain.empty() ? std::string(opType) : std::string(domain) + "." + std::string(opType);
}

std::string nodeName(const NodeView& node) {
  if (!node.name.empty()) return std::string(node.name);
  for (const std::string_view output : node.outputs) {
    if (!output.empty()) return std::string(node.opType) + "(" + std::string(output) + ")";
  }
  return std::string(node.opType);
}

std::vector<Status> checkArity(const NodeView& node, const op::Definition& definition) {
  std::vector<Status> problems;
  const std::string name = operatorName(definition.domain, definition.name);
  const std::size_t listed = isVariadic(definition.inputs)
                                 ? std::max(node.inputs.size(), definition.inputs.size())
                                 : definition.inputs.size();
  for (std::size_t i = 0; i < listed; ++i) {
    const op::Formal& formal = definition.inputs[std::min(i, definition.inputs.size() - 1)];
    const bool given = i < node.inputs.size() && !node.inputs[i].empty();
    if (given || formal.option == op::FormalOption::kOptional) continue;
    // A variadic input may be absent behind others, but what is listed of it must be given.
    if (formal.option == op::FormalOption::kVariadic && i >= node.inputs.size() && i > 0) continue;
    problems.push_back(Status(ErrorCode::kMissingInput, name + " lacks its input '" + formal.name +
                                                            "' (number " + std::to_string(i) + ")")
                           .expected("a value")
                           .found(i < node.inputs.size() ? "an empty name"
                                                         : std::to_string(node.inputs.size()) + " inputs"));
  }
  if (node.inputs.size() > definition.inputs.size() && !isVariadic(definition.inputs)) {
    problems.push_back(Status(ErrorCode::kModelInvalid, name + " has too many inputs")
                           .expected(countText(definition.inputs))
                           .found(std::to_string(node.inputs.size())));
  }
  if (node.outputs.size() > definition.outputs.size() && !isVariadic(definition.outputs)) {
    problems.push_back(Status(ErrorCode::kModelInvalid, name + " has too many outputs")
                           .expected(countText(definition.outputs))
                           .found(std::to_string(node.outputs.size())));
  }
  return problems;
}

Status checkAttribute(std::string_view name, AttributeKind kind, const op::Definition& definition) {
  const auto formal =
      std::find_if(definition.attributes.begin(), definition.attributes.end(),
                   [&](const op::AttributeFormal& candidate) { return candidate.name == name; });
  const std::string op = operatorName(definition.domain, definition.name);
  if (formal == definition.attributes.end()) {
    std::string known;
    for (const op::AttributeFormal& candidate : definition.attributes)
      known += (known.empty() ? "" : ", ") + candidate.name;
    return Status(ErrorCode::kBadAttribute, op + " has no attribute '" + std::string(name) + "'")
        .expected(known.empty() ? "no attributes" : "one of " + known)
        .found("'" + std::string(name) + "'");
  }
  const AttributeKind expected = kindOf(formal->type);
  const bool fits =
      kind == expected || (kind == AttributeKind::kSparseTensor && expected == AttributeKind::kTensor);
  if (fits) return Status::ok();
  return Status(ErrorCode::kBadAttribute,
                "attribute '" + std::string(name) + "' of " + op + " has the wrong type")
      .expected(attributeKindName(expected))
      .found(attributeKindName(kind));
}

std::vector<Status> checkRequiredAttributes(const std::vector<std::string_view>& given,
                                            const op::Definition& definition) {
  std::vector<Status> problems;
  for (const op::AttributeFormal& formal : definition.attributes) {
    if (!formal.required || std::find(given.begin(), given.end(), formal.name) != given.end()) continue;
    problems.push_back(Status(ErrorCode::kBadAttribute, operatorName(definition.domain, definition.name) +
                                                            " lacks its attribute '" + formal.name + "'")
                           .expected(attributeKindName(kindOf(formal.type)))
                           .found("nothing"));
  }
  return problems;
}

}  // namespace rota::onnx
