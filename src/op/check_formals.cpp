// SPDX-License-Identifier: Apache-2.0
// A node against its schema, before inference looks at it, so that inference functions need not ask whether a required input is there
// or an attribute has the right type. Tested by src/op/infer_test.cpp.
#include "op/check_formals.h"

#include <algorithm>

#include "core/check.h"
#include "op/describe.h"
#include "op/schema_facts.h"

namespace rota::op {
namespace {

constexpr const char* kAttributeTypeNames[] = {"an int", "a float", "a string", "a tensor", "a graph",
                                               "ints",   "floats",  "strings",  "tensors",  "a type"};

const char* attributeTypeName(AttributeType type) {
  return kAttributeTypeNames[static_cast<std::size_t>(type)];
}

AttributeType typeOfAttribute(const Attribute& attribute) {
  // In the order of the alternatives of Attribute.
  constexpr AttributeType kTypes[] = {AttributeType::kInt,     AttributeType::kFloat,  AttributeType::kString,
                                      AttributeType::kTensor,  AttributeType::kInts,   AttributeType::kFloats,
                                      AttributeType::kStrings, AttributeType::kTensors};
  return kTypes[attribute.index()];
}

std::string formalCountText(const std::vector<Formal>& formals) {
  std::size_t required = 0;
  for (std::size_t i = 0; i < formals.size(); ++i) {
    if (formals[i].option == FormalOption::kRequired) required = i + 1;
  }
  const bool isVariadic = !formals.empty() && formals.back().option == FormalOption::kVariadic;
  if (isVariadic) return "at least " + std::to_string(required);
  if (required == formals.size()) return std::to_string(required);
  return std::to_string(required) + " to " + std::to_string(formals.size());
}

/// The formal that actual `i` belongs to, or nullptr when there are too many.
const Formal* formalOf(const std::vector<Formal>& formals, std::size_t i) {
  if (i < formals.size()) return &formals[i];
  return !formals.empty() && formals.back().option == FormalOption::kVariadic ? &formals.back() : nullptr;
}

Status checkFormalInputs(const ir::Node& node, const Definition& definition) {
  const std::size_t count = node.inputs.size();
  if (count > 0 && formalOf(definition.inputs, count - 1) == nullptr) {
    return Status(ErrorCode::kBadGraph, "an operator has too many inputs")
        .at(describeNode(node))
        .expected(formalCountText(definition.inputs) + " inputs")
        .found(std::to_string(count));
  }
  const std::size_t needed = definition.domain.empty() ? requiredInputs(node.opType, node.version) : 0;
  for (std::size_t i = 0; i < std::max(count, definition.inputs.size()); ++i) {
    const Formal& formal = *formalOf(definition.inputs, i);
    if (node.input(i) != nullptr || (formal.option == FormalOption::kOptional && i >= needed)) continue;
    // A variadic input may be absent behind others, but what is listed of it must be given.
    if (formal.option == FormalOption::kVariadic && i >= count && i > 0) continue;
    return Status(ErrorCode::kMissingInput, "a required input is missing")
        .at(describeNode(node))
        .expected("input " + std::to_string(i) + " '" + formal.name + "' (" +
                  formalCountText(definition.inputs) + " inputs in all)")
        .found(i < count ? "an empty name" : std::to_string(count) + " inputs");
  }
  return Status::ok();
}

Status checkFormalOutputs(const ir::Node& node, const Definition& definition) {
  const std::size_t count = node.outputs.size();
  if (count > 0 && formalOf(definition.outputs, count - 1) != nullptr) return Status::ok();
  return Status(ErrorCode::kBadGraph,
                count == 0 ? "an operator has no outputs" : "an operator has too many outputs")
      .at(describeNode(node))
      .expected(formalCountText(definition.outputs) + " outputs")
      .found(std::to_string(count));
}

std::string attributeNames(const Definition& definition) {
  std::string text;
  for (const AttributeFormal& formal : definition.attributes)
    text += (text.empty() ? "" : ", ") + formal.name;
  return text.empty() ? "no attributes" : text;
}

Status checkFormalAttributes(const ir::Node& node, const Definition& definition) {
  const auto formalNamed = [&](std::string_view name) {
    const auto found = std::find_if(definition.attributes.begin(), definition.attributes.end(),
                                    [name](const AttributeFormal& formal) { return formal.name == name; });
    return found == definition.attributes.end() ? nullptr : &*found;
  };
  const auto problem = [&](std::string message, std::string expected, std::string found) {
    return Status(ErrorCode::kBadAttribute, std::move(message))
        .at(describeNode(node))
        .expected(std::move(expected))
        .found(std::move(found));
  };
  for (const Attributes::Entry& entry : node.attributes.entries()) {
    const AttributeFormal* formal = formalNamed(entry.name);
    if (formal == nullptr)
      return problem("the operator has no such attribute", attributeNames(definition),
                     "'" + entry.name + "'");
    const AttributeType type = typeOfAttribute(entry.value);
    if (type != formal->type && formal->type != AttributeType::kTypeProto) {
      return problem("attribute '" + entry.name + "' has another type", attributeTypeName(formal->type),
                     attributeTypeName(type));
    }
  }
  for (const std::string& name : node.blockNames) {
    const AttributeFormal* formal = formalNamed(name);
    if (formal == nullptr || formal->type != AttributeType::kGraph) {
      return problem("the operator has no such graph attribute", attributeNames(definition),
                     "a graph '" + name + "'");
    }
  }
  for (const AttributeFormal& formal : definition.attributes) {
    if (!formal.required) continue;
    const bool isThere = formal.type == AttributeType::kGraph ? node.block(formal.name) != nullptr
                                                              : node.attributes.has(formal.name);
    if (!isThere)
      return problem("a required attribute is missing",
                     "'" + formal.name + "', " + attributeTypeName(formal.type), "none");
  }
  return Status::ok();
}

/// The element type is one that the operator is defined for.
Status checkAllowedType(const ir::Node& node, const Definition& definition, std::size_t input) {
  if (!definition.domain.empty()) return Status::ok();
  const ir::Value& value = *node.inputs[input];
  const std::uint32_t allowed = allowedInputTypes(node.opType, std::min(input, definition.inputs.size() - 1));
  const auto number = static_cast<std::uint32_t>(info(value.type.dtype).onnx);
  if ((allowed >> number & 1) != 0) return Status::ok();
  std::string names;
  for (const DTypeInfo& row : dtypeTable()) {
    if (row.dtype == DType::kUndefined || row.dtype == DType::kString) continue;
    if ((allowed >> static_cast<std::uint32_t>(row.onnx) & 1) != 0)
      names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return Status(ErrorCode::kTypeMismatch, "an input has a type that the operator is not defined for")
      .at(describeNode(node))
      .expected("input " + std::to_string(input) + " '" + formalOf(definition.inputs, input)->name +
                "' of type " + names)
      .found(std::string(info(value.type.dtype).name) + " ('" + value.name + "')")
      .fix("insert a Cast in the model");
}

Status checkTypeVariables(const ir::Node& node, const Definition& definition) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ir::Value* input = node.inputs[i];
    if (input == nullptr) continue;
    if (input->type.dtype == DType::kUndefined) {
      return Status(ErrorCode::kInternal, "the type of an input is not known yet")
          .at(describeNode(node))
          .found("'" + input->name + "'");
    }
    const Formal* formal = formalOf(definition.inputs, i);
    ROTA_RETURN_IF_ERROR(checkAllowedType(node, definition, i));
    if (formal->typeVariable.empty()) continue;
    for (std::size_t k = 0; k < i; ++k) {
      const ir::Value* other = node.inputs[k];
      if (other == nullptr || formalOf(definition.inputs, k)->typeVariable != formal->typeVariable) continue;
      if (other->type.dtype == input->type.dtype) break;
      return Status(ErrorCode::kTypeMismatch, "inputs that must have one type have two")
          .at(describeNode(node))
          .expected("input " + std::to_string(i) + " '" + formal->name + "' of type " +
                    info(other->type.dtype).name + ", the type of input " + std::to_string(k) + " ('" +
                    other->name + "')")
          .found(std::string(info(input->type.dtype).name) + " ('" + input->name + "')")
          .fix("insert a Cast in the model");
    }
  }
  return Status::ok();
}

}  // namespace

Status checkFormals(const ir::Node& node, const Definition& definition) {
  ROTA_RETURN_IF_ERROR(checkFormalInputs(node, definition));
  ROTA_RETURN_IF_ERROR(checkFormalOutputs(node, definition));
  ROTA_RETURN_IF_ERROR(checkFormalAttributes(node, definition));
  return checkTypeVariables(node, definition);
}

}  // namespace rota::op
