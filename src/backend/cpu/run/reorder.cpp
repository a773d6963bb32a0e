// SPDX-License-Identifier: Apache-2.0
// "cpu.reorder": input 0 in its layout to output 0 in its own; the dims are the same, padding of the output becomes zero.
//
// Between plain (or permuted) and blocked order every axis of the blocked side is a loop over whole blocks and one over the last, partial block: each
// combination is a strided copy. Two different blocked orders go element by element. Tested by src/backend/cpu/run/reorder_test.cpp.
#include <cstring>
#include <vector>

#include "backend/cpu/run/copy_plan.h"

namespace rota::runtime {
namespace {

/// Strides of whole elements of each axis in a layout without blocks.
std::array<std::int64_t, kMaxRank> axisStrides(Dims dims, const Layout* layout) {
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const std::size_t axis = layout != nullptr && !layout->order.empty() ? layout->order[i] : i;
    strides[axis] = stride;
    stride *= dims[axis];
  }
  return strides;
}

bool hasBlocks(const Layout* layout) { return layout != nullptr && !layout->blocks.empty(); }
bool blocksOnce(const Layout* layout) {
  for (std::size_t i = 0; i < layout->blocks.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (layout->blocks[i].axis == layout->blocks[k].axis) return false;
  return layout->blocks.size() <= 3;
}

/// The offset of element `at` in a layout.
std::int64_t placeOf(const PhysicalDims& loops, const std::array<std::int64_t, kMaxRank>& at) {
  std::array<std::int64_t, kMaxRank> rest = at;
  std::int64_t place = 0;
  for (std::size_t k = 0; k < loops.rank; ++k) {
    const std::size_t axis = loops.axis[k];
    place = place * loops.size[k] + rest[axis] / loops.unit[k];
    rest[axis] %= loops.unit[k];
  }
  return place;
}

class Reorder final : public StepKernel {
 public:
  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    plans_.clear();
    const Operand& in = binding.inputs[0];
    const Operand& out = binding.outputs[0];
    bytes_ = elementBytes(in.view.dtype);
    if (bytes_ == 0 || in.view.dims.size() != out.view.dims.size())
      return Status(ErrorCode::kInternal, "cpu.reorder: operands do not fit");
    const PhysicalDims to = physicalDims(out.view.dims, out.layout);
    outBytes_ = static_cast<std::size_t>(to.count()) * bytes_;
    clears_ = to.isPadded;
    isGeneral_ = hasBlocks(in.layout) && hasBlocks(out.layout);
    const bool outIsBlocked = hasBlocks(out.layout);
    const Layout* blocked = outIsBlocked ? out.layout : in.layout;
    if (hasBlocks(blocked) && !blocksOnce(blocked)) isGeneral_ = true;
    if (isGeneral_) return Status::ok();
    const std::size_t blocks = hasBlocks(blocked) ? blocked->blocks.size() : 0;
    for (std::size_t tails = 0; tails < (std::size_t{1} << blocks); ++tails)
      addPlan(in, out, outIsBlocked, blocked, tails);
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    const Operand& in = binding.inputs[0];
    const Operand& out = binding.outputs[0];
    if (clears_) std::memset(out.mutableData, 0, outBytes_);
    if (isGeneral_) {
      runGeneral(in, out, *binding.threads);
    } else {
      for (const CopyPlan& plan : plans_) plan.run(in.view.data, out.mutableData, *binding.threads);
    }
    return Status::ok();
  }

 private:
  /// The copy of the whole blocks, or, for every set bit of `tails`, of the partial last block of that blocked axis.
  void addPlan(const Operand& in, const Operand& out, bool outIsBlocked, const Layout* blocked,
               std::size_t tails) {
    const Dims dims = out.view.dims;
    const PhysicalDims loops = physicalDims(dims, blocked);
    const auto plain = axisStrides(dims, outIsBlocked ? in.layout : out.layout);
    CopyPlan plan(bytes_);
    for (std::size_t k = 0; k < loops.rank; ++k) {
      const std::size_t axis = loops.axis[k];
      std::int64_t size = loops.size[k];
      std::int64_t first = 0;
      for (std::size_t b = 0; hasBlocks(blocked) && b < blocked->blocks.size(); ++b) {
        const Layout::Block& block = blocked->blocks[b];
        if (block.axis != axis) continue;
        const std::int64_t whole = dims[axis] / block.size;
        const bool isTail = (tails >> b & 1) != 0;
        if (loops.unit[k] > 1) {
          size = isTail ? 1 : whole;
          first = isTail ? whole : 0;
          if (isTail && dims[axis] % block.size == 0) return;
        } else if (isTail) {
          size = dims[axis] % block.size;
        }
      }
      const std::int64_t plainStride = plain[axis] * loops.unit[k];
      const std::int64_t blockedStride = loops.strideOf(k);
      plan.loop(size, outIsBlocked ? plainStride : blockedStride, outIsBlocked ? blockedStride : plainStride);
      plan.offsets(first * (outIsBlocked ? plainStride : blockedStride),
                   first * (outIsBlocked ? blockedStride : plainStride));
    }
    plan.finish();
    plans_.push_back(plan);
  }

  void runGeneral(const Operand& in, const Operand& out, ThreadPool& threads) const {
    const Dims dims = out.view.dims;
    const PhysicalDims from = physicalDims(dims, in.layout);
    const PhysicalDims to = physicalDims(dims, out.layout);
    const auto* source = static_cast<const std::byte*>(in.view.data);
    auto* target = static_cast<std::byte*>(out.mutableData);
    threads.parallelFor(elementCount(dims), 8192, [&](std::int64_t begin, std::int64_t end) {
      std::array<std::int64_t, kMaxRank> at{};
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t rest = i;
        for (std::size_t d = dims.size(); d-- > 0;) {
          at[d] = rest % dims[d];
          rest /= dims[d];
        }
        std::memcpy(target + static_cast<std::size_t>(placeOf(to, at)) * bytes_,
                    source + static_cast<std::size_t>(placeOf(from, at)) * bytes_, bytes_);
      }
    });
  }

  std::vector<CopyPlan> plans_;
  std::size_t bytes_ = 0;
  std::size_t outBytes_ = 0;
  bool clears_ = false;
  bool isGeneral_ = false;
};

Result<std::unique_ptr<StepKernel>> makeReorder(const StepKernelSpec& spec) {
  const Step& step = spec.step;
  if (step.inputs.size() != 1 || step.outputs.size() != 1 || step.inputs[0] == kNone ||
      step.outputs[0] == kNone)
    return Status(ErrorCode::kEngineDamaged, "a cpu.reorder step needs one input and one output");
  return std::unique_ptr<StepKernel>(std::make_unique<Reorder>());
}

const RegisterStepKernel kReorder("cpu.reorder", makeReorder);

}  // namespace
}  // namespace rota::runtime
