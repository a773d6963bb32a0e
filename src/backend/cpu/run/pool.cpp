// SPDX-License-Identifier: Apache-2.0
// "cpu.pool": MaxPool without indices and AveragePool of float32, in plain layout or with channels in blocks. Attributes are those of the operator,
// and "op" (max, average).
//
// A window is cut to the part inside the input; in blocked layout every pixel is a short vector that goes through the row folds of the vector kernels.
// NaN in a window makes its maximum NaN. Tested by src/backend/cpu/compile/pool_test.cpp.
#include <algorithm>
#include <cmath>

#include "backend/cpu/run/kernel_table.h"
#include "backend/cpu/run/strides.h"
#include "ref/window.h"

namespace rota::runtime {
namespace {

constexpr std::int64_t kMaxBlock = 64;

/// Kernel positions [first, last) of a window at `start` that lie inside [0, size).
struct Cut {
  std::int64_t first, last;
};
Cut cutOf(std::int64_t start, std::int64_t size, std::int64_t kernel, std::int64_t dilation) {
  const std::int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  const std::int64_t last = start >= size ? 0 : (size - 1 - start) / dilation + 1;
  return {std::min(first, kernel), std::clamp<std::int64_t>(last, 0, kernel)};
}

class Pool final : public StepKernel {
 public:
  Pool(Attributes attributes, bool isMax)
      : attributes_(std::move(attributes)),
        isMax_(isMax),
        countsPad_(attributes_.getInt("count_include_pad") != 0) {}

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    const Operand& in = binding.inputs[0];
    const Operand& out = binding.outputs[0];
    const PhysicalDims loops = physicalDims(in.view.dims, in.layout);
    const std::size_t rank = in.view.dims.size();
    if (rank < 3 || loops.isPadded) return Status(ErrorCode::kInternal, "cpu.pool: the layout does not fit");
    block_ = loops.rank > rank ? loops.size[rank] : 1;
    if (loops.rank > rank + 1 || block_ > kMaxBlock || (block_ > 1 && loops.axis[rank] != 1))
      return Status(ErrorCode::kInternal, "cpu.pool: the layout does not fit");
    planes_ = in.view.dims[0] * in.view.dims[1] / block_;
    const auto* kernel = attributes_.getInts("kernel_shape");
    if (kernel == nullptr) return Status(ErrorCode::kInternal, "cpu.pool: no kernel_shape");
    auto window = ref::windowOf(attributes_, in.view.dims.subspan(2), *kernel, out.view.dims.subspan(2));
    if (!window) return window.status();
    window_ = *window;
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    const auto* x = static_cast<const float*>(binding.inputs[0].view.data);
    auto* y = static_cast<float*>(binding.outputs[0].mutableData);
    const std::int64_t width = window_.out[window_.rank - 1];
    const std::int64_t positions = window_.outCount();
    if (planes_ == 0 || positions == 0) return Status::ok();
    const std::int64_t rows = positions / width;
    const std::int64_t work = width * window_.kernelCount() * block_;
    binding.threads->parallelFor(planes_ * rows, std::max<std::int64_t>(1, 32768 / work),
                                 [&](std::int64_t begin, std::int64_t end) {
                                   for (std::int64_t r = begin; r < end; ++r) {
                                     const std::int64_t plane = r / rows;
                                     ref::SpatialIndex at;
                                     at.seek(window_.out, window_.rank, r % rows * width);
                                     const float* source = x + plane * window_.inCount() * block_;
                                     float* target = y + r * width * block_;
                                     for (std::int64_t w = 0; w < width; ++w, target += block_) {
                                       at.at[window_.rank - 1] = w;
                                       onePosition(source, at, target);
                                     }
                                   }
                                 });
    return Status::ok();
  }

 private:
  void onePosition(const float* plane, const ref::SpatialIndex& out, float* y) const {
    const ref::Window& w = window_;
    std::array<std::int64_t, ref::kMaxSpatial> size{}, first{};
    std::int64_t inside = 1, padded = 1;
    for (std::size_t d = 0; d < w.rank; ++d) {
      const std::int64_t start = out.at[d] * w.stride[d] - w.padBegin[d];
      const Cut cut = cutOf(start, w.in[d], w.kernel[d], w.dilation[d]);
      size[d] = std::max<std::int64_t>(0, cut.last - cut.first);
      first[d] = start + cut.first * w.dilation[d];
      inside *= size[d];
      const Cut withPad =
          cutOf(start + w.padBegin[d], w.in[d] + w.padBegin[d] + w.padEnd[d], w.kernel[d], w.dilation[d]);
      padded *= withPad.last - withPad.first;
    }
    const std::size_t last = w.rank - 1;
    const std::int64_t runs = size[last] == 0 ? 0 : inside / size[last];
    double acc[kMaxBlock];
    std::fill_n(acc, block_, 0.0);
    std::fill_n(y, block_, -INFINITY);
    ref::SpatialIndex at;
    for (std::int64_t run = 0; run < runs; ++run) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < w.rank; ++d)
        offset = offset * w.in[d] + first[d] + at.at[d] * w.dilation[d];
      foldRun(plane + offset * block_, size[last], w.dilation[last] * block_, acc, y);
      at.at[last] = size[last] - 1;
      at.next(size, w.rank);
    }
    if (isMax_) return;
    const auto count = static_cast<double>(countsPad_ ? padded : inside);
    for (std::int64_t c = 0; c < block_; ++c) y[c] = static_cast<float>(acc[c] / count);
  }

  void foldRun(const float* x, std::int64_t n, std::int64_t step, double* acc, float* y) const {
    if (block_ > 1) {
      const simd::Kernels& k = simd::kernels();
      isMax_ ? k.largestRows(x, n, step, block_, y) : k.addRows(x, n, step, block_, acc);
      return;
    }
    if (isMax_) {
      float best = *y;
      for (std::int64_t i = 0; i < n; ++i) {
        const float v = x[i * step];
        best = v > best || std::isnan(v) ? v : best;
      }
      *y = best;
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) *acc += static_cast<double>(x[i * step]);
  }

  Attributes attributes_;
  bool isMax_;
  bool countsPad_;
  ref::Window window_;
  std::int64_t planes_ = 0;
  std::int64_t block_ = 1;
};

Result<std::unique_ptr<StepKernel>> makePool(const StepKernelSpec& spec) {
  const Step& step = spec.step;
  const auto isFloat32 = [&](std::int32_t id) {
    return id != kNone && spec.program.values[static_cast<std::size_t>(id)].dtype == DType::kFloat32;
  };
  const std::string_view op = step.parameters.getString("op");
  if (step.inputs.size() != 1 || step.outputs.size() != 1 || !isFloat32(step.inputs[0]) ||
      !isFloat32(step.outputs[0]) || (op != "max" && op != "average"))
    return Status(ErrorCode::kEngineDamaged, "a cpu.pool step has the wrong operands");
  return std::unique_ptr<StepKernel>(std::make_unique<Pool>(step.parameters, op == "max"));
}

const RegisterStepKernel kPool("cpu.pool", makePool);

}  // namespace
}  // namespace rota::runtime
