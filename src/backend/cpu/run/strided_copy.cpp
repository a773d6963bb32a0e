// SPDX-License-Identifier: Apache-2.0
// "cpu.strided_copy": everything that moves elements by a fixed index map, as strided copies. Parameter "kind":
//   transpose      "perm"; the input may lie in blocks that divide its dims
//   expand, tile   dims say all
//   slice          "axes", and entries "start_entries", "step_entries" (as written in the model: negative and out of range allowed)
//   concat         "axis"; inputs one after the other. split: "axis", "split_entries" (lengths); outputs
//                  one after the other, those that nobody needs left out
//   pad            "pad_entries" (begins of all axes); input 1, where given, holds the value, else it is zero
//   blocks         "shape_of" depth_to_space_dcr, depth_to_space_crd or space_to_depth with "blocksize"
// concat, split and slice keep blocked layouts when the pieces are whole blocks. Tested by src/backend/cpu/compile/strided_copy_test.cpp.
#include <cstring>
#include <string>
#include <vector>

#include "backend/cpu/run/copy_plan.h"

namespace rota::runtime {
namespace {

enum class Kind : std::uint8_t { kTranspose, kExpand, kTile, kSlice, kConcat, kSplit, kPad, kBlocks };

using Strides = std::array<std::int64_t, kMaxRank>;

Strides rowMajor(Dims dims) {
  Strides strides{};
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

Status misfit(const char* what) {
  return Status(ErrorCode::kInternal, std::string("cpu.strided_copy: ") + what);
}
Status damaged(const char* what) {
  return Status(ErrorCode::kEngineDamaged, std::string("a cpu.strided_copy step is damaged: ") + what);
}

struct Settings {
  Kind kind = Kind::kTranspose;
  std::vector<std::int64_t> perm;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> startEntries, stepEntries, padEntries, splitEntries;
  std::size_t axis = 0;
  std::int64_t blocksize = 1;
  bool isDepthToSpace = true, isColumnRowDepth = false;
};

/// One copy between an input and an output.
struct Piece {
  CopyPlan plan;
  std::size_t input = 0;
  std::size_t output = 0;
};

class StridedCopy final : public StepKernel {
 public:
  explicit StridedCopy(Settings settings) : settings_(std::move(settings)) {}

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    pieces_.clear();
    bytes_ = elementBytes(binding.inputs[0].view.dtype);
    if (bytes_ == 0) return misfit("elements are packed");
    switch (settings_.kind) {
      case Kind::kTranspose: return planTranspose(binding.inputs[0], binding.outputs[0]);
      case Kind::kExpand: return planExpand(binding.inputs[0], binding.outputs[0]);
      case Kind::kTile: return planTile(binding.inputs[0], binding.outputs[0]);
      case Kind::kSlice: return planSlice(binding);
      case Kind::kConcat: return planParts(binding, binding.inputs, binding.outputs[0], true);
      case Kind::kSplit: return planParts(binding, binding.outputs, binding.inputs[0], false);
      case Kind::kPad: return planPad(binding);
      case Kind::kBlocks: return planBlocks(binding.inputs[0], binding.outputs[0]);
    }
    return misfit("kind");
  }

  Status run(const StepBinding& binding) override {
    if (settings_.kind == Kind::kPad) fill(binding);
    for (const Piece& p : pieces_)
      p.plan.run(binding.inputs[p.input].view.data, binding.outputs[p.output].mutableData, *binding.threads);
    return Status::ok();
  }

 private:
  void add(CopyPlan plan, std::size_t input = 0, std::size_t output = 0) {
    plan.finish();
    pieces_.push_back({plan, input, output});
  }

  Status planTranspose(const Operand& in, const Operand& out) {
    const Dims dims = in.view.dims;
    const std::size_t rank = dims.size();
    if (settings_.perm.size() != rank || out.view.dims.size() != rank) return misfit("perm and rank");
    const Strides to = rowMajor(out.view.dims);
    Strides toOfInput{};
    for (std::size_t i = 0; i < rank; ++i) toOfInput[static_cast<std::size_t>(settings_.perm[i])] = to[i];
    const PhysicalDims loops = physicalDims(dims, in.layout);
    if (loops.isPadded) return misfit("blocks do not divide the dims");
    CopyPlan plan(bytes_);
    for (std::size_t k = 0; k < loops.rank; ++k)
      plan.loop(loops.size[k], loops.strideOf(k), toOfInput[loops.axis[k]] * loops.unit[k]);
    add(plan);
    return Status::ok();
  }

  Status planExpand(const Operand& in, const Operand& out) {
    const PhysicalDims loops = physicalDims(out.view.dims, nullptr);
    LoopStrides from{};
    if (!broadcastStrides(in, out.view.dims.size(), loops, from)) return misfit("expanded dims");
    CopyPlan plan(bytes_);
    for (std::size_t k = 0; k < loops.rank; ++k) plan.loop(loops.size[k], from[k], loops.strideOf(k));
    add(plan);
    return Status::ok();
  }

  Status planTile(const Operand& in, const Operand& out) {
    const Dims dims = in.view.dims;
    const Strides from = rowMajor(dims);
    const Strides to = rowMajor(out.view.dims);
    CopyPlan plan(bytes_);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const std::int64_t repeats = dims[i] == 0 ? 0 : out.view.dims[i] / dims[i];
      plan.loop(repeats, 0, to[i] * dims[i]);
      plan.loop(dims[i], from[i], to[i]);
    }
    add(plan);
    return Status::ok();
  }

