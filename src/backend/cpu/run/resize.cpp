// SPDX-License-Identifier: Apache-2.0
// "cpu.resize": Resize of the last two axes, nearest for every type of whole bytes, linear and cubic for float32. The attributes are those of the
// operator; "scales" holds the two scales where the model gives scales (else they follow from the sizes). Channels may lie in blocks.
//
// Coordinates and weights come from the functions of the reference, once when shapes are bound. Interpolation blends whole source rows first,
// a stretch of columns at a time, then columns. Tested by src/backend/cpu/compile/resize_test.cpp.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backend/cpu/run/kernel_table.h"
#include "backend/cpu/run/strides.h"
#include "ref/resize_plan.h"

namespace rota::runtime {
namespace {

constexpr std::int64_t kRowBuffer = 8192;  // floats
constexpr std::int64_t kGrainElements = 8192;

/// One axis: for every place of the result the first element and the weights from it on.
struct Axis {
  std::int64_t in = 1, out = 1, taps = 1;
  std::vector<std::int64_t> first;
  std::vector<float> weights;
  std::int64_t element(std::int64_t place, std::int64_t tap) const {
    return std::clamp<std::int64_t>(first[static_cast<std::size_t>(place)] + tap, 0, in - 1);
  }
  float weight(std::int64_t place, std::int64_t tap) const {
    return weights[static_cast<std::size_t>(place * taps + tap)];
  }
};

class Resize final : public StepKernel {
 public:
  Resize(const ref::ResizeOptions& options, std::vector<float> scales)
      : options_(options),
        scales_(std::move(scales)) {}

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    const Operand& in = binding.inputs[0];
    const Operand& out = binding.outputs[0];
    const std::size_t rank = in.view.dims.size();
    const PhysicalDims loops = physicalDims(in.view.dims, in.layout);
    if (rank < 2 || rank != out.view.dims.size() || loops.isPadded || loops.rank > rank + 1)
      return Status(ErrorCode::kInternal, "cpu.resize: the layout does not fit");
    block_ = loops.rank > rank ? loops.size[rank] : 1;
    if (block_ > 1 && loops.axis[rank] + 2 >= rank)
      return Status(ErrorCode::kInternal, "cpu.resize: a resized axis is blocked");
    bytes_ = static_cast<std::int64_t>(elementBytes(in.view.dtype)) * block_;
    planes_ = elementCount(in.view.dims.first(rank - 2)) / block_;
    for (std::size_t i = 0; i < 2; ++i)
      fillAxis(axes_[i], in.view.dims[rank - 2 + i], out.view.dims[rank - 2 + i], i);
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    const std::int64_t rows = planes_ * axes_[0].out;
    if (rows * axes_[1].out == 0) return Status::ok();
    const auto* in = static_cast<const std::byte*>(binding.inputs[0].view.data);
    auto* out = static_cast<std::byte*>(binding.outputs[0].mutableData);
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainElements / (axes_[1].out * block_));
    binding.threads->parallelFor(rows, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const std::byte* plane = in + r / axes_[0].out * axes_[0].in * axes_[1].in * bytes_;
        std::byte* row = out + r * axes_[1].out * bytes_;
        if (options_.mode == ref::ResizeMode::kNearest) {
          nearestRow(plane + axes_[0].element(r % axes_[0].out, 0) * axes_[1].in * bytes_, row);
        } else {
          blendRow(reinterpret_cast<const float*>(plane), r % axes_[0].out, reinterpret_cast<float*>(row));
        }
      }
    });
    return Status::ok();
  }

 private:
  void fillAxis(Axis& axis, std::int64_t in, std::int64_t out, std::size_t i) {
    axis.in = in;
    axis.out = out;
    ref::ResizeAxis plan{.in = in, .out = out};
    plan.scale = !scales_.empty() ? static_cast<double>(scales_[i])
                 : in == 0        ? 1
                                  : static_cast<double>(out) / static_cast<double>(in);
    const bool isIdentity = plan.isIdentity(options_);
    const bool isNearest = options_.mode == ref::ResizeMode::kNearest;
    axis.taps = isIdentity || isNearest ? 1 : plan.taps(options_);
    axis.first.resize(static_cast<std::size_t>(out));
    axis.weights.assign(static_cast<std::size_t>(out * axis.taps), 1);
    weights_.resize(static_cast<std::size_t>(axis.taps));
    for (std::int64_t o = 0; o < out; ++o) {
      std::int64_t& first = axis.first[static_cast<std::size_t>(o)];
      if (isIdentity) {
        first = o;
      } else if (isNearest) {
        first = plan.nearest(options_, o);
      } else {
        bool isOutside = false;  // only with regions, which the tactic refuses
        first = plan.weights(options_, o, weights_.data(), isOutside);
        for (std::int64_t t = 0; t < axis.taps; ++t)
          axis.weights[static_cast<std::size_t>(o * axis.taps + t)] =
              static_cast<float>(weights_[static_cast<std::size_t>(t)]);
      }
    }
  }

  void nearestRow(const std::byte* source, std::byte* row) const {
    const auto copyAll = [&](auto one) {
      for (std::int64_t o = 0; o < axes_[1].out; ++o)
        std::memcpy(row + o * bytes_, source + axes_[1].element(o, 0) * bytes_, one(bytes_));
    };
    if (bytes_ == 4) {
      copyAll([](std::int64_t) { return std::size_t{4}; });
    } else if (bytes_ == 32) {
      copyAll([](std::int64_t) { return std::size_t{32}; });
    } else {
      copyAll([](std::int64_t b) { return static_cast<std::size_t>(b); });
    }
  }

  void blendRow(const float* plane, std::int64_t outRow, float* row) const {
    const simd::Kernels& k = simd::kernels();
    const Axis& y = axes_[0];
    const Axis& x = axes_[1];
    alignas(64) float blended[kRowBuffer];
    for (std::int64_t o = 0; o < x.out;) {
      // As many places as their source columns fit the buffer; coordinates never go back.
      const std::int64_t from = x.element(o, 0);
      std::int64_t end = o + 1;
      while (end < x.out && (x.element(end, x.taps - 1) + 1 - from) * block_ <= kRowBuffer) ++end;
      const std::int64_t columns = x.element(end - 1, x.taps - 1) + 1 - from;
      std::fill_n(blended, columns * block_, 0.0F);
      for (std::int64_t t = 0; t < y.taps; ++t) {
        const float weight = y.weight(outRow, t);
        if (weight != 0)
          k.addScaled(plane + (y.element(outRow, t) * x.in + from) * block_, weight, blended,
                      columns * block_);
      }
      for (; o < end; ++o) {
        float* target = row + o * block_;
        if (block_ == 1) {
          float sum = 0;
          for (std::int64_t t = 0; t < x.taps; ++t)
            if (x.weight(o, t) != 0) sum += x.weight(o, t) * blended[x.element(o, t) - from];
          *target = sum;
          continue;
        }
        std::fill_n(target, block_, 0.0F);
        for (std::int64_t t = 0; t < x.taps; ++t)
          if (x.weight(o, t) != 0)
            k.addScaled(blended + (x.element(o, t) - from) * block_, x.weight(o, t), target, block_);
      }
    }
  }

  ref::ResizeOptions options_;
  std::vector<float> scales_;
  Axis axes_[2];
  std::vector<double> weights_;  // of one place
  std::int64_t planes_ = 0, block_ = 1, bytes_ = 4;
};

