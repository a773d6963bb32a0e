// SPDX-License-Identifier: Apache-2.0
// Movement by a fixed index map: Transpose, Expand, Tile, Slice, Concat, Split, Pad, DepthToSpace, SpaceToDepth as strided copies.
//
// One entry of a table an operator: whether the node fits, and what its step needs. Concat, Split and Slice keep a blocked layout when
// all pieces are whole blocks; Transpose reads one. Kernel: backend/cpu/run/strided_copy.cpp. Tested by strided_copy_test.cpp.
#include <algorithm>

#include "backend/cpu/compile/kernel_tactic.h"

namespace rota::tactic {
namespace {

constexpr knob::Knob kEnabled = kernelToggle("tactic:cpu.strided_copy", "Lets strided copies run movement.");
const knob::RegisterKnob kRegisterEnabled(kEnabled);

struct Movement {
  std::string_view opType;
  Support (*fits)(const ir::Node& node);
  void (*emit)(ir::Node& node, Emitter& emitter, runtime::Step& step);
};

Support always(const ir::Node&) { return Support::ok(); }

/// Input 0 and output 0 in plain layout.
void plainOperands(ir::Node& node, Emitter& emitter, runtime::Step& step) {
  step.inputs = {emitter.operand(node.inputs[0])};
  step.outputs = {emitter.define(node.outputs[0])};
}

void setKind(runtime::Step& step, const char* kind) { step.parameters.set("kind", std::string(kind)); }

std::vector<std::int64_t> entriesOf(Emitter& emitter, const std::vector<Size>& sizes) {
  std::vector<std::int64_t> entries;
  for (const Size s : sizes) entries.push_back(emitter.entry(s));
  return entries;
}

// --- Transpose.

void emitTranspose(ir::Node& node, Emitter& emitter, runtime::Step& step) {
  setKind(step, "transpose");
  std::vector<std::int64_t> perm;
  if (const auto* given = node.attributes.getInts("perm")) {
    perm = *given;
  } else {
    for (std::size_t i = node.inputs[0]->type.shape.rank(); i-- > 0;)
      perm.push_back(static_cast<std::int64_t>(i));
  }
  step.parameters.set("perm", perm);
  step.inputs = {emitter.operand(node.inputs[0], wholeBlocks(emitter, *node.inputs[0]))};
  step.outputs = {emitter.define(node.outputs[0])};
}

// --- Expand and Tile: the dims say everything.

void emitExpand(ir::Node& node, Emitter& emitter, runtime::Step& step) {
  setKind(step, "expand");
  plainOperands(node, emitter, step);
}
Support fitsTile(const ir::Node& node) {
  return node.inputs[0]->type.shape.rank() <= 8 ? Support::ok() : Support::no("the rank is above 8");
}
void emitTile(ir::Node& node, Emitter& emitter, runtime::Step& step) {
  setKind(step, "tile");
  plainOperands(node, emitter, step);
}

// --- Slice.

struct SliceBounds {
  std::vector<std::int64_t> axes;
  std::vector<Size> starts;
  std::vector<std::int64_t> steps;
};
std::optional<SliceBounds> boundsOf(const ir::Node& node) {
  SliceBounds b;
  const auto starts = sizesOf(node, 1, "starts");
  if (!starts) return std::nullopt;
  b.starts = *starts;
  if (node.attributes.has("axes") || node.input(3) != nullptr) {
    const auto axes = numbersOf(node, 3, "axes");
    if (!axes) return std::nullopt;
    b.axes = *axes;
  } else {
    for (std::size_t i = 0; i < b.starts.size(); ++i) b.axes.push_back(static_cast<std::int64_t>(i));
  }
  for (auto& a : b.axes) a = static_cast<std::int64_t>(axisOf(a, node.inputs[0]->type.shape.rank()));
  b.steps.assign(b.starts.size(), 1);
  if (node.input(4) != nullptr) {
    const auto steps = numbersOf(node, 4, "steps");
    if (!steps) return std::nullopt;
    b.steps = *steps;
  }
  if (b.axes.size() != b.starts.size() || b.steps.size() != b.starts.size()) return std::nullopt;
  return b;
}
Support fitsSlice(const ir::Node& node) {
  return boundsOf(node) ? Support::ok() : Support::no("the bounds are not known before the run");
}
void emitSlice(ir::Node& node, Emitter& emitter, runtime::Step& step) {
  setKind(step, "slice");
  const SliceBounds b = *boundsOf(node);
  runtime::Layout layout = wholeBlocks(emitter, *node.inputs[0]);
  if (!layout.isPlain()) {
    const auto& block = layout.blocks[0];
    for (std::size_t i = 0; i < b.axes.size(); ++i) {
      if (b.axes[i] != block.axis) continue;
      const auto start = b.starts[i].constant();
      const bool isWhole =
          b.steps[i] == 1 && start && *start >= 0 && *start % block.size == 0 &&
          emitter.sizes().divisible(node.outputs[0]->type.shape.dims[block.axis], block.size);
      if (!isWhole) layout = {};
      if (!isWhole) break;
    }
  }
  step.parameters.set("axes", b.axes);
  step.parameters.set("start_entries", entriesOf(emitter, b.starts));
  step.parameters.set("step_entries", entriesOf(emitter, {b.steps.begin(), b.steps.end()}));
  step.inputs = {emitter.operand(node.inputs[0], layout)};
  step.outputs = {emitter.define(node.outputs[0], layout)};
}

// --- Concat and Split.

void setAxis(const ir::Node& node, runtime::Step& step) {
  step.parameters.set("axis", static_cast<std::int64_t>(
                                  axisOf(node.attributes.getInt("axis"), node.inputs[0]->type.shape.rank())));
}

/// The blocks that at least half of the inputs lie in, if they divide every input.
runtime::Layout concatLayout(const ir::Node& node, Emitter& emitter) {
  runtime::Layout layout;
  std::size_t votes = 0;
  for (const ir::Value* in : node.inputs) {
    const runtime::Layout own = wholeBlocks(emitter, *in);
    if (own.isPlain()) continue;
    if (layout.isPlain()) layout = own;
    if (own == layout) ++votes;
  }
  if (layout.isPlain() || 2 * votes < node.inputs.size()) return {};
  const auto& block = layout.blocks[0];
  for (const ir::Value* in : node.inputs)
    if (!emitter.sizes().divisible(in->type.shape.dims[block.axis], block.size)) return {};
  return layout;
}
void emitConcat(ir::Node& node, Emitter& emitter, runtime::Step& step) {
  setKind(step, "concat");
  setAxis(node, step);
  const runtime::Layout layout = concatLayout(node, emitter);
  for (ir::Value* in : node.inputs) step.inputs.push_back(emitter.operand(in, layout));
  step.outputs = {emitter.define(node.outputs[0], layout)};
}
void emitSplit(ir::Node& node, Emitter& emitter, runtime::Step& step) {
  setKind(step, "split");
  setAxis(node, step);
  const std::size_t axis = axisOf(node.attributes.getInt("axis"), node.inputs[0]->type.shape.rank());
  runtime::Layout layout = wholeBlocks(emitter, *node.inputs[0]);
  std::vector<Size> lengths;
  for (const ir::Value* out : node.outputs) {
    lengths.push_back(out->type.shape.dims[axis]);
    if (!layout.isPlain() &&
        !emitter.sizes().divisible(out->type.shape.dims[layout.blocks[0].axis], layout.blocks[0].size))
      layout = {};
  }
  step.parameters.set("split_entries", entriesOf(emitter, lengths));
  step.inputs = {emitter.operand(node.inputs[0], layout)};
  for (ir::Value* out : node.outputs) step.outputs.push_back(emitter.define(out, layout));
}
Support fitsSplit(const ir::Node& node) {
  return std::find(node.outputs.begin(), node.outputs.end(), nullptr) == node.outputs.end()
             ? Support::ok()
             : Support::no("a part is left out");
}
Support fitsConcat(const ir::Node& node) {
  return std::find(node.inputs.begin(), node.inputs.end(), nullptr) == node.inputs.end()
             ? Support::ok()
             : Support::no("a part is left out");
}

// --- Pad.

/// The pads before every axis.
std::optional<std::vector<Size>> padBegins(const ir::Node& node) {
  const std::size_t rank = node.inputs[0]->type.shape.rank();
  const auto pads = sizesOf(node, 1, "pads");
  if (!pads) return std::nullopt;
  std::vector<std::int64_t> axes;
  if (node.input(3) != nullptr) {
    const auto given = numbersOf(node, 3, "axes");
    if (!given) return std::nullopt;
    axes = *given;
  } else {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (pads->size() != 2 * axes.size()) return std::nullopt;
  std::vector<Size> begins(rank, Size(0));
  for (std::size_t i = 0; i < axes.size(); ++i) begins[axisOf(axes[i], rank)] = (*pads)[i];
  return begins;
}
Support fitsPad(const ir::Node& node) {
  if (node.attributes.getString("mode", "constant") != "constant")
    return Support::no("the padding is not constant");
  if (!padBegins(node)) return Support::no("the pads are not known before the run");
  if (node.attributes.getFloat("value") != 0 && node.inputs[0]->type.dtype != DType::kFloat32)
    return Support::no("the value is an attribute of another type");
  return Support::ok();
}
void emitPad(ir::Node& node, Emitter& emitter, runtime::Step& step) {
  setKind(step, "pad");
  step.parameters.set("pad_entries", entriesOf(emitter, *padBegins(node)));
  plainOperands(node, emitter, step);
  if (node.input(2) != nullptr) {
    step.inputs.push_back(emitter.operand(node.inputs[2]));
  } else if (const float value = node.attributes.getFloat("value"); value != 0) {
    step.inputs.push_back(emitter.constant(Tensor::ofFloat({value}, {}), "attribute value"));
  }
}

// --- DepthToSpace and SpaceToDepth.

void emitDepthToSpace(ir::Node& node, Emitter& emitter, runtime::Step& step) {
  setKind(step, "blocks");
  const bool isColumnRowDepth = node.attributes.getString("mode", "DCR") == "CRD";
  step.parameters.set("shape_of",
                      std::string(isColumnRowDepth ? "depth_to_space_crd" : "depth_to_space_dcr"));
  step.parameters.set("blocksize", node.attributes.getInt("blocksize"));
  plainOperands(node, emitter, step);
}
Support fitsSpaceToDepth(const ir::Node& node) {
  return node.attributes.getString("mode", "DCR") == "DCR"
             ? Support::ok()
             : Support::no("the order of the depth is another one");
}
void emitSpaceToDepth(ir::Node& node, Emitter& emitter, runtime::Step& step) {
  setKind(step, "blocks");
  step.parameters.set("shape_of", std::string("space_to_depth"));
  step.parameters.set("blocksize", node.attributes.getInt("blocksize"));
  plainOperands(node, emitter, step);
}

constexpr Movement kMovements[] = {
    {"Transpose", always, emitTranspose},
    {"Expand", always, emitExpand},
    {"Tile", fitsTile, emitTile},
    {"Slice", fitsSlice, emitSlice},
    {"Concat", fitsConcat, emitConcat},
    {"Split", fitsSplit, emitSplit},
    {"Pad", fitsPad, emitPad},
    {"DepthToSpace", always, emitDepthToSpace},
    {"SpaceToDepth", fitsSpaceToDepth, emitSpaceToDepth},
};

const Movement* movementOf(const Problem& problem) {
  if (problem.region.nodes.size() != 1) return nullptr;
  for (const Movement& m : kMovements)
    if (onlyNode(problem, m.opType) != nullptr) return &m;
  return nullptr;
}

Support supportsStridedCopy(const Problem& problem) {
  const Movement* movement = movementOf(problem);
  if (movement == nullptr) return Support::no("the region is no movement by a fixed map");
  if (Support s = kernelsAllowed(problem, kEnabled); !s.yes) return s;
  const ir::Node& node = *problem.region.nodes[0];
  if (node.input(0) == nullptr || !shapesKnown(problem, node))
    return Support::no("the shapes are not known before the run");
  const int bits = info(node.inputs[0]->type.dtype).bits;
  if (bits < 8 || node.inputs[0]->type.dtype == DType::kString)
    return Support::no("elements are packed or strings");
  return movement->fits(node);
}

double predictStridedCopyUs(const Problem& problem) {
  double bytes = 0;
  for (const ir::Value* v : problem.region.nodes[0]->outputs)
    if (v != nullptr) bytes += typicalBytes(problem, *v);
  return 0.5 + 3 * bytes / kBytesPerUs;
}

Status emitStridedCopy(const Problem& problem, Emitter& emitter) {
  runtime::Step step;
  step.kernel = "cpu.strided_copy";
  movementOf(problem)->emit(*problem.region.nodes[0], emitter, step);
  emitter.step(std::move(step));
  return Status::ok();
}

constexpr Tactic kStridedCopy{.name = "cpu.strided_copy",
                              .doc = "Transpose, Slice, Concat and other fixed index maps as strided copies.",
                              .supports = supportsStridedCopy,
                              .predictUs = predictStridedCopyUs,
                              .emit = emitStridedCopy};
const RegisterTactic kRegisterStridedCopy(kStridedCopy);

}  // namespace
}  // namespace rota::tactic