  Status planSlice(const StepBinding& binding) {
    const Operand& in = binding.inputs[0];
    const Operand& out = binding.outputs[0];
    const std::size_t rank = in.view.dims.size();
    Strides start{};
    Strides step;
    step.fill(1);
    for (std::size_t i = 0; i < settings_.axes.size(); ++i) {
      const auto axis = static_cast<std::size_t>(settings_.axes[i]);
      const std::int64_t size = in.view.dims[axis];
      std::int64_t first = binding.sizes[static_cast<std::size_t>(settings_.startEntries[i])];
      step[axis] = binding.sizes[static_cast<std::size_t>(settings_.stepEntries[i])];
      if (first < 0) first = first < -size ? -1 : first + size;
      const std::int64_t last = step[axis] < 0 ? size - 1 : size;
      const std::int64_t least = step[axis] < 0 ? -1 : 0;
      start[axis] = first > last ? last : first < least ? least : first;
      if (out.view.dims[axis] > 0) {
        // What inference found must lie inside.
        const std::int64_t end = start[axis] + (out.view.dims[axis] - 1) * step[axis];
        if (start[axis] < 0 || start[axis] >= size || end < 0 || end >= size)
          return misfit("a slice outside its input");
      }
    }
    const PhysicalDims from = physicalDims(in.view.dims, in.layout);
    const PhysicalDims to = physicalDims(out.view.dims, out.layout);
    if (from.isPadded || to.isPadded || from.rank != to.rank || out.view.dims.size() != rank)
      return misfit("layouts of a slice");
    CopyPlan plan(bytes_);
    for (std::size_t k = 0; k < to.rank; ++k) {
      const std::size_t axis = to.axis[k];
      // Blocked axes are cut at whole blocks, with a step of 1; the loop inside the block starts at its beginning.
      const bool isInner = to.unit[k] == 1 && isBlockLoop(to, k);
      if (isBlocked(to, axis) && (step[axis] != 1 || start[axis] % blockOf(to, axis) != 0))
        return misfit("a slice inside a block");
      plan.loop(to.size[k], from.strideOf(k) * (isBlocked(to, axis) ? 1 : step[axis]), to.strideOf(k));
      if (to.size[k] > 0 && !isInner) plan.offsets(start[axis] / to.unit[k] * from.strideOf(k), 0);
    }
    add(plan);
    return Status::ok();
  }

  static std::int64_t blockOf(const PhysicalDims& loops, std::size_t axis) {
    std::int64_t unit = 1;
    for (std::size_t k = 0; k < loops.rank; ++k)
      if (loops.axis[k] == axis && loops.unit[k] > unit) unit = loops.unit[k];
    return unit;
  }
  static bool isBlocked(const PhysicalDims& loops, std::size_t axis) { return blockOf(loops, axis) > 1; }
  static bool isBlockLoop(const PhysicalDims& loops, std::size_t k) {
    return isBlocked(loops, loops.axis[k]);
  }

