// SPDX-License-Identifier: Apache-2.0
// Copies of blocks into other graphs; see inline_graph.h. Tested by src/op/early_expansion_test.cpp.
#include "ir/inline_graph.h"

#include <unordered_map>

#include "core/check.h"

namespace rota::ir {
namespace {

class Inliner {
 public:
  void bind(const Value* from, Value* to) { values_.emplace(from, to); }
  Value* at(Value* value) const {
    const auto found = values_.find(value);
    return found == values_.end() ? value : found->second;
  }

  void copyContents(const Graph& from, Graph& to, const Node* before) {
    for (const auto& value : from.values()) {
      if (value->isConstant())
        bind(value.get(), to.addConstant(value->name, value->constant, value->recipe, value->provenance));
    }
    for (const auto& node : from.nodes()) copyNode(*node, to, before);
  }

 private:
  void copyNode(const Node& node, Graph& to, const Node* before) {
    std::vector<Value*> inputs;
    for (Value* input : node.inputs) inputs.push_back(at(input));
    std::vector<std::string> names;
    for (const Value* output : node.outputs)
      names.push_back(output == nullptr ? std::string() : output->name);
    Node* copy = to.addNode(node.name, node.domain, node.opType, node.version, std::move(inputs), names,
                            node.provenance, before);
    copy->definition = node.definition;
    copy->attributes = node.attributes;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != nullptr) bind(node.outputs[i], copy->outputs[i]);
    }
    copy->blockNames = node.blockNames;
    for (const auto& block : node.blocks) {
      Graph& inner = *copy->blocks.emplace_back(std::make_unique<Graph>(to));
      inner.name = block->name;
      for (const Value* input : block->inputs()) bind(input, inner.addInput(input->name, input->type));
      copyContents(*block, inner, nullptr);
      for (Value* output : block->outputs()) inner.addOutput(at(output));
      inner.outputNames() = block->outputNames();
    }
  }

  std::unordered_map<const Value*, Value*> values_;
};

}  // namespace

std::vector<Value*> inlineGraph(const Graph& block, std::span<Value* const> arguments, Graph& graph,
                                const Node* before) {
  CHECK(arguments.size() == block.inputs().size());
  Inliner inliner;
  for (std::size_t i = 0; i < arguments.size(); ++i) inliner.bind(block.inputs()[i], arguments[i]);
  inliner.copyContents(block, graph, before);
  std::vector<Value*> outputs;
  for (Value* output : block.outputs()) outputs.push_back(inliner.at(output));
  return outputs;
}

}  // namespace rota::ir
