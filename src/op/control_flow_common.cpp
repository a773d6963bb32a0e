// SPDX-License-Identifier: Apache-2.0
// Shared inference of control flow; see control_flow_common.h.
#include "op/control_flow_common.h"

#include <algorithm>

#include "ir/walk.h"
#include "op/describe.h"

namespace rota::op {

std::vector<SymbolId> symbolsInside(const ir::Graph& block) {
  std::vector<SymbolId> symbols;
  ir::forEachGraph(block, [&symbols](const ir::Graph& graph) {
    for (const auto& node : graph.nodes()) {
      for (const auto& [name, symbol] : node->foundSizes) symbols.push_back(symbol);
    }
    for (const auto& value : graph.values()) {
      for (const auto& [element, symbol] : value->resolvedHere) symbols.push_back(symbol);
    }
  });
  std::sort(symbols.begin(), symbols.end());
  return symbols;
}

bool dependsOn(InferContext& ctx, Size size, const std::vector<SymbolId>& symbols) {
  for (const SymbolId symbol : ctx.sizes().symbolsOf(size)) {
    if (std::binary_search(symbols.begin(), symbols.end(), symbol)) return true;
  }
  return false;
}

Result<ir::Type> coveringType(InferContext& ctx, const ir::Type& a, const ir::Type& b,
                              const std::string& name) {
  if (a.kind != b.kind || a.dtype != b.dtype || a.elementIsSequence != b.elementIsSequence) {
    return ctx.error(ErrorCode::kTypeMismatch, "A value has different types in different branches or turns",
                     describeType(a, ctx.sizes()), describeType(b, ctx.sizes()));
  }
  ir::Type type = a;
  if (a.shape == b.shape) return type;
  if (!a.shape.known || !b.shape.known || a.shape.rank() != b.shape.rank() ||
      a.kind != ir::TypeKind::kTensor) {
    type.shape = ir::Shape::unknown();
    return type;
  }
  for (std::size_t d = 0; d < a.shape.rank(); ++d) {
    if (a.shape.dims[d] == b.shape.dims[d]) continue;
    const SizeRange x = ctx.sizes().range(a.shape.dims[d]);
    const SizeRange y = ctx.sizes().range(b.shape.dims[d]);
    const SizeRange both{std::max<std::int64_t>(0, std::min(x.lo, y.lo)), std::max(x.hi, y.hi)};
    type.shape.dims[d] = ctx.dataDependent(name + "." + std::to_string(d), both);
  }
  return type;
}

ir::Type outsideType(InferContext& ctx, ir::Type type, const std::vector<SymbolId>& inside,
                     const std::string& name) {
  for (std::size_t d = 0; type.shape.known && d < type.shape.rank(); ++d) {
    Size& dim = type.shape.dims[d];
    if (dependsOn(ctx, dim, inside))
      dim = ctx.dataDependent(name + "." + std::to_string(d), ctx.sizes().range(dim));
  }
  return type;
}

Result<ir::Graph*> requireBlock(InferContext& ctx, std::string_view name, std::size_t inputs,
                                std::size_t outputs) {
  ir::Graph* block = ctx.node().block(name);
  if (block == nullptr) {
    return ctx.error(ErrorCode::kBadAttribute, "A control-flow node lacks a block",
                     "attribute '" + std::string(name) + "'", "none");
  }
  if (block->inputs().size() != inputs || block->outputs().size() < outputs) {
    return ctx.error(ErrorCode::kBadGraph, "Block '" + std::string(name) + "' does not fit the node",
                     std::to_string(inputs) + " inputs and at least " + std::to_string(outputs) + " outputs",
                     std::to_string(block->inputs().size()) + " inputs and " +
                         std::to_string(block->outputs().size()) + " outputs");
  }
  return block;
}

void setBlockInputs(ir::Graph& block, std::size_t first, const std::vector<ir::Type>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    ir::Value* input = block.inputs()[first + i];
    input->type = types[i];
    input->contents.reset();
  }
}

Status inferCarried(InferContext& ctx, ir::Graph& block, std::size_t firstInput, std::size_t firstOutput,
                    std::vector<ir::Type>& types) {
  // Each round replaces at least one dim or shape that changes by one that covers all turns, so the rounds end.
  std::size_t rounds = 2;
  for (const ir::Type& type : types) rounds += type.shape.rank() + 2;
  for (std::size_t round = 0; round < rounds; ++round) {
    setBlockInputs(block, firstInput, types);
    ROTA_RETURN_IF_ERROR(ctx.inferBlock(block));
    bool changed = false;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const ir::Type& result = block.outputs()[firstOutput + i]->type;
      // An optional may come back as what it holds.
      if (types[i].kind == ir::TypeKind::kOptional && result.kind != ir::TypeKind::kOptional) continue;
      ir::Type covered = types[i];
      const std::string name = "carried" + std::to_string(i);
      if (types[i].shape.known && result.shape.known && types[i].shape.rank() == result.shape.rank()) {
        // A dim that has its symbol already covers every result.
        ir::Type open = result;
        for (std::size_t d = 0; d < open.shape.rank(); ++d) {
          const Size dim = types[i].shape.dims[d];
          const bool isOwn =
              std::any_of(ctx.node().foundSizes.begin(), ctx.node().foundSizes.end(), [&](const auto& found) {
                return found.first == name + "." + std::to_string(d) &&
                       ctx.sizes().symbol(found.second) == dim;
              });
          if (isOwn) open.shape.dims[d] = dim;
        }
        auto covering = coveringType(ctx, types[i], open, name);
        if (!covering) return covering.status();
        covered = std::move(*covering);
        // What the turns make of it has no bound that the first one shows.
        for (std::size_t d = 0; d < covered.shape.rank(); ++d) {
          if (covered.shape.dims[d] != types[i].shape.dims[d])
            covered.shape.dims[d] = ctx.dataDependent(name + "." + std::to_string(d), {});
        }
      } else {
        auto covering = coveringType(ctx, types[i], result, name);
        if (!covering) return covering.status();
        covered = std::move(*covering);
      }
      changed = changed || !(covered == types[i]);
      types[i] = std::move(covered);
    }
    if (!changed) return Status::ok();
  }
  return ctx.error(ErrorCode::kInternal, "Types of carried values do not settle");
}

}  // namespace rota::op
