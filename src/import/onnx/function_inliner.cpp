// SPDX-License-Identifier: Apache-2.0
// Model-local functions: every call becomes the nodes of the function, in the graph of the call. See graph_builder.h.
//
// A function sees its inputs and attributes only. Attributes that the call leaves out take the function's default; a graph given as an
// attribute keeps the scope of the caller. Values that become outputs get the names that the caller gives them, so that a result is called what
// the model calls it. A function that calls itself, directly or through others or their nested graphs, is refused.
#include "import/onnx/graph_builder.h"
#include "import/onnx/node_check.h"

namespace rota::onnx {

GraphBuilder::FunctionKey GraphBuilder::functionKey(std::string_view domain, std::string_view name,
                                                    std::string_view overload) {
  std::string key(domain);
  key += '\n';
  key += name;
  key += '\n';
  key += overload;
  return key;
}

void GraphBuilder::indexFunctions() {
  for (const FunctionView& function : model_.functions) {
    const std::string where = operatorName(function.domain, function.name);
    if (function.name.empty()) {
      problems_.add(Status(ErrorCode::kModelInvalid, "a function has no name"), "functions");
      continue;
    }
    if (!functions_.emplace(functionKey(function.domain, function.name, function.overload), &function)
             .second) {
      problems_.add(Status(ErrorCode::kBadGraph, "two functions have the same domain, name and overload"),
                    where);
      continue;
    }
    functionOpsets_.emplace(&function, readOpsets(function.opsets, where, problems_));
  }
}

const FunctionView* GraphBuilder::findFunction(const NodeView& node) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find(functionKey(node.domain, node.opType, node.overload));
  return found == functions_.end() ? nullptr : found->second;
}

bool GraphBuilder::bindArguments(const NodeView& node, const FunctionView& function, Frame& frame,
                                 Scope& scope, Bindings& bindings) {
  const std::string place = placeOf(node, frame);
  std::vector<ir::Value*> inputs;
  bool isWhole = findInputs(node, frame, inputs);
  if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size()) {
    problems_.add(Status(ErrorCode::kModelInvalid, "the call has more inputs or outputs than the function")
                      .expected(std::to_string(function.inputs.size()) + " inputs, " +
                                std::to_string(function.outputs.size()) + " outputs")
                      .found(std::to_string(node.inputs.size()) + " inputs, " +
                             std::to_string(node.outputs.size()) + " outputs"),
                  place);
    return false;
  }
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    const bool isBroken = !isWhole && i < node.inputs.size() && !node.inputs[i].empty() &&
                          (i >= inputs.size() || inputs[i] == nullptr);
    ir::Value* value = i < inputs.size() ? inputs[i] : nullptr;
    if (!scope.values.emplace(function.inputs[i], Bound{value, isBroken}).second) {
      problems_.add(Status(ErrorCode::kBadGraph, "the function has two inputs of the same name"), place);
      isWhole = false;
    }
  }
  for (const AttributeView& attribute : node.attributes) {
    const BoundAttribute bound = resolve(attribute, frame);
    if (bound.view == nullptr) continue;
    if (!bindings.emplace(attribute.name, bound).second) {
      problems_.add(Status(ErrorCode::kBadAttribute,
                           "the attribute '" + std::string(attribute.name) + "' is given twice"),
                    place);
      isWhole = false;
    }
  }
  return isWhole;
}

void GraphBuilder::inlineCall(const NodeView& node, const FunctionView& function, Frame& frame) {
  const std::string place = placeOf(node, frame);
  const std::string called = operatorName(function.domain, function.name);
  for (const Frame* at = &frame; at != nullptr; at = at->caller) {
    if (at->function != &function) continue;
    problems_.add(Status(ErrorCode::kModelTooDeep,
                         "the function " + called + " calls itself, directly or through others")
                      .expected("functions without recursion"),
                  place);
    breakOutputs(node, frame);
    return;
  }
  if (frame.depth + 1 > kMaxDepth) {
    problems_.add(Status(ErrorCode::kModelTooDeep, "graphs and functions are nested too deep")
                      .expected("at most " + std::to_string(kMaxDepth) + " levels"),
                  place);
    breakOutputs(node, frame);
    return;
  }
  Scope scope;
  Bindings bindings;
  if (!bindArguments(node, function, frame, scope, bindings)) {
    breakOutputs(node, frame);
    return;
  }
  const std::string name = nodeName(node);
  std::unordered_map<std::string_view, std::string> outputNames;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) outputNames.emplace(function.outputs[i], valueName(node.outputs[i], frame));
  }
  Frame inner;
  inner.graph = frame.graph;
  inner.scope = &scope;
  inner.opsets = &functionOpsets_.at(&function);
  inner.bindings = &bindings;
  inner.function = &function;
  inner.caller = &frame;
  inner.path = frame.path + name + "/";
  inner.prefix = frame.prefix + name + "/";
  inner.outputNames = &outputNames;
  inner.depth = frame.depth + 1;
  for (const AttributeView& fallback : function.defaults)
    bindings.try_emplace(fallback.name, BoundAttribute{&fallback, &inner});
  buildNodes(function.nodes, inner);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const auto found = scope.values.find(function.outputs[i]);
    if (found == scope.values.end()) {
      problems_.add(Status(ErrorCode::kBadGraph, "the function " + called + " never computes its output '" +
                                                     std::string(function.outputs[i]) + "'"),
                    place);
      bind(frame, node.outputs[i], {nullptr, true}, place);
    } else {
      const bool isMissing = found->second.value == nullptr && !found->second.isBroken;
      if (isMissing) {
        problems_.add(Status(ErrorCode::kMissingInput,
                             "an output of the function " + called + " is an input that the call leaves out")
                          .expected("a value for '" + std::string(function.outputs[i]) + "'"),
                      place);
      }
      bind(frame, node.outputs[i], {found->second.value, found->second.isBroken || isMissing}, place);
    }
  }
}

}  // namespace rota::onnx
