// SPDX-License-Identifier: Apache-2.0
// Common subexpressions by a textual key of operator, version, attributes and inputs, in topological order, within one graph.
#include "pass/merge_common.h"

#include <cstring>
#include <map>

#include "core/check.h"
#include "core/hash.h"
#include "op/definition.h"

namespace rota::pass {
namespace {

const knob::RegisterKnob kRegisterMergeCommon(kPassMergeCommon);

void addAttribute(Hasher& h, const Attribute& value) {
  h.add(static_cast<std::int64_t>(value.index()));
  const auto addTensor = [&h](const Tensor& t) {
    h.add(static_cast<std::int64_t>(t.dtype()));
    h.add(static_cast<std::int64_t>(t.dims().size()));
    for (std::int64_t d : t.dims()) h.add(d);
    h.add(t.data(), t.bytes());
  };
  const auto addFloat = [&h](float f) { h.add(&f, sizeof f); };
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::int64_t>) {
          h.add(v);
        } else if constexpr (std::is_same_v<T, float>) {
          addFloat(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          h.add(std::string_view(v));
        } else if constexpr (std::is_same_v<T, Tensor>) {
          addTensor(v);
        } else {
          h.add(static_cast<std::int64_t>(v.size()));
          for (const auto& e : v) {
            using E = std::decay_t<decltype(e)>;
            if constexpr (std::is_same_v<E, std::int64_t>)
              h.add(e);
            else if constexpr (std::is_same_v<E, float>)
              addFloat(e);
            else if constexpr (std::is_same_v<E, std::string>)
              h.add(std::string_view(e));
            else
              addTensor(e);
          }
        }
      },
      value);
}

/// Small equal constants count as the same operand.
void addOperand(Hasher& h, const ir::Value* v) {
  if (v == nullptr) return h.add(std::int64_t{-1});
  if (v->isConstant() && v->constant.bytes() <= 1024) {
    h.add(std::string_view("constant"));
    addAttribute(h, v->constant);
    return;
  }
  h.add(static_cast<std::int64_t>(v->id));
}

Hash128 keyOf(const ir::Node& node) {
  Hasher h;
  h.add(std::string_view(node.domain));
  h.add(std::string_view(node.opType));
  h.add(static_cast<std::int64_t>(node.version));
  h.add(static_cast<std::int64_t>(node.attributes.entries().size()));
  for (const auto& [name, value] : node.attributes.entries()) {
    h.add(std::string_view(name));
    addAttribute(h, value);
  }
  h.add(static_cast<std::int64_t>(node.inputs.size()));
  for (const ir::Value* in : node.inputs) addOperand(h, in);
  h.add(static_cast<std::int64_t>(node.outputs.size()));
  for (const ir::Value* out : node.outputs) h.add(std::int64_t{out != nullptr});
  return h.finish();
}

}  // namespace

Status mergeCommon(ir::Graph& graph, const PassContext&, bool& changed) {
  std::map<Hash128, ir::Node*> seen;
  std::vector<ir::Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  for (ir::Node* node : nodes) {
    if (node->definition == nullptr || !node->definition->isPure || !node->blocks.empty()) continue;
    // A data-dependent size belongs to its node; merging would leave symbols without a definition.
    bool dataDependent = false;
    for (const ir::Value* out : node->outputs)
      dataDependent = dataDependent ||
                      (out != nullptr && (out->type.kind != ir::TypeKind::kTensor || !out->type.shape.known));
    if (dataDependent) continue;
    const auto [it, inserted] = seen.emplace(keyOf(*node), node);
    if (inserted) continue;
    bool sameTypes = true;
    for (std::size_t i = 0; i < node->outputs.size(); ++i) {
      if (node->outputs[i] != nullptr)
        sameTypes = sameTypes && node->outputs[i]->type == it->second->outputs[i]->type;
    }
    if (!sameTypes) continue;
    for (std::size_t i = 0; i < node->outputs.size(); ++i) {
      if (node->outputs[i] == nullptr) continue;
      it->second->outputs[i]->provenance.merge(node->outputs[i]->provenance);
      graph.replaceUses(node->outputs[i], it->second->outputs[i]);
    }
    it->second->provenance.merge(node->provenance);
    graph.eraseNode(node);
    changed = true;
  }
  return Status::ok();
}

}  // namespace rota::pass
