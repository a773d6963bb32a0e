// SPDX-License-Identifier: Apache-2.0
// Reduce operators and global pools of float32 along known axes. A blocked input is read as it lies when everything behind the blocked axis folds.
// Kernel: backend/cpu/run/reduce.cpp. Tested by src/backend/cpu/compile/reduce_test.cpp.
#include <algorithm>

#include "backend/cpu/compile/kernel_tactic.h"

namespace rota::tactic {
namespace {

constexpr knob::Knob kEnabled = kernelToggle("tactic:cpu.reduce", "Lets the vector kernels run reductions.");
const knob::RegisterKnob kRegisterEnabled(kEnabled);

struct Folding {
  std::string_view opType;
  const char* op;
  bool isGlobalPool = false;
};
constexpr Folding kFoldings[] = {{"ReduceSum", "sum"},
                                 {"ReduceMean", "mean"},
                                 {"ReduceMax", "max"},
                                 {"ReduceMin", "min"},
                                 {"ReduceProd", "prod"},
                                 {"ReduceL1", "l1"},
                                 {"ReduceL2", "l2"},
                                 {"ReduceSumSquare", "sum_square"},
                                 {"ReduceLogSum", "log_sum"},
                                 {"ReduceLogSumExp", "log_sum_exp"},
                                 {"GlobalAveragePool", "mean", true},
                                 {"GlobalMaxPool", "max", true}};

const Folding* foldingOf(const Problem& problem) {
  for (const Folding& f : kFoldings)
    if (onlyNode(problem, f.opType) != nullptr) return &f;
  return nullptr;
}

/// The folded axes, sorted; nothing when they are not known.
std::optional<std::vector<std::int64_t>> axesOf(const ir::Node& node, bool isGlobalPool) {
  const std::size_t rank = node.inputs[0]->type.shape.rank();
  std::vector<std::int64_t> axes;
  if (isGlobalPool) {
    for (std::size_t i = 2; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    return axes;
  }
  if (node.attributes.has("axes") || node.input(1) != nullptr) {
    const auto given = numbersOf(node, 1, "axes");
    if (!given) return std::nullopt;
    for (const std::int64_t a : *given) axes.push_back(static_cast<std::int64_t>(axisOf(a, rank)));
  }
  if (axes.empty() && node.attributes.getInt("noop_with_empty_axes") == 0) {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

Support supportsReduce(const Problem& problem) {
  const Folding* folding = foldingOf(problem);
  if (folding == nullptr) return Support::no("the region is no reduction");
  if (Support s = kernelsAllowed(problem, kEnabled); !s.yes) return s;
  const ir::Node& node = *problem.region.nodes[0];
  if (node.inputs[0]->type.dtype != DType::kFloat32) return Support::no("the type is not float32");
  if (!shapesKnown(problem, node)) return Support::no("the shapes are not known before the run");
  if (!axesOf(node, folding->isGlobalPool)) return Support::no("the axes are not known before the run");
  return Support::ok();
}

double predictReduceUs(const Problem& problem) {
  return 0.5 + typicalBytes(problem, *problem.region.nodes[0]->inputs[0]) / kBytesPerUs;
}

Status emitReduce(const Problem& problem, Emitter& emitter) {
  const Folding* folding = foldingOf(problem);
  ir::Node& node = *problem.region.nodes[0];
  const auto axes = *axesOf(node, folding->isGlobalPool);
  runtime::Layout layout = wholeBlocks(emitter, *node.inputs[0]);
  if (!layout.isPlain()) {
    const auto folds = [&](std::int64_t axis) { return std::binary_search(axes.begin(), axes.end(), axis); };
    const std::int64_t blocked = layout.blocks[0].axis;
    bool fits = !folds(blocked);
    for (std::int64_t a = blocked + 1; a < static_cast<std::int64_t>(node.inputs[0]->type.shape.rank()); ++a)
      fits = fits && folds(a);
    if (!fits) layout = {};
  }
  runtime::Step step;
  step.kernel = "cpu.reduce";
  step.parameters.set("op", std::string(folding->op));
  step.parameters.set("axes", axes);
  step.inputs = {emitter.operand(node.inputs[0], layout)};
  step.outputs = {emitter.define(node.outputs[0])};
  emitter.step(std::move(step));
  return Status::ok();
}

constexpr Tactic kReduce{.name = "cpu.reduce",
                         .numerics = knob::Numerics::kReassociating,
                         .doc = "Sums, means, extremes and norms along any axes.",
                         .supports = supportsReduce,
                         .predictUs = predictReduceUs,
                         .emit = emitReduce};
const RegisterTactic kRegisterReduce(kReduce);

}  // namespace
}  // namespace rota::tactic
