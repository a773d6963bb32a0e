// SPDX-License-Identifier: Apache-2.0
// All invariants of a graph. Run after every pass in checking builds; the first violation is a bug of whoever built or changed the graph.
// Pointers are looked up in the sets of live values before they are followed, so that a dangling use is reported, not read.
// Tested by src/ir/verify_test.cpp.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/check.h"
#include "ir/graph.h"

namespace rota::ir {
namespace {

class Verifier {
 public:
  Status verifyGraph(const Graph& graph, int depth);

 private:
  Status fail(const Graph& graph, const std::string& subject, std::string rule) const {
    return Status(ErrorCode::kInternal, "the graph '" + graph.name + "' is inconsistent: " + rule)
        .at(subject)
        .expected(std::move(rule));
  }
  Status verifyValue(const Graph& graph, const Value& value);
  Status verifyNode(const Graph& graph, const Node& node, int depth);
  Status verifyProvenance(const Graph& graph, const Provenance& provenance, const std::string& subject) const;

  std::unordered_set<const Value*> live_;       // values of the graph being visited and of those around it
  std::unordered_set<const Value*> available_;  // those among them that have been computed at this point
  std::unordered_set<std::uint32_t> valueIds_;
};

Status Verifier::verifyProvenance(const Graph& graph, const Provenance& provenance,
                                  const std::string& subject) const {
  const auto& sources = provenance.sources;
  const bool isSorted =
      std::adjacent_find(sources.begin(), sources.end(), std::greater_equal<>()) == sources.end();
  if (!isSorted) return fail(graph, subject, "source ids are sorted and unique");
  if (!sources.empty() && sources.back() >= graph.sources().size())
    return fail(graph, subject, "source ids are in the table");
  return Status::ok();
}

Status Verifier::verifyValue(const Graph& graph, const Value& value) {
  if (value.owner != &graph) return fail(graph, value.name, "a value's owner is the graph that holds it");
  if (graph.findValue(value.name) != &value) return fail(graph, value.name, "a value is found by its name");
  if (!valueIds_.insert(value.id).second) return fail(graph, value.name, "value ids are unique");
  if (value.isConstant() && value.producer != nullptr)
    return fail(graph, value.name, "a constant has no producer");
  if (value.isInput() &&
      std::find(graph.inputs().begin(), graph.inputs().end(), &value) == graph.inputs().end()) {
    return fail(graph, value.name, "a value without producer is a constant or an input");
  }
  const Shape& shape = value.type.shape;
  if (!shape.known && !shape.dims.empty()) return fail(graph, value.name, "an unknown shape has no dims");
  for (Size dim : shape.dims) {
    if (!dim.isValid()) return fail(graph, value.name, "dims are valid sizes");
    if (dim.isConstant() && *dim.constant() < 0) return fail(graph, value.name, "dims are not negative");
  }
  if (value.isConstant()) {
    bool fits = value.type.dtype == value.constant.dtype() && shape.known &&
                shape.rank() == value.constant.dims().size();
    for (std::size_t d = 0; fits && d < shape.rank(); ++d) fits = shape.dims[d].is(value.constant.dims()[d]);
    if (!fits) return fail(graph, value.name, "a constant has the type of its tensor");
  }
  return verifyProvenance(graph, value.provenance, value.name);
}

Status Verifier::verifyNode(const Graph& graph, const Node& node, int depth) {
  if (node.owner != &graph) return fail(graph, node.name, "a node's owner is the graph that holds it");
  if (node.blockNames.size() != node.blocks.size()) return fail(graph, node.name, "every block has a name");
  for (const Value* input : node.inputs) {
    if (input == nullptr) continue;
    if (!live_.contains(input))
      return fail(graph, node.name, "inputs are values of this graph or of one around it");
    if (!available_.contains(input))
      return fail(graph, node.name, "inputs are computed before the node ('" + input->name + "')");
  }
  ROTA_RETURN_IF_ERROR(verifyProvenance(graph, node.provenance, node.name));
  for (const auto& block : node.blocks) {
    if (block->parent() != &graph)
      return fail(graph, node.name, "the parent of a block is the graph of its node");
    if (block->scope == 0) return fail(graph, node.name, "a block has a scope");
    ROTA_RETURN_IF_ERROR(verifyGraph(*block, depth + 1));
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const Value* output = node.outputs[i];
    if (output == nullptr) continue;
    if (!live_.contains(output) || output->owner != &graph)
      return fail(graph, node.name, "outputs are values of the node's graph");
    if (output->producer != &node || output->producerOutput != i)
      return fail(graph, node.name, "an output knows its producer");
    if (!available_.insert(output).second) return fail(graph, node.name, "a value is produced once");
  }
  return Status::ok();
}

Status Verifier::verifyGraph(const Graph& graph, int depth) {
  if (depth > kMaxGraphDepth)
    return fail(graph, graph.name, "graphs are nested at most " + std::to_string(kMaxGraphDepth) + " deep");
  for (const auto& value : graph.values()) live_.insert(value.get());
  for (const auto& value : graph.values()) {
    ROTA_RETURN_IF_ERROR(verifyValue(graph, *value));
    if (value->producer == nullptr) available_.insert(value.get());
  }
  for (const Value* input : graph.inputs()) {
    if (!live_.contains(input) || input->owner != &graph || !input->isInput()) {
      return fail(graph, graph.name, "graph inputs are values of the graph without producer");
    }
  }
  std::unordered_set<std::string_view> nodeNames;
  for (const auto& node : graph.nodes()) {
    if (!nodeNames.insert(node->name).second) return fail(graph, node->name, "node names are unique");
    ROTA_RETURN_IF_ERROR(verifyNode(graph, *node, depth));
  }
  for (const auto& value : graph.values()) {
    if (!available_.contains(value.get()))
      return fail(graph, value->name, "the producer of a value is a node of its graph");
  }
  for (const Value* output : graph.outputs()) {
    if (!available_.contains(output)) return fail(graph, graph.name, "graph outputs are computed values");
  }
  if (!graph.outputNames().empty() && graph.outputNames().size() != graph.outputs().size()) {
    return fail(graph, graph.name, "every graph output has a name, or none has");
  }
  for (const auto& value : graph.values()) {
    live_.erase(value.get());
    available_.erase(value.get());
  }
  return Status::ok();
}

}  // namespace

Status verify(const Graph& graph) { return Verifier().verifyGraph(graph, 0); }

}  // namespace rota::ir