  /// Concat (parts are inputs, `whole` the output) and Split (the other way round).
  Status planParts(const StepBinding& binding, std::span<const Operand> parts, const Operand& whole,
                   bool isConcat) {
    const PhysicalDims all = physicalDims(whole.view.dims, whole.layout);
    const std::size_t axis = settings_.axis;
    if (all.isPadded || axis >= whole.view.dims.size()) return misfit("the layout of the whole");
    std::int64_t place = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Operand& part = parts[i];
      if (!part.isGiven()) {
        place += binding.sizes[static_cast<std::size_t>(settings_.splitEntries[i])];
        continue;
      }
      const PhysicalDims loops = physicalDims(part.view.dims, part.layout);
      const std::int64_t block = blockOf(all, axis);
      if (loops.isPadded || loops.rank != all.rank || place % block != 0)
        return misfit("the layout of a part");
      CopyPlan plan(bytes_);
      std::int64_t offset = 0;
      for (std::size_t k = 0; k < loops.rank; ++k) {
        if (loops.unit[k] != all.unit[k] || loops.axis[k] != all.axis[k])
          return misfit("the layout of a part");
        if (loops.axis[k] != axis && loops.size[k] != all.size[k]) return misfit("the dims of a part");
        const std::int64_t own = loops.strideOf(k);
        const std::int64_t outer = all.strideOf(k);
        plan.loop(loops.size[k], isConcat ? own : outer, isConcat ? outer : own);
        if (loops.axis[k] == axis && loops.unit[k] == block) offset = place / block * outer;
      }
      place += part.view.dims[axis];
      if (place > whole.view.dims[axis]) return misfit("the parts are larger than the whole");
      plan.offsets(isConcat ? 0 : offset, isConcat ? offset : 0);
      add(plan, isConcat ? i : 0, isConcat ? 0 : i);
    }
    return Status::ok();
  }

  Status planPad(const StepBinding& binding) {
    const Dims in = binding.inputs[0].view.dims;
    const Dims out = binding.outputs[0].view.dims;
    if (in.size() != out.size() || settings_.padEntries.size() != in.size()) return misfit("pads");
    const Strides from = rowMajor(in);
    const Strides to = rowMajor(out);
    CopyPlan plan(bytes_);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::int64_t begin = binding.sizes[static_cast<std::size_t>(settings_.padEntries[i])];
      // The part of the axis that is inside both.
      const std::int64_t first = begin > 0 ? begin : 0;
      const std::int64_t end = in[i] + begin < out[i] ? in[i] + begin : out[i];
      const std::int64_t size = end > first ? end - first : 0;
      plan.loop(size, from[i], to[i]);
      if (size > 0) plan.offsets((first - begin) * from[i], first * to[i]);
    }
    add(plan);
    return Status::ok();
  }

  Status planBlocks(const Operand& in, const Operand& out) {
    const Dims d = in.view.dims;
    if (d.size() != 4 || out.view.dims.size() != 4) return misfit("rank");
    const std::int64_t b = settings_.blocksize;
    std::array<std::int64_t, 6> shape{};
    std::array<std::size_t, 6> perm{};
    if (!settings_.isDepthToSpace) {
      shape = {d[0], d[1], d[2] / b, b, d[3] / b, b};
      perm = {0, 3, 5, 1, 2, 4};
    } else if (settings_.isColumnRowDepth) {
      shape = {d[0], d[1] / (b * b), b, b, d[2], d[3]};
      perm = {0, 1, 4, 2, 5, 3};
    } else {
      shape = {d[0], b, b, d[1] / (b * b), d[2], d[3]};
      perm = {0, 3, 4, 1, 5, 2};
    }
    if (elementCount(shape) != in.view.count() || in.view.count() != out.view.count())
      return misfit("blocksize");
    const Strides from = rowMajor(shape);
    std::array<std::int64_t, 6> moved{};
    for (std::size_t i = 0; i < 6; ++i) moved[i] = shape[perm[i]];
    const Strides to = rowMajor(moved);
    CopyPlan plan(bytes_);
    for (std::size_t i = 0; i < 6; ++i) plan.loop(moved[i], from[perm[i]], to[i]);
    add(plan);
    return Status::ok();
  }

  /// The whole output to the value of the padding.
  void fill(const StepBinding& binding) const {
    const Operand& out = binding.outputs[0];
    alignas(16) std::byte value[16] = {};
    const bool given = binding.inputs.size() > 1 && binding.inputs[1].isGiven();
    if (given) std::memcpy(value, binding.inputs[1].view.data, bytes_);
    auto* data = static_cast<std::byte*>(out.mutableData);
    const std::size_t bytes = bytes_;
    binding.threads->parallelFor(out.view.count(), 16384, [&](std::int64_t begin, std::int64_t end) {
      std::byte* first = data + static_cast<std::size_t>(begin) * bytes;
      const std::size_t total = static_cast<std::size_t>(end - begin) * bytes;
      if (!given) {
        std::memset(first, 0, total);
        return;
      }
      std::memcpy(first, value, bytes);
      // Doubling copies.
      for (std::size_t done = bytes; done < total;) {
        const std::size_t next = done < total - done ? done : total - done;
        std::memcpy(first + done, first, next);
        done += next;
      }
    });
  }

  Settings settings_;
  std::vector<Piece> pieces_;
  std::size_t bytes_ = 0;
};

