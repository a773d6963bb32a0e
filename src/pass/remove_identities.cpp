// SPDX-License-Identifier: Apache-2.0
// A node goes when its first output is provably its first input: same type, same shape, same order of elements.
#include "pass/remove_identities.h"

#include "core/check.h"
#include "op/definition.h"

namespace rota::pass {
namespace {

const knob::RegisterKnob kRegisterRemoveIdentities(kPassRemoveIdentities);

bool sameType(const ir::Graph&, const ir::Value& a, const ir::Value& b) {
  return a.type.kind == ir::TypeKind::kTensor && a.type.kind == b.type.kind && a.type.dtype == b.type.dtype &&
         a.type.shape.known && a.type.shape == b.type.shape;
}

bool isIdentityPermutation(const ir::Node& node) {
  const auto* permutation = node.attributes.getInts("perm");
  if (permutation == nullptr) return node.inputs[0]->type.shape.rank() <= 1;
  for (std::size_t i = 0; i < permutation->size(); ++i)
    if ((*permutation)[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

/// Operators that return their input bit by bit when input and output have the same dtype and shape.
bool keepsElements(const ir::Node& node) {
  static constexpr std::string_view kNames[] = {"Identity", "Cast",      "Reshape", "Flatten",
                                                "Squeeze",  "Unsqueeze", "Expand"};
  for (std::string_view n : kNames)
    if (node.opType == n) return true;
  if (node.opType == "Transpose") return isIdentityPermutation(node);
  return false;
}

bool isInferenceDropout(const ir::Node& node) {
  if (node.opType != "Dropout" || node.output(1) != nullptr) return false;
  const ir::Value* training = node.input(2);
  return training == nullptr || (training->isConstant() && intAt(training->constant.view(), 0) == 0);
}

}  // namespace

Status removeIdentities(ir::Graph& graph, const PassContext&, bool& changed) {
  std::vector<ir::Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  for (ir::Node* node : nodes) {
    if (!node->domain.empty() || node->input(0) == nullptr || node->output(0) == nullptr ||
        node->outputs.size() > 2)
      continue;
    ir::Value* in = node->inputs[0];
    ir::Value* out = node->outputs[0];
    const bool passesThrough = (keepsElements(*node) && sameType(graph, *in, *out)) ||
                               isInferenceDropout(*node) ||
                               (node->opType == "Identity" && in->type == out->type);
    if (!passesThrough) continue;
    graph.replaceUses(out, in);
    graph.eraseNode(node);
    changed = true;
  }
  return Status::ok();
}

}  // namespace rota::pass
