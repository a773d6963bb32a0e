// SPDX-License-Identifier: Apache-2.0
// "cpu.softmax": Softmax and LogSoftmax of float32. Parameters: "axis"; "flat" (1: over all dims from the axis on, as operator sets below 13);
// "form"
// (plain, logarithm, masked: a line of minus infinities gives zeros; for neighbouring elements only). Lines of neighbouring elements go one by one, others 64 side by side. Tested by src/backend/cpu/compile/rows_test.cpp.
#include <algorithm>

#include "backend/cpu/run/kernel_table.h"
#include "runtime/step_kernel.h"

namespace rota::runtime {
namespace {

constexpr std::int64_t kGrain = 8192;

class Softmax final : public StepKernel {
 public:
  Softmax(std::size_t axis, bool isFlat, simd::SoftmaxForm form)
      : axis_(axis),
        isFlat_(isFlat),
        form_(form) {}

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    outer_ = length_ = inner_ = 1;
    const Dims dims = binding.inputs[0].view.dims;
    for (std::size_t d = 0; d < dims.size(); ++d)
      (d < axis_ ? outer_ : d == axis_ || isFlat_ ? length_ : inner_) *= dims[d];
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    const auto* x = static_cast<const float*>(binding.inputs[0].view.data);
    auto* y = static_cast<float*>(binding.outputs[0].mutableData);
    if (length_ == 0) return Status::ok();
    const simd::Kernels& k = simd::kernels();
    if (inner_ == 1) {
      binding.threads->parallelFor(outer_, std::max<std::int64_t>(1, kGrain / length_),
                                   [&](std::int64_t begin, std::int64_t end) {
                                     for (std::int64_t row = begin; row < end; ++row)
                                       k.softmaxRow(x + row * length_, y + row * length_, length_, form_);
                                   });
      return Status::ok();
    }
    const std::int64_t groups = (inner_ + simd::kColumns - 1) / simd::kColumns;
    const std::int64_t work = length_ * std::min(inner_, simd::kColumns);
    binding.threads->parallelFor(outer_ * groups, std::max<std::int64_t>(1, kGrain / work),
                                 [&](std::int64_t begin, std::int64_t end) {
                                   for (std::int64_t g = begin; g < end; ++g) {
                                     const std::int64_t column = g % groups * simd::kColumns;
                                     const std::int64_t start = g / groups * length_ * inner_ + column;
                                     k.softmaxColumns(x + start, y + start, length_, inner_,
                                                      std::min(simd::kColumns, inner_ - column), form_);
                                   }
                                 });
    return Status::ok();
  }

 private:
  std::size_t axis_;
  bool isFlat_;
  simd::SoftmaxForm form_;
  std::int64_t outer_ = 1, length_ = 1, inner_ = 1;
};

Result<std::unique_ptr<StepKernel>> makeSoftmax(const StepKernelSpec& spec) {
  const Step& step = spec.step;
  const auto isFloat32 = [&](std::int32_t id) {
    return id != kNone && spec.program.values[static_cast<std::size_t>(id)].dtype == DType::kFloat32;
  };
  if (step.inputs.size() != 1 || step.outputs.size() != 1 || !isFloat32(step.inputs[0]) ||
      !isFloat32(step.outputs[0]) || step.parameters.getInt("axis") < 0)
    return Status(ErrorCode::kEngineDamaged,
                  "a cpu.softmax step needs one float32 input, one float32 output and an axis");
  const std::string_view form = step.parameters.getString("form", "plain");
  const std::int64_t axis = step.parameters.getInt("axis");
  const std::size_t rank = spec.program.values[static_cast<std::size_t>(step.inputs[0])].dims.size();
  if (form == "masked" && static_cast<std::size_t>(axis) + 1 != rank)
    return Status(ErrorCode::kEngineDamaged, "a masked cpu.softmax step is not along the last axis");
  return std::unique_ptr<StepKernel>(
      std::make_unique<Softmax>(static_cast<std::size_t>(axis), step.parameters.getInt("flat") != 0,
                                form == "logarithm" ? simd::SoftmaxForm::kLogarithm
                                : form == "masked"  ? simd::SoftmaxForm::kMasked
                                                    : simd::SoftmaxForm::kPlain));
}

const RegisterStepKernel kSoftmax("cpu.softmax", makeSoftmax);

}  // namespace
}  // namespace rota::runtime
