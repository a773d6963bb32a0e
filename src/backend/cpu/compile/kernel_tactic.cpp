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

bool shapesKnown(const Problem& problem, const ir::Node& node) {
  const auto isRanked = [](const ir::Value* v) {
    return v == nullptr || (v->type.kind == ir::TypeKind::kTensor && v->type.shape.known);
  };
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), isRanked) ||
      !std::all_of(node.outputs.begin(), node.outputs.end(), isRanked))
    return false;
  const auto symbols = [&](const ir::Value& v) {
    std::vector<SymbolId> ids;
    for (const Size d : v.type.shape.dims)
      for (const SymbolId id : problem.sizes.symbolsOf(problem.sizes.resolve(d))) ids.push_back(id);
    return ids;
  };
  std::vector<SymbolId> given;
  for (const ir::Value* in : node.inputs) {
    if (in == nullptr) continue;
    const auto ids = symbols(*in);
    given.insert(given.end(), ids.begin(), ids.end());
  }
  for (const ir::Value* out : node.outputs) {
    if (out == nullptr) continue;
    for (const SymbolId id : symbols(*out))
      if (problem.sizes.symbols()[id].origin == SymbolOrigin::kDataDependent &&
          std::find(given.begin(), given.end(), id) == given.end())
        return false;
  }
  return true;
}

runtime::Layout wholeBlocks(Emitter& emitter, const ir::Value& value) {
  const runtime::Layout layout = emitter.currentLayout(&value);
  if (!layout.order.empty() || layout.blocks.size() != 1) return {};
  const auto& block = layout.blocks[0];
  return emitter.sizes().divisible(value.type.shape.dims[block.axis], block.size) ? layout
                                                                                  : runtime::Layout{};
}

std::optional<std::vector<Size>> sizesOf(const ir::Node& node, std::size_t i, std::string_view name) {
  if (const auto* ints = node.attributes.getInts(name)) return std::vector<Size>(ints->begin(), ints->end());
  const ir::Value* in = node.input(i);
  if (in == nullptr) return std::nullopt;
  if (in->isConstant()) {
    const auto ints = intsOf(in->constant.view());
    return std::vector<Size>(ints.begin(), ints.end());
  }
  if (!in->contents) return std::nullopt;
  for (const Size s : *in->contents)
    if (!s.isValid()) return std::nullopt;
  return in->contents;
}

std::optional<std::vector<std::int64_t>> numbersOf(const ir::Node& node, std::size_t i,
                                                   std::string_view name) {
  const auto sizes = sizesOf(node, i, name);
  if (!sizes) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Size s : *sizes) {
    const auto c = s.constant();
    if (!c) return std::nullopt;
    numbers.push_back(*c);
  }
  return numbers;
}

}  // namespace rota::tactic