std::vector<std::int64_t> intsOrEmpty(const Attributes& parameters, const char* name) {
  const auto* ints = parameters.getInts(name);
  return ints != nullptr ? *ints : std::vector<std::int64_t>{};
}

Status readSettings(const StepKernelSpec& spec, Settings& s) {
  const Attributes& p = spec.step.parameters;
  constexpr std::pair<std::string_view, Kind> kKinds[] = {{"transpose", Kind::kTranspose},
                                                          {"expand", Kind::kExpand},
                                                          {"tile", Kind::kTile},
                                                          {"slice", Kind::kSlice},
                                                          {"concat", Kind::kConcat},
                                                          {"split", Kind::kSplit},
                                                          {"pad", Kind::kPad},
                                                          {"blocks", Kind::kBlocks}};
  bool isKnown = false;
  for (const auto& [name, kind] : kKinds) {
    if (p.getString("kind") != name) continue;
    s.kind = kind;
    isKnown = true;
  }
  if (!isKnown) return damaged("kind");
  // Only a split may have outputs that nobody needs.
  if (s.kind != Kind::kSplit && (spec.step.outputs.size() != 1 || spec.step.outputs[0] == kNone))
    return damaged("outputs");
  s.perm = intsOrEmpty(p, "perm");
  s.axes = intsOrEmpty(p, "axes");
  s.startEntries = intsOrEmpty(p, "start_entries");
  s.stepEntries = intsOrEmpty(p, "step_entries");
  s.padEntries = intsOrEmpty(p, "pad_entries");
  s.splitEntries = intsOrEmpty(p, "split_entries");
  if (s.kind == Kind::kSplit && s.splitEntries.size() != spec.step.outputs.size())
    return damaged("lengths of a split");
  s.axis = static_cast<std::size_t>(p.getInt("axis"));
  s.blocksize = p.getInt("blocksize", 1);
  const std::string_view shape = p.getString("shape_of");
  s.isDepthToSpace = shape != "space_to_depth";
  s.isColumnRowDepth = shape == "depth_to_space_crd";
  const std::int32_t first = spec.step.inputs[0];
  const std::size_t rank = spec.program.values[static_cast<std::size_t>(first)].dims.size();
  std::vector<bool> seen(rank, false);
  for (const std::int64_t axis : s.perm) {
    if (axis < 0 || static_cast<std::size_t>(axis) >= rank || seen[static_cast<std::size_t>(axis)])
      return damaged("perm");
    seen[static_cast<std::size_t>(axis)] = true;
  }
  for (const std::int64_t axis : s.axes)
    if (axis < 0 || static_cast<std::size_t>(axis) >= rank) return damaged("axes");
  if (s.axes.size() != s.startEntries.size() || s.axes.size() != s.stepEntries.size())
    return damaged("bounds of a slice");
  for (const auto* entries : {&s.startEntries, &s.stepEntries, &s.padEntries, &s.splitEntries}) {
    for (const std::int64_t e : *entries)
      if (e < 0 || static_cast<std::size_t>(e) >= spec.program.sizes.size())
        return damaged("a size entry that does not exist");
  }
  if (s.blocksize < 1) return damaged("blocksize");
  return Status::ok();
}

Result<std::unique_ptr<StepKernel>> makeStridedCopy(const StepKernelSpec& spec) {
  const Step& step = spec.step;
  if (step.inputs.empty() || step.inputs[0] == kNone || step.outputs.empty()) return damaged("operands");
  const auto typeOf = [&](std::int32_t id) {
    return spec.program.values[static_cast<std::size_t>(id)].dtype;
  };
  for (const auto* list : {&step.inputs, &step.outputs}) {
    for (const std::int32_t id : *list)
      if (id == kNone ? list == &step.inputs : typeOf(id) != typeOf(step.inputs[0]))
        return damaged("operand types");
  }
  Settings settings;
  if (Status status = readSettings(spec, settings); !status.isOk()) return status;
  return std::unique_ptr<StepKernel>(std::make_unique<StridedCopy>(std::move(settings)));
}

const RegisterStepKernel kStridedCopy("cpu.strided_copy", makeStridedCopy);

}  // namespace
}  // namespace rota::runtime
