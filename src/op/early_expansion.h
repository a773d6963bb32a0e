// SPDX-License-Identifier: Apache-2.0
// Operators that exist only between the model's file and the graph: a loop or a formula around blocks of the model's own (SequenceMap,
// FlexAttention with modifiers, the batched Scan of version 8), and what other optimisers have fused or laid out (NhwcConv, QGemm). Once types are known they are written in simpler nodes, as the standard's
// function bodies do, so that passes, planner and both evaluators know If, Loop and Scan only.
//
// The file of the operator registers what applies to which nodes; the importer calls `expandEarly` once. The nodes that come in their place carry
// the provenance of the node, those of its blocks their own. Tested by src/op/early_expansion_test.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "op/definition.h"

namespace rota::op {

/// Writes the nodes before `node` and gives what stands for its outputs.
using EarlyExpansion = Result<std::vector<ir::Value*>> (*)(ir::Graph& graph, const ir::Node& node);

class RegisterEarlyExpansion {
 public:
  /// `applies`: which nodes of the operator (all when nullptr).
  RegisterEarlyExpansion(const char* domain, const char* name, bool (*applies)(const ir::Node&),
                         EarlyExpansion expand);
};

/// Expands every such node of an inferred graph, nested ones too, and infers the graph again when there was one.
Status expandEarly(ir::Graph& graph);

/// Adds nodes for an expansion to one graph, with the provenance of the node that is expanded. Nothing is inferred yet.
class NodeWriter {
 public:
  NodeWriter(ir::Graph& graph, const ir::Node& expanded, const ir::Node* before)
      : graph_(graph),
        expanded_(expanded),
        before_(before) {}

  ir::Graph& graph() { return graph_; }
  ir::Node* node(const char* opType, std::vector<ir::Value*> inputs, std::size_t outputs,
                 std::vector<std::pair<std::string, Attribute>> attributes = {}, const char* domain = "");
  ir::Value* add(const char* opType, std::vector<ir::Value*> inputs,
                 std::vector<std::pair<std::string, Attribute>> attributes = {}) {
    return node(opType, std::move(inputs), 1, std::move(attributes))->outputs[0];
  }
  ir::Value* cast(ir::Value* value, DType dtype);
  ir::Value* ints(std::vector<std::int64_t> values);
  ir::Value* scalar(double value, DType dtype);
  /// A new block of `node`.
  ir::Graph& block(ir::Node& node, const char* name);

 private:
  ir::Graph& graph_;
  const ir::Node& expanded_;
  const ir::Node* before_;
};

}  // namespace rota::op
