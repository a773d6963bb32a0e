// SPDX-License-Identifier: Apache-2.0
// "host.write_sizes": a small integer tensor whose elements are entries of the size program (parameter "entries"); replaces the
// Shape, Gather, Concat chains of exporters.
#include "runtime/step_kernel.h"

namespace rota::runtime {
namespace {

class WriteSizes final : public StepKernel {
 public:
  explicit WriteSizes(std::vector<std::int64_t> entries) : entries_(std::move(entries)) {}
  Status prepare(const StepBinding&, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    return Status::ok();
  }
  Status run(const StepBinding& binding) override {
    const Operand& out = binding.outputs[0];
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::int64_t v = binding.sizes[static_cast<std::size_t>(entries_[i])];
      switch (out.view.dtype) {
        case DType::kInt64: static_cast<std::int64_t*>(out.mutableData)[i] = v; break;
        case DType::kInt32:
          static_cast<std::int32_t*>(out.mutableData)[i] = static_cast<std::int32_t>(v);
          break;
        default: static_cast<std::uint8_t*>(out.mutableData)[i] = v != 0 ? 1 : 0; break;
      }
    }
    return Status::ok();
  }

 private:
  std::vector<std::int64_t> entries_;
};

Result<std::unique_ptr<StepKernel>> makeWriteSizes(const StepKernelSpec& spec) {
  const auto* entries = spec.step.parameters.getInts("entries");
  if (entries == nullptr || spec.step.outputs.size() != 1 || spec.step.outputs[0] == kNone) {
    return Status(ErrorCode::kEngineDamaged, "a host.write_sizes step has no entries or no output");
  }
  for (std::int64_t e : *entries) {
    if (e < 0 || static_cast<std::size_t>(e) >= spec.program.sizes.size())
      return Status(ErrorCode::kEngineDamaged,
                    "a host.write_sizes step names a size entry that does not exist");
  }
  return std::unique_ptr<StepKernel>(std::make_unique<WriteSizes>(*entries));
}

const RegisterStepKernel kWriteSizes("host.write_sizes", makeWriteSizes);

}  // namespace
}  // namespace rota::runtime
