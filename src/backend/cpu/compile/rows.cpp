// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax, LayerNormalization, RMSNormalization, InstanceNormalization and GroupNormalization of float32, one node each.
// Kernels: backend/cpu/run/softmax.cpp and normalization.cpp. Tested by src/backend/cpu/compile/rows_test.cpp.
#include <algorithm>

#include "backend/cpu/compile/kernel_tactic.h"

namespace rota::tactic {
namespace {

constexpr knob::Knob kSoftmaxEnabled =
    kernelToggle("tactic:cpu.softmax", "Lets the vector kernels run softmax.");
constexpr knob::Knob kNormEnabled =
    kernelToggle("tactic:cpu.normalization", "Lets the vector kernels run normalisations.");
const knob::RegisterKnob kRegisterSoftmaxEnabled(kSoftmaxEnabled);
const knob::RegisterKnob kRegisterNormEnabled(kNormEnabled);

/// Every given operand of the node is float32 of known shape.
Support floatNode(const Problem& problem, const ir::Node& node, const knob::Knob& knob) {
  if (Support s = kernelsAllowed(problem, knob); !s.yes) return s;
  if (!shapesKnown(problem, node)) return Support::no("the shapes are not known before the run");
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ir::Value* v : *list)
      if (v != nullptr && v->type.dtype != DType::kFloat32) return Support::no("the type is not float32");
  return Support::ok();
}

// --- Softmax.

const ir::Node* softmaxNode(const Problem& problem) {
  const ir::Node* node = onlyNode(problem, "Softmax");
  return node != nullptr ? node : onlyNode(problem, "LogSoftmax");
}
Support supportsSoftmax(const Problem& problem) {
  const ir::Node* node = softmaxNode(problem);
  if (node == nullptr) return Support::no("the region is no softmax");
  if (node->inputs[0]->type.shape.rank() == 0) return Support::no("the rank is 0");
  return floatNode(problem, *node, kSoftmaxEnabled);
}
double predictSoftmaxUs(const Problem& problem) {
  return 0.5 + 0.0015 * static_cast<double>(typicalElements(problem, *problem.region.nodes[0]->outputs[0]));
}
Status emitSoftmax(const Problem& problem, Emitter& emitter) {
  ir::Node& node = *problem.region.nodes[0];
  const bool isFlat = node.version < 13;
  const auto rank = static_cast<std::int64_t>(node.inputs[0]->type.shape.rank());
  const std::int64_t axis = node.attributes.getInt("axis", isFlat ? 1 : -1);
  runtime::Step step;
  step.kernel = "cpu.softmax";
  // Old operator sets allow axis = rank: lines of one element.
  step.parameters.set("axis", axis < 0 ? axis + rank : axis);
  if (isFlat) step.parameters.set("flat", std::int64_t{1});
  if (node.opType == "LogSoftmax") step.parameters.set("form", std::string("logarithm"));
  step.inputs = {emitter.operand(node.inputs[0])};
  step.outputs = {emitter.define(node.outputs[0])};
  emitter.step(std::move(step));
  return Status::ok();
}

// --- Layer and RMS normalisation.

const ir::Node* layerNode(const Problem& problem) {
  const ir::Node* node = onlyNode(problem, "LayerNormalization");
  return node != nullptr ? node : onlyNode(problem, "RMSNormalization");
}
/// `v` is the dims of `x` from `axis` on, with ones before.
bool isRow(const ir::Value* v, const ir::Value& x, std::size_t axis) {
  if (v == nullptr) return true;
  std::vector<Size> dims = v->type.shape.dims;
  const std::vector<Size> row(x.type.shape.dims.begin() + static_cast<std::ptrdiff_t>(axis),
                              x.type.shape.dims.end());
  while (dims.size() > row.size() && dims.front().is(1)) dims.erase(dims.begin());
  return dims == row;
}
Support supportsLayerNorm(const Problem& problem) {
  const ir::Node* node = layerNode(problem);
  if (node == nullptr) return Support::no("the region is no layer normalisation");
  if (Support s = floatNode(problem, *node, kNormEnabled); !s.yes) return s;
  const ir::Value& x = *node->inputs[0];
  if (x.type.shape.rank() == 0) return Support::no("the rank is 0");
  const std::size_t axis = axisOf(node->attributes.getInt("axis", -1), x.type.shape.rank());
  if (!isRow(node->input(1), x, axis) || !isRow(node->input(2), x, axis))
    return Support::no("scale or bias is not one row");
  return Support::ok();
}
double predictNormUs(const Problem& problem) {
  return 0.5 + 0.0012 * static_cast<double>(typicalElements(problem, *problem.region.nodes[0]->inputs[0]));
}
Status emitLayerNorm(const Problem& problem, Emitter& emitter) {
  ir::Node& node = *problem.region.nodes[0];
  runtime::Step step;
  step.kernel = "cpu.layer_norm";
  step.parameters.set("axis", static_cast<std::int64_t>(axisOf(node.attributes.getInt("axis", -1),
                                                               node.inputs[0]->type.shape.rank())));
  step.parameters.set("epsilon", node.attributes.getFloat("epsilon", 1e-5F));
  if (node.opType == "RMSNormalization") step.parameters.set("rms", std::int64_t{1});
  for (ir::Value* in : node.inputs) step.inputs.push_back(emitter.operand(in));
  for (ir::Value* out : node.outputs) step.outputs.push_back(emitter.define(out));
  emitter.step(std::move(step));
  return Status::ok();
}

// --- Instance and group normalisation.

const ir::Node* groupNode(const Problem& problem) {
  const ir::Node* node = onlyNode(problem, "InstanceNormalization");
  return node != nullptr ? node : onlyNode(problem, "GroupNormalization");
}
Support supportsGroupNorm(const Problem& problem) {
  const ir::Node* node = groupNode(problem);
  if (node == nullptr) return Support::no("the region is no group normalisation");
  if (node->inputs[0]->type.shape.rank() < 2) return Support::no("the rank is below 2");
  return floatNode(problem, *node, kNormEnabled);
}
Status emitGroupNorm(const Problem& problem, Emitter& emitter) {
  ir::Node& node = *problem.region.nodes[0];
  runtime::Step step;
  step.kernel = "cpu.group_norm";
  step.parameters.set("groups", node.attributes.getInt("num_groups"));
  step.parameters.set("epsilon", node.attributes.getFloat("epsilon", 1e-5F));
  if (node.opType == "GroupNormalization" && node.version < 21)
    step.parameters.set("per_group", std::int64_t{1});
  for (ir::Value* in : node.inputs) step.inputs.push_back(emitter.operand(in));
  step.outputs = {emitter.define(node.outputs[0])};
  emitter.step(std::move(step));
  return Status::ok();
}

constexpr Tactic kSoftmax{
    .name = "cpu.softmax",
    .numerics = knob::Numerics::kReassociating,
    .doc = "Softmax and its logarithm along one axis, in one pass for the maximum and one for the sum.",
    .supports = supportsSoftmax,
    .predictUs = predictSoftmaxUs,
    .emit = emitSoftmax};
constexpr Tactic kLayerNorm{.name = "cpu.layer_norm",
                            .numerics = knob::Numerics::kReassociating,
                            .doc = "Layer and RMS normalisation, row by row.",
                            .supports = supportsLayerNorm,
                            .predictUs = predictNormUs,
                            .emit = emitLayerNorm};
constexpr Tactic kGroupNorm{.name = "cpu.group_norm",
                            .numerics = knob::Numerics::kReassociating,
                            .doc = "Instance and group normalisation.",
                            .supports = supportsGroupNorm,
                            .predictUs = predictNormUs,
                            .emit = emitGroupNorm};
const RegisterTactic kRegisterSoftmax(kSoftmax);
const RegisterTactic kRegisterLayerNorm(kLayerNorm);
const RegisterTactic kRegisterGroupNorm(kGroupNorm);

}  // namespace
}  // namespace rota::tactic
