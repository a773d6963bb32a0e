// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/compile/kernel_tactic.h"

#include <algorithm>

namespace rota::tactic {

Support kernelsAllowed(const Problem& problem, const knob::Knob& knob) {
  if (problem.target.generic) return Support::no("the generic target has reference kernels only");
  if (!problem.knobs.on(knob, problem.region.scope)) return Support::no("switched off");
  return Support::ok();
}

const ir::Node* onlyNode(const Problem& problem, std::string_view opType) {
  if (problem.region.nodes.size() != 1) return nullptr;
  const ir::Node* node = problem.region.nodes[0];
  return node->domain.empty() && node->opType == opType ? node : nullptr;
}

double typicalBytes(const Problem& problem, const ir::Value& value) {
  return static_cast<double>(typicalElements(problem, value)) * info(value.type.dtype).bits / 8.0;
}

bool ranksKnown(const ir::Node& node) {
  const auto isKnown = [](const ir::Value* v) { return v == nullptr || (v->type.kind == ir::TypeKind::kTensor && v->type.shape.known); };
  return std::all_of(node.inputs.begin(), node.inputs.end(), isKnown) && std::all_of(node.outputs.begin(), node.outputs.end(), isKnown);
}

bool constantInts(const ir::Node& node, std::size_t i, std::string_view name, std::vector<std::int64_t>& values, bool& given) {
  given = true;
  if (const auto* ints = node.attributes.getInts(name)) {
    values = *ints;
    return true;
  }
  const ir::Value* in = node.input(i);
  given = in != nullptr;
  if (!given) return true;
  if (in->isConstant()) {
    values = intsOf(in->constant.view());
    return true;
  }
  if (!in->contents) return false;
  values.clear();
  for (const Size s : *in->contents) {
    const auto c = s.constant();
    if (!c) return false;
    values.push_back(*c);
  }
  return true;
}

}  // namespace rota::tactic
