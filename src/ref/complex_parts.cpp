// SPDX-License-Identifier: Apache-2.0
// Real and imaginary parts one after the other; see complex_parts.h. Tested by src/ref/complex_parts_test.cpp.
#include "ref/complex_parts.h"

#include <cstddef>

#include "core/check.h"
#include "core/element_access.h"

namespace rota::ref {
namespace {

/// Gives the kernel scratch memory in place of the complex output.
class PartsHost final : public KernelHost {
 public:
  PartsHost(KernelContext& outer, DType partType) : outer_(outer), partType_(partType) {}

  Result<MutableTensorView> allocateOutput(std::size_t index, Dims dims) override {
    CHECK(index == 0);
    auto whole = outer_.output(0, dims);
    if (!whole) return whole.status();
    return use(*whole);
  }
  /// The view that the kernel writes instead of `whole`.
  Result<MutableTensorView> use(const MutableTensorView& whole) {
    whole_ = whole;
    auto part = outer_.scratch<double>(whole.count());
    if (!part) return part.status();
    part_ = *part;
    return MutableTensorView{DType::kFloat64, whole.dims, part_};
  }
  Result<void*> scratch(std::size_t bytes) override {
    auto memory = outer_.scratch<std::byte>(static_cast<std::int64_t>(bytes));
    if (!memory) return memory.status();
    return static_cast<void*>(*memory);
  }
  ThreadPool& threads() override { return outer_.threads(); }
  const Sequence* inputSequence(std::size_t index) override { return outer_.inputSequence(index); }
  Sequence* outputSequence(std::size_t index) override { return outer_.outputSequence(index); }

  /// Puts what the kernel has written into part `which` of the elements of the output.
  void store(std::int64_t which) {
    const std::int64_t pair[1] = {2 * whole_.count()};
    const MutableTensorView parts{partType_, pair, whole_.data};
    for (std::int64_t i = 0; i < whole_.count(); ++i) storeFromDouble(parts, 2 * i + which, 1, part_ + i);
  }

 private:
  KernelContext& outer_;
  DType partType_;
  MutableTensorView whole_{};
  double* part_ = nullptr;
};

}  // namespace

Status runOnComplexParts(KernelContext& context, Kernel kernel) {
  const TensorView input = context.input(0);
  const DType partType = input.dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  const std::int64_t pair[1] = {2 * input.count()};
  const TensorView parts{partType, pair, input.data};
  auto values = context.scratch<double>(input.count());
  if (!values) return values.status();
  PartsHost host(context, partType);
  constexpr std::size_t kMaxInputs = 4;
  TensorView inputs[kMaxInputs];
  if (context.inputCount() > kMaxInputs)
    return Status(ErrorCode::kInternal, "too many inputs for a kernel on complex parts");
  for (std::size_t i = 1; i < context.inputCount(); ++i) inputs[i] = context.input(i);
  inputs[0] = {DType::kFloat64, input.dims, *values};
  MutableTensorView output = context.output(0);
  const bool isKnown = output.data != nullptr;
  for (std::int64_t which = 0; which < 2; ++which) {
    for (std::int64_t i = 0; i < input.count(); ++i) (*values)[i] = realAt(parts, 2 * i + which);
    MutableTensorView written{DType::kFloat64, output.dims, nullptr};
    if (isKnown) {
      auto part = host.use(output);
      if (!part) return part.status();
      written = *part;
    }
    KernelContext inner(host, context.attributes(), context.version(), {inputs, context.inputCount()},
                        {&written, 1});
    ROTA_RETURN_IF_ERROR(kernel(inner));
    host.store(which);
  }
  return Status::ok();
}

}  // namespace rota::ref
