// SPDX-License-Identifier: Apache-2.0
// Gather, GatherElements and GatherND for every type of whole bytes. Kernel: backend/cpu/run/gather.cpp. Tested by gather_test.cpp.
#include "backend/cpu/compile/kernel_tactic.h"

namespace rota::tactic {
namespace {

constexpr knob::Knob kEnabled = kernelToggle("tactic:cpu.gather", "Lets our own kernels gather by index.");
const knob::RegisterKnob kRegisterEnabled(kEnabled);

struct Gathering {
  std::string_view opType;
  const char* kind;
};
constexpr Gathering kGatherings[] = {
    {"Gather", "gather"}, {"GatherElements", "elements"}, {"GatherND", "nd"}};

const Gathering* gatheringOf(const Problem& problem) {
  for (const Gathering& g : kGatherings)
    if (onlyNode(problem, g.opType) != nullptr) return &g;
  return nullptr;
}

Support supportsGather(const Problem& problem) {
  if (gatheringOf(problem) == nullptr) return Support::no("the region gathers nothing");
  if (Support s = kernelsAllowed(problem, kEnabled); !s.yes) return s;
  const ir::Node& node = *problem.region.nodes[0];
  if (!shapesKnown(problem, node)) return Support::no("the shapes are not known before the run");
  const DType data = node.inputs[0]->type.dtype;
  const DType index = node.inputs[1]->type.dtype;
  if (data == DType::kString || info(data).bits < 8) return Support::no("elements are packed or strings");
  if (index != DType::kInt32 && index != DType::kInt64) return Support::no("the indices have another type");
  if (node.opType != "GatherND" && node.inputs[0]->type.shape.rank() == 0)
    return Support::no("the rank is 0");
  return Support::ok();
}

double predictGatherUs(const Problem& problem) {
  const ir::Node& node = *problem.region.nodes[0];
  return 0.5 + 2 * typicalBytes(problem, *node.outputs[0]) / kBytesPerUs +
         0.004 * static_cast<double>(typicalElements(problem, *node.inputs[1]));
}

Status emitGather(const Problem& problem, Emitter& emitter) {
  ir::Node& node = *problem.region.nodes[0];
  runtime::Step step;
  step.kernel = "cpu.gather";
  step.parameters.set("kind", std::string(gatheringOf(problem)->kind));
  if (node.opType == "GatherND") {
    step.parameters.set("batch_dims", node.attributes.getInt("batch_dims"));
  } else {
    step.parameters.set("axis", static_cast<std::int64_t>(axisOf(node.attributes.getInt("axis"),
                                                                 node.inputs[0]->type.shape.rank())));
  }
  step.inputs = {emitter.operand(node.inputs[0]), emitter.operand(node.inputs[1])};
  step.outputs = {emitter.define(node.outputs[0])};
  emitter.step(std::move(step));
  return Status::ok();
}

constexpr Tactic kGather{.name = "cpu.gather",
                         .doc = "Slices or elements by index, each index checked.",
                         .supports = supportsGather,
                         .predictUs = predictGatherUs,
                         .emit = emitGather};
const RegisterTactic kRegisterGather(kGather);

}  // namespace
}  // namespace rota::tactic
