// SPDX-License-Identifier: Apache-2.0
// The tactic that is always there: one node by its reference kernel. Right for everything, slow; predicted so slow that any other wins.
#include "op/definition.h"
#include "ref/kernel.h"
#include "tactic/tactic.h"

namespace rota::tactic {
namespace {

Support supportsReference(const Problem& problem) {
  if (problem.region.nodes.size() != 1) return Support::no("a reference kernel runs one node");
  const ir::Node& node = *problem.region.nodes[0];
  if (node.definition->kind == op::Kind::kControlFlow)
    return Support::no("control flow is a step of its own");
  if (ref::findKernel(node.domain, node.opType) == nullptr)
    return Support::no("there is no reference kernel");
  return Support::ok();
}

double predictReferenceUs(const Problem& problem) {
  double elements = 0;
  for (const ir::Value* v : problem.region.inputs)
    elements += static_cast<double>(typicalElements(problem, *v));
  for (const ir::Value* v : problem.region.outputs)
    elements += static_cast<double>(typicalElements(problem, *v));
  return 1.0 + 0.02 * elements;
}

Status emitReference(const Problem& problem, Emitter& emitter) {
  ir::Node& node = *problem.region.nodes[0];
  runtime::Step step;
  step.kernel = "ref:" + (node.domain.empty() ? "" : node.domain + ":") + node.opType;
  step.version = node.version;
  step.parameters = node.attributes;
  for (ir::Value* in : node.inputs) step.inputs.push_back(emitter.operand(in));
  for (ir::Value* out : node.outputs) {
    step.outputs.push_back(emitter.define(out));
    if (out != nullptr && !out->type.shape.known && node.definition->kind == op::Kind::kPointwise)
      step.shapeRule = runtime::ShapeRule::kBroadcast;
  }
  emitter.step(std::move(step));
  return Status::ok();
}

constexpr Tactic kReference{.name = "reference",
                            .backend = "any",
                            .doc = "One node by its reference kernel.",
                            .supports = supportsReference,
                            .predictUs = predictReferenceUs,
                            .emit = emitReference};
const RegisterTactic kRegisterReference(kReference);

}  // namespace
}  // namespace rota::tactic
