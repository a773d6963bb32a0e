// SPDX-License-Identifier: Apache-2.0
// Nodes: definition, inputs, attributes, blocks; constant nodes become constant values. See graph_builder.h.
#include <algorithm>

#include "import/onnx/graph_builder.h"
#include "import/onnx/node_check.h"

namespace rota::onnx {
namespace {

/// The tensor of a Constant node's attribute; nothing when the attribute is not one of those.
std::optional<Tensor> constantOf(std::string_view name, const Attribute& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value);
      tensor != nullptr && (name == "value" || name == "sparse_value"))
    return *tensor;
  if (const auto* number = std::get_if<std::int64_t>(&value); number != nullptr && name == "value_int") {
    return Tensor::ofInt64({*number}, {});
  }
  if (const auto* number = std::get_if<float>(&value); number != nullptr && name == "value_float")
    return Tensor::ofFloat({*number}, {});
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
      list != nullptr && name == "value_ints") {
    return Tensor::ofInt64(*list, {static_cast<std::int64_t>(list->size())});
  }
  if (const auto* list = std::get_if<std::vector<float>>(&value); list != nullptr && name == "value_floats") {
    return Tensor::ofFloat(*list, {static_cast<std::int64_t>(list->size())});
  }
  return std::nullopt;
}

}  // namespace

GraphBuilder::BoundAttribute GraphBuilder::resolve(const AttributeView& attribute, const Frame& frame) const {
  if (attribute.reference.empty()) return {&attribute, &frame};
  if (frame.bindings == nullptr) return {};
  const auto found = frame.bindings->find(attribute.reference);
  return found == frame.bindings->end() ? BoundAttribute{} : found->second;
}

bool GraphBuilder::findInputs(const NodeView& node, Frame& frame, std::vector<ir::Value*>& inputs) {
  constexpr std::size_t kMaxReported = 8;  // of one node; more say nothing new and may be millions
  bool isWhole = true;
  std::size_t undefined = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string_view name = node.inputs[i];
    if (name.empty()) {
      inputs.push_back(nullptr);
      continue;
    }
    const Bound* bound = find(*frame.scope, name);
    if (bound == nullptr && ++undefined > kMaxReported) continue;
    if (bound == nullptr) {
      problems_.add(Status(ErrorCode::kBadGraph, "the node uses a value that nothing defines")
                        .expected("the name of an input, an initializer or a node's output")
                        .found("'" + std::string(name) + "' as input " + std::to_string(i)),
                    placeOf(node, frame));
      isWhole = false;
      continue;
    }
    isWhole = isWhole && !bound->isBroken;
    inputs.push_back(bound->value);
  }
  return isWhole;
}

const op::Definition* GraphBuilder::findDefinition(const NodeView& node, const Frame& frame, int& version) {
  const std::string name = operatorName(node.domain, node.opType);
  const op::Definition* definition = op::find(node.domain, node.opType);
  if (definition == nullptr) {
    problems_.add(Status(ErrorCode::kUnsupportedOperator, "the operator " + name + " is not supported")
                      .expected("an operator that Rota has, or a function of the model")
                      .fix("export the model without it"),
                  placeOf(node, frame));
    return nullptr;
  }
  const std::int64_t* imported = nullptr;
  for (const Opsets* opsets :
       {&opsets_, frame.opsets}) {  // a function's own imports count before the model's
    if (const auto found = opsets->find(node.domain); found != opsets->end()) imported = &found->second;
  }
  if (imported == nullptr) {
    problems_.add(
        Status(ErrorCode::kModelInvalid,
               "the model does not import an operator set for a domain that it uses")
            .expected("an import of '" + (node.domain.empty() ? "ai.onnx" : std::string(node.domain)) + "'")
            .found("none"),
        placeOf(node, frame));
    return nullptr;
  }
  version = static_cast<int>(std::clamp<std::int64_t>(*imported, 0, 1'000'000));
  if (!definition->versions.empty() && version < definition->versions.front()) {
    problems_.add(
        Status(ErrorCode::kUnsupportedVersion, "this version of the operator " + name + " is not supported")
            .expected("operator set " + std::to_string(definition->versions.front()) + " or newer")
            .found("operator set " + std::to_string(version))
            .fix("export the model with a newer operator set"),
        placeOf(node, frame));
    return nullptr;
  }
  return definition;
}

bool GraphBuilder::buildAttributes(const NodeView& node, const op::Definition& definition, Frame& frame,
                                   Attributes& attributes,
                                   std::vector<std::pair<std::string, BoundAttribute>>& graphs) {
  const std::string place = placeOf(node, frame);
  std::vector<std::string_view> given;
  bool isWhole = true;
  const auto report = [&](const Status& status) {
    problems_.add(status, place);
    isWhole = false;
  };
  for (const AttributeView& attribute : node.attributes) {
    if (std::find(given.begin(), given.end(), attribute.name) != given.end()) {
      report(Status(ErrorCode::kBadAttribute,
                    "the attribute '" + std::string(attribute.name) + "' is given twice"));
      continue;
    }
    const BoundAttribute bound = resolve(attribute, frame);
    if (bound.view == nullptr) continue;  // a reference to an attribute that the caller left out
    given.push_back(attribute.name);
    if (Status status = checkAttribute(attribute.name, bound.view->kind, definition); !status.isOk()) {
      report(status);
      continue;
    }
    if (bound.view->kind == AttributeKind::kGraph) {
      graphs.emplace_back(attribute.name, bound);
      continue;
    }
    // Functions repeat what their nodes hold with every call.
    if (!frame.path.empty()) nestedCost_ += bound.view->message.size();
    auto value = readAttributeValue(*bound.view, source_);
    if (value) {
      attributes.set(std::string(attribute.name), std::move(*value));
    } else {
      report(Status(value.status().code(),
                    "attribute '" + std::string(attribute.name) + "': " + value.status().detail().message)
                 .expected(value.status().detail().expected)
                 .found(value.status().detail().found));
    }
  }
  for (const Status& status : checkRequiredAttributes(given, definition)) report(status);
  return isWhole;
}