Result<std::unique_ptr<StepKernel>> makeResize(const StepKernelSpec& spec) {
  const Step& step = spec.step;
  const auto typeOf = [&](std::int32_t id) {
    return id == kNone ? DType::kUndefined : spec.program.values[static_cast<std::size_t>(id)].dtype;
  };
  if (step.inputs.size() != 1 || step.outputs.size() != 1 ||
      typeOf(step.inputs[0]) != typeOf(step.outputs[0]) || elementBytes(typeOf(step.inputs[0])) == 0)
    return Status(ErrorCode::kEngineDamaged, "a cpu.resize step has the wrong operands");
  auto options = ref::resizeOptions(step.parameters, step.version < 11);
  if (!options) return options.status();
  const auto* scales = step.parameters.getFloats("scales");
  const bool isNearest = options->mode == ref::ResizeMode::kNearest;
  const bool fits = (scales == nullptr || scales->size() == 2) && !options->antialias &&
                    options->coordinates != ref::ResizeCoordinates::kCropAndResize &&
                    (isNearest || typeOf(step.inputs[0]) == DType::kFloat32);
  if (!fits)
    return Status(ErrorCode::kEngineDamaged, "a cpu.resize step has settings that the kernel does not take");
  return std::unique_ptr<StepKernel>(
      std::make_unique<Resize>(*options, scales != nullptr ? *scales : std::vector<float>{}));
}

const RegisterStepKernel kResize("cpu.resize", makeResize);

}  // namespace
}  // namespace rota::runtime
