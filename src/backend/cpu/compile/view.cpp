// SPDX-License-Identifier: Apache-2.0
// Movement that moves nothing: Reshape and its relatives are views of their input, whatever computes the new dims. Found by the
// number of elements in row-major order staying put: the operators that promise that say so in their definition (kind movement, `keepsOrder`).
#include "op/definition.h"
#include "tactic/tactic.h"

namespace rota::tactic {
namespace {

bool mentions(SizeContext& sizes, const ir::Value& value, SymbolId id) {
  for (Size d : value.type.shape.dims) {
    for (SymbolId other : sizes.symbolsOf(sizes.resolve(d)))
      if (other == id) return true;
  }
  return false;
}

Support supportsView(const Problem& problem) {
  if (problem.region.nodes.size() != 1) return Support::no("a view is one node");
  const ir::Node& node = *problem.region.nodes[0];
  if (!node.definition->keepsOrder) return Support::no("elements change their order");
  const ir::Value* in = node.input(0);
  const ir::Value* out = node.output(0);
  if (in == nullptr || out == nullptr) return Support::no("there is nothing to view");
  if (in->type.kind != ir::TypeKind::kTensor || !in->type.shape.known || !out->type.shape.known)
    return Support::no("the rank is not known before the run");
  if (in->type.dtype != out->type.dtype) return Support::no("the type changes");
  for (Size d : out->type.shape.dims) {
    for (SymbolId id : problem.sizes.symbolsOf(problem.sizes.resolve(d)))
      if (problem.sizes.symbols()[id].origin == SymbolOrigin::kDataDependent &&
          !mentions(problem.sizes, *in, id))
        return Support::no("the kernel finds the dims");
  }
  return Support::ok();
}

double predictViewUs(const Problem&) { return 0; }

Status emitView(const Problem& problem, Emitter& emitter) {
  const ir::Node& node = *problem.region.nodes[0];
  emitter.alias(node.outputs[0], node.inputs[0]);
  return Status::ok();
}

constexpr Tactic kView{.name = "view",
                       .backend = "any",
                       .doc = "Reshape and its relatives as views of the same bytes.",
                       .supports = supportsView,
                       .predictUs = predictViewUs,
                       .emit = emitView};
const RegisterTactic kRegisterView(kView);

}  // namespace
}  // namespace rota::tactic