void GraphBuilder::buildConstant(const NodeView& node, Frame& frame) {
  const std::string place = placeOf(node, frame);
  std::optional<Tensor> constant;
  bool isReported = false;
  for (const AttributeView& attribute : node.attributes) {
    const BoundAttribute bound = resolve(attribute, frame);
    if (bound.view == nullptr) continue;
    if (bound.view->kind == AttributeKind::kString || bound.view->kind == AttributeKind::kStrings) {
      problems_.add(Status(ErrorCode::kUnsupportedType, "string tensors are not supported")
                        .expected("a numeric constant"),
                    place);
      isReported = true;
      continue;
    }
    const char* const bytes = bound.view->message.data();
    if (const auto known = repeatedConstants_.find(bytes); known != repeatedConstants_.end()) {
      constant = known->second;
      continue;
    }
    auto value = bound.view->kind == AttributeKind::kGraph
                     ? Status(ErrorCode::kBadAttribute, "a graph is not a constant")
                     : readAttributeValue(*bound.view, source_);
    if (!value) {
      problems_.add(value.status(), place);
      isReported = true;
      continue;
    }
    if (auto tensor = constantOf(attribute.name, *value)) {
      if (!frame.path.empty()) repeatedConstants_.emplace(bytes, *tensor);
      constant = std::move(tensor);
    }
  }
  if (!constant || node.outputs.size() != 1 || node.outputs[0].empty()) {
    if (!isReported) {
      problems_.add(
          Status(ErrorCode::kBadAttribute, "a Constant needs one value and one output")
              .expected("one of value, value_int, value_ints, value_float, value_floats, sparse_value"),
          place);
    }
    breakOutputs(node, frame);
    return;
  }
  const std::string name = valueName(node.outputs[0], frame);
  ir::Value* value = frame.graph->addConstant(
      name, std::move(*constant), "constant " + frame.path + nodeName(node), provenanceOf(node, frame));
  bind(frame, node.outputs[0], {value, false}, place);
}

void GraphBuilder::buildNode(const NodeView& node, Frame& frame) {
  if (!countNode(frame)) return;
  if (const FunctionView* function = findFunction(node)) {
    inlineCall(node, *function, frame);
    return;
  }
  if (node.domain.empty() && node.opType == "Constant") {
    buildConstant(node, frame);
    return;
  }
  std::vector<ir::Value*> inputs;
  bool isWhole = findInputs(node, frame, inputs);
  int version = 0;
  const op::Definition* definition = findDefinition(node, frame, version);
  if (definition == nullptr) {
    breakOutputs(node, frame);
    return;
  }
  for (const Status& status : checkArity(node, *definition)) {
    problems_.add(status, placeOf(node, frame));
    isWhole = false;
  }
  Attributes attributes;
  std::vector<std::pair<std::string, BoundAttribute>> graphs;
  isWhole = buildAttributes(node, *definition, frame, attributes, graphs) && isWhole;
  if (!isWhole) {
    for (const auto& [name, graph] : graphs)
      buildBlock(graph, name, frame, nodeName(node));  // for the problems inside
    breakOutputs(node, frame);
    return;
  }
  addNode(node, *definition, version, std::move(inputs), std::move(attributes), graphs, frame);
}

void GraphBuilder::addNode(const NodeView& node, const op::Definition& definition, int version,
                           std::vector<ir::Value*> inputs, Attributes attributes,
                           const std::vector<std::pair<std::string, BoundAttribute>>& graphs, Frame& frame) {
  const std::string name = nodeName(node);
  std::vector<std::unique_ptr<ir::Graph>> blocks;
  for (const auto& [attribute, graph] : graphs) blocks.push_back(buildBlock(graph, attribute, frame, name));
  std::vector<std::string> outputs;
  for (const std::string_view output : node.outputs) outputs.push_back(valueName(output, frame));
  ir::Node* made =
      frame.graph->addNode(frame.prefix + name, std::string(node.domain), std::string(node.opType), version,
                           std::move(inputs), outputs, provenanceOf(node, frame));
  made->definition = &definition;
  made->attributes = std::move(attributes);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    made->blockNames.push_back(graphs[i].first);
    made->blocks.push_back(std::move(blocks[i]));
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty())
      bind(frame, node.outputs[i], {made->outputs[i], false}, placeOf(node, frame));
  }
}

}  // namespace rota::onnx
