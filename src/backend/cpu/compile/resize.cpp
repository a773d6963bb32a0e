// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample of the last two axes. Channels stay in blocks where they lie so. Kernel: backend/cpu/run/resize.cpp. Tested by resize_test.cpp.
#include "backend/cpu/compile/kernel_tactic.h"

namespace rota::tactic {
namespace {

constexpr knob::Knob kEnabled = kernelToggle("tactic:cpu.resize", "Lets the vector kernels resize images.");
const knob::RegisterKnob kRegisterEnabled(kEnabled);

const ir::Node* resizeNode(const Problem& problem) {
  const ir::Node* node = onlyNode(problem, "Resize");
  return node != nullptr ? node : onlyNode(problem, "Upsample");
}
bool isSimple(const ir::Node& node) { return node.opType == "Upsample" || node.version < 11; }

/// The scale of each axis where the model gives scales as constants; empty where it gives sizes; nothing when they are not known.
std::optional<std::vector<float>> scalesOf(const ir::Node& node) {
  if (const auto* attribute = node.attributes.getFloats("scales")) return *attribute;
  const ir::Value* scales = node.input(isSimple(node) ? 1 : 2);
  if (scales == nullptr) return std::vector<float>{};
  if (!scales->isConstant()) return std::nullopt;
  std::vector<float> values;
  for (std::int64_t i = 0; i < scales->constant.count(); ++i)
    values.push_back(static_cast<float>(realAt(scales->constant.view(), i)));
  return values;
}

/// The scales of the last two axes; false unless all others stay as they are.
bool lastTwo(const ir::Node& node, std::vector<float>& scales) {
  const std::size_t rank = node.inputs[0]->type.shape.rank();
  std::vector<float> perAxis(rank, 1.0F);
  std::vector<std::int64_t> axes;
  if (const auto* given = node.attributes.getInts("axes")) {
    axes = *given;
  } else {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (!scales.empty() && scales.size() != axes.size()) return false;
  for (std::size_t i = 0; i < scales.size(); ++i) perAxis[axisOf(axes[i], rank)] = scales[i];
  for (std::size_t d = 0; d + 2 < rank; ++d)
    if (perAxis[d] != 1.0F || node.inputs[0]->type.shape.dims[d] != node.outputs[0]->type.shape.dims[d])
      return false;
  if (!scales.empty()) scales = {perAxis[rank - 2], perAxis[rank - 1]};
  return true;
}

Support supportsResize(const Problem& problem) {
  const ir::Node* node = resizeNode(problem);
  if (node == nullptr) return Support::no("the region does not resize");
  if (Support s = kernelsAllowed(problem, kEnabled); !s.yes) return s;
  if (!shapesKnown(problem, *node) || node->inputs[0]->type.shape.rank() < 2)
    return Support::no("the shapes are not known before the run");
  const Attributes& a = node->attributes;
  const DType dtype = node->inputs[0]->type.dtype;
  const bool isNearest = a.getString("mode", "nearest") == "nearest";
  if (a.getInt("antialias") != 0) return Support::no("a filter against aliasing is wanted");
  if (a.getString("coordinate_transformation_mode") == "tf_crop_and_resize")
    return Support::no("a region is cut out");
  if (a.getString("keep_aspect_ratio_policy", "stretch") != "stretch")
    return Support::no("the aspect ratio is kept");
  if (dtype == DType::kString || info(dtype).bits < 8 || (!isNearest && dtype != DType::kFloat32))
    return Support::no("the type is not float32");
  auto scales = scalesOf(*node);
  if (!scales) return Support::no("the scales are not known before the run");
  if (!lastTwo(*node, *scales)) return Support::no("other axes than the last two are resized");
  // An image of nothing cannot be enlarged: the reference refuses it.
  for (const Size d : node->inputs[0]->type.shape.dims)
    if (problem.sizes.range(d).lo < 1) return Support::no("an axis may be empty");
  return Support::ok();
}

double predictResizeUs(const Problem& problem) {
  return 0.5 + 0.003 * static_cast<double>(typicalElements(problem, *problem.region.nodes[0]->outputs[0]));
}

Status emitResize(const Problem& problem, Emitter& emitter) {
  ir::Node& node = *problem.region.nodes[0];
  auto scales = *scalesOf(node);
  lastTwo(node, scales);
  runtime::Layout layout = wholeBlocks(emitter, *node.inputs[0]);
  if (!layout.isPlain() && layout.blocks[0].axis + std::size_t{2} >= node.inputs[0]->type.shape.rank())
    layout = {};
  runtime::Step step;
  step.kernel = "cpu.resize";
  step.version = isSimple(node) ? 10 : node.version;
  step.parameters = node.attributes;
  step.parameters.erase("scales");
  if (!scales.empty()) step.parameters.set("scales", scales);
  step.inputs = {emitter.operand(node.inputs[0], layout)};
  step.outputs = {emitter.define(node.outputs[0], layout)};
  emitter.step(std::move(step));
  return Status::ok();
}

constexpr Tactic kResize{.name = "cpu.resize",
                         .numerics = knob::Numerics::kReassociating,
                         .doc = "Resize of images: nearest, linear and cubic.",
                         .supports = supportsResize,
                         .predictUs = predictResizeUs,
                         .emit = emitResize};
const RegisterTactic kRegisterResize(kResize);

}  // namespace
}  // namespace rota::tactic
