// SPDX-License-Identifier: Apache-2.0
// MaxPool and AveragePool of float32; channels in blocks of the vector length where their number allows, as convolutions have them.
// Kernel: backend/cpu/run/pool.cpp. Tested by src/backend/cpu/compile/pool_test.cpp.
#include "backend/cpu/compile/kernel_tactic.h"

namespace rota::tactic {
namespace {

constexpr knob::Knob kEnabled = kernelToggle("tactic:cpu.pool", "Lets the vector kernels run pools.");
const knob::RegisterKnob kRegisterEnabled(kEnabled);

Support supportsPool(const Problem& problem) {
  const ir::Node* node = onlyNode(problem, "MaxPool");
  if (node == nullptr) node = onlyNode(problem, "AveragePool");
  if (node == nullptr) return Support::no("the region is no pool");
  if (Support s = kernelsAllowed(problem, kEnabled); !s.yes) return s;
  if (node->inputs[0]->type.dtype != DType::kFloat32) return Support::no("the type is not float32");
  if (node->output(1) != nullptr) return Support::no("the places of the largest elements are wanted");
  if (!shapesKnown(problem, *node) || node->inputs[0]->type.shape.rank() < 3)
    return Support::no("the shapes are not known before the run");
  return Support::ok();
}

double predictPoolUs(const Problem& problem) {
  const ir::Node& node = *problem.region.nodes[0];
  double window = 1;
  if (const auto* kernel = node.attributes.getInts("kernel_shape"))
    for (const std::int64_t k : *kernel) window *= static_cast<double>(k);
  return 0.5 + 0.0005 * window * static_cast<double>(typicalElements(problem, *node.outputs[0]));
}

Status emitPool(const Problem& problem, Emitter& emitter) {
  ir::Node& node = *problem.region.nodes[0];
  runtime::Layout layout = wholeBlocks(emitter, *node.inputs[0]);
  const std::int32_t lanes = problem.target.vectorLanes() == 16 ? 16 : 8;
  if (layout.isPlain() && emitter.sizes().divisible(node.inputs[0]->type.shape.dims[1], lanes))
    layout = {.order = {}, .blocks = {{1, lanes}}};
  if (!layout.isPlain() && layout.blocks[0].axis != 1) layout = {};
  runtime::Step step;
  step.kernel = "cpu.pool";
  step.parameters = node.attributes;
  step.parameters.set("op", std::string(node.opType == "MaxPool" ? "max" : "average"));
  step.inputs = {emitter.operand(node.inputs[0], layout)};
  step.outputs = {emitter.define(node.outputs[0], layout)};
  emitter.step(std::move(step));
  return Status::ok();
}

constexpr Tactic kPool{.name = "cpu.pool",
                       .numerics = knob::Numerics::kReassociating,
                       .doc = "Maximum and average of windows, channels in blocks.",
                       .supports = supportsPool,
                       .predictUs = predictPoolUs,
                       .emit = emitPool};
const RegisterTactic kRegisterPool(kPool);

}  // namespace
}  // namespace rota::tactic
