// SPDX-License-Identifier: Apache-2.0
// Deep copies. Ids of values, nodes, blocks and symbols stay the same, so a copy can be compared with its original; weights are shared.
// Tested by src/ir/graph_test.cpp.
#include <unordered_map>

#include "core/check.h"
#include "ir/graph.h"

namespace rota::ir {

class GraphCloner {
 public:
  std::unique_ptr<Graph> cloneOutermost(const Graph& graph) {
    CHECK(graph.parent_ == nullptr);
    auto copy = std::make_unique<Graph>();
    copy->sizes_ = graph.sizes_->clone();
    *copy->sources_ = *graph.sources_;
    copyInto(graph, *copy);
    *copy->nextId_ = *graph.nextId_;
    *copy->nextScope_ = *graph.nextScope_;
    return copy;
  }

 private:
  void copyInto(const Graph& from, Graph& to) {
    to.name = from.name;
    to.scope = from.scope;
    for (const Value* input : from.inputs_) copyFacts(*input, *to.addInput(input->name, input->type));
    for (const auto& value : from.values_) {
      if (!value->isConstant()) continue;
      copyFacts(*value, *to.addConstant(value->name, value->constant, value->recipe, value->provenance));
    }
    for (const auto& node : from.nodes_) copyNode(*node, to);
    for (const Value* output : from.outputs_) to.outputs_.push_back(values_.at(output));
    to.outputNames_ = from.outputNames_;
  }

  void copyNode(const Node& node, Graph& to) {
    std::vector<Value*> inputs;
    for (const Value* input : node.inputs) inputs.push_back(input == nullptr ? nullptr : values_.at(input));
    std::vector<std::string> outputNames;
    for (const Value* output : node.outputs)
      outputNames.push_back(output == nullptr ? std::string() : output->name);
    Node* copy = to.addNode(node.name, node.domain, node.opType, node.version, std::move(inputs), outputNames,
                            node.provenance);
    copy->id = node.id;
    copy->definition = node.definition;
    copy->attributes = node.attributes;
    copy->foundSizes = node.foundSizes;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != nullptr) copyFacts(*node.outputs[i], *copy->outputs[i]);
    }
    copy->blockNames = node.blockNames;
    for (const auto& block : node.blocks) {
      copy->blocks.push_back(std::make_unique<Graph>(to));
      copyInto(*block, *copy->blocks.back());
    }
  }

  void copyFacts(const Value& from, Value& to) {
    CHECK(from.name == to.name);
    SizeContext& sizes = to.owner->sizes();
    to.id = from.id;
    to.type = from.type;
    for (Size& dim : to.type.shape.dims) dim = sizes.adopt(dim);
    to.contents = from.contents;
    if (to.contents) {
      for (Size& element : *to.contents) element = sizes.adopt(element);
    }
    to.resolvedHere = from.resolvedHere;
    to.known = from.known;
    to.recipe = from.recipe;
    to.provenance = from.provenance;
    values_.emplace(&from, &to);
  }

  std::unordered_map<const Value*, Value*> values_;
};

std::unique_ptr<Graph> cloneGraph(const Graph& graph) { return GraphCloner().cloneOutermost(graph); }

}  // namespace rota::ir
