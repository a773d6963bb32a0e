// SPDX-License-Identifier: Apache-2.0
// Normalisations of float32 in plain layout.
//   cpu.layer_norm  inputs x, scale?, bias?; outputs y, mean?, inverse deviation?; "axis", "rms" (no mean is taken away), "epsilon".
//                   Scale and bias have one value for each element of a row.
//   cpu.group_norm  inputs x [n, c, ...], scale, bias; "groups" (0: one for each channel), "epsilon", "per_group" (1: scale and bias by group).
// Sums run over chunks in float32 and over these in double; the variance is taken around the rounded mean and corrected, so that a large mean
// costs no precision. Tested by src/backend/cpu/compile/rows_test.cpp.
#include <algorithm>
#include <cmath>

#include "backend/cpu/run/kernel_table.h"
#include "runtime/step_kernel.h"

namespace rota::runtime {
namespace {

constexpr std::int64_t kGrain = 16384;

struct Moments {
  double mean = 0;
  double variance = 0;
};
Moments momentsOf(const simd::Kernels& k, const float* x, std::int64_t n) {
  Moments m;
  const auto count = static_cast<double>(n);
  m.mean = k.sum(x, n) / count;
  const auto shift = static_cast<float>(m.mean);
  const double rest = m.mean - static_cast<double>(shift);
  m.variance = k.sumOfSquares(x, n, shift) / count - rest * rest;
  return m;
}

const float* dataOf(const StepBinding& binding, std::size_t i) {
  return i < binding.inputs.size() && binding.inputs[i].isGiven()
             ? static_cast<const float*>(binding.inputs[i].view.data)
             : nullptr;
}
float* outputOf(const StepBinding& binding, std::size_t i) {
  return i < binding.outputs.size() && binding.outputs[i].isGiven()
             ? static_cast<float*>(binding.outputs[i].mutableData)
             : nullptr;
}
Status misfit(const char* what) { return Status(ErrorCode::kInternal, what); }

class LayerNorm final : public StepKernel {
 public:
  LayerNorm(std::size_t axis, bool isRms, double epsilon) : axis_(axis), isRms_(isRms), epsilon_(epsilon) {}

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    rows_ = length_ = 1;
    const Dims dims = binding.inputs[0].view.dims;
    for (std::size_t d = 0; d < dims.size(); ++d) (d < axis_ ? rows_ : length_) *= dims[d];
    for (std::size_t i = 1; i < binding.inputs.size(); ++i) {
      if (binding.inputs[i].isGiven() && binding.inputs[i].view.count() != length_)
        return misfit("cpu.layer_norm: scale or bias has another size than a row");
    }
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    const float* x = dataOf(binding, 0);
    const float* scale = dataOf(binding, 1);
    const float* bias = dataOf(binding, 2);
    float* y = outputOf(binding, 0);
    float* means = outputOf(binding, 1);
    float* factors = outputOf(binding, 2);
    const simd::Kernels& k = simd::kernels();
    binding.threads->parallelFor(
        rows_, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, length_)),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r) {
            const float* row = x + r * length_;
            Moments m;
            if (isRms_) {
              m.variance = k.sumOfSquares(row, length_, 0) / static_cast<double>(length_);
            } else {
              m = momentsOf(k, row, length_);
            }
            const auto factor = static_cast<float>(1.0 / std::sqrt(m.variance + epsilon_));
            if (y != nullptr)
              k.affineRow(row, y + r * length_, length_, static_cast<float>(m.mean), factor, scale, bias);
            if (means != nullptr) means[r] = static_cast<float>(m.mean);
            if (factors != nullptr) factors[r] = factor;
          }
        });
    return Status::ok();
  }

 private:
  std::size_t axis_;
  bool isRms_;
  double epsilon_;
  std::int64_t rows_ = 1, length_ = 1;
};

class GroupNorm final : public StepKernel {
 public:
  GroupNorm(std::int64_t groups, bool isPerGroup, double epsilon)
      : wantedGroups_(groups),
        isPerGroup_(isPerGroup),
        epsilon_(epsilon) {}

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    const Dims dims = binding.inputs[0].view.dims;
    if (dims.size() < 2) return misfit("cpu.group_norm: the rank is below 2");
    instances_ = dims[0];
    channels_ = dims[1];
    inner_ = elementCount(dims.subspan(2));
    groups_ = wantedGroups_ == 0 ? channels_ : wantedGroups_;
    if (groups_ != 0 && channels_ % groups_ != 0)
      return misfit("cpu.group_norm: the groups do not divide the channels");
    for (std::size_t i = 1; i < 3; ++i)
      if (binding.inputs[i].view.count() != (isPerGroup_ ? groups_ : channels_))
        return misfit("cpu.group_norm: scale or bias has another size");
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    const float* x = dataOf(binding, 0);
    const float* scale = dataOf(binding, 1);
    const float* bias = dataOf(binding, 2);
    float* y = outputOf(binding, 0);
    if (groups_ == 0) return Status::ok();
    const std::int64_t perGroup = channels_ / groups_;
    const std::int64_t length = perGroup * inner_;
    const simd::Kernels& k = simd::kernels();
    binding.threads->parallelFor(
        instances_ * groups_, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, length)),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t g = begin; g < end; ++g) {
            const Moments m = momentsOf(k, x + g * length, length);
            const double factor = 1.0 / std::sqrt(m.variance + epsilon_);
            for (std::int64_t c = 0; c < perGroup; ++c) {
              const std::int64_t group = g % groups_;
              const std::int64_t parameter = isPerGroup_ ? group : group * perGroup + c;
              const auto a = static_cast<float>(factor * static_cast<double>(scale[parameter]));
              const std::int64_t start = g * length + c * inner_;
              k.affine(x + start, y + start, inner_, static_cast<float>(m.mean), a, bias[parameter]);
            }
          }
        });
    return Status::ok();
  }

 private:
  std::int64_t wantedGroups_;
  bool isPerGroup_;
  double epsilon_;
  std::int64_t instances_ = 0, channels_ = 0, inner_ = 0, groups_ = 0;
};

/// All given operands are float32, the first input is there.
bool hasFloatOperands(const StepKernelSpec& spec, std::size_t inputsNeeded) {
  const Step& step = spec.step;
  const auto isFloat32 = [&](std::int32_t id) {
    return spec.program.values[static_cast<std::size_t>(id)].dtype == DType::kFloat32;
  };
  if (step.inputs.size() < inputsNeeded || step.outputs.empty()) return false;
  for (std::size_t i = 0; i < inputsNeeded; ++i)
    if (step.inputs[i] == kNone) return false;
  for (const auto* list : {&step.inputs, &step.outputs})
    for (const std::int32_t id : *list)
      if (id != kNone && !isFloat32(id)) return false;
  return true;
}

Result<std::unique_ptr<StepKernel>> makeLayerNorm(const StepKernelSpec& spec) {
  const Attributes& p = spec.step.parameters;
  if (!hasFloatOperands(spec, 1) || p.getInt("axis") < 0)
    return Status(ErrorCode::kEngineDamaged, "a cpu.layer_norm step has the wrong operands");
  return std::unique_ptr<StepKernel>(
      std::make_unique<LayerNorm>(static_cast<std::size_t>(p.getInt("axis")), p.getInt("rms") != 0,
                                  static_cast<double>(p.getFloat("epsilon", 1e-5F))));
}
Result<std::unique_ptr<StepKernel>> makeGroupNorm(const StepKernelSpec& spec) {
  const Attributes& p = spec.step.parameters;
  if (!hasFloatOperands(spec, 3) || spec.step.outputs[0] == kNone || p.getInt("groups") < 0)
    return Status(ErrorCode::kEngineDamaged, "a cpu.group_norm step has the wrong operands");
  return std::unique_ptr<StepKernel>(std::make_unique<GroupNorm>(
      p.getInt("groups"), p.getInt("per_group") != 0, static_cast<double>(p.getFloat("epsilon", 1e-5F))));
}

const RegisterStepKernel kLayerNorm("cpu.layer_norm", makeLayerNorm);
const RegisterStepKernel kGroupNorm("cpu.group_norm", makeGroupNorm);

}  // namespace
}  // namespace rota::runtime
