// SPDX-License-Identifier: Apache-2.0
// ConvTranspose as ordinary products, one per output phase.
//
// Output position o gets a contribution from input i through kernel position k where o + padBegin = i * stride + k * dilation. All positions
// with the same remainder of o + padBegin by the stride (a phase) meet the same kernel positions, so a phase is a dense convolution with a
// part of the kernel: no multiplication with inserted zeros, no scattered sums, one fixed order of summation.
// Tested by src/ref/conv_test.cpp.
#include <algorithm>
#include <string>

#include "ref/blocks.h"
#include "ref/product.h"
#include "ref/window.h"

namespace rota::ref {

namespace {

using Spatial = std::array<std::int64_t, kMaxSpatial>;

struct TransposeProblem {
  std::int64_t images = 0, groups = 1, groupChannels = 0, groupFilters = 0;
  Window window;
};

// One phase: along each axis the first output position, how many there are (one every stride), and the kernel positions with the input index that
// the first output position meets there.
struct TransposePhase {
  Spatial first{}, count{}, kernels{};
  Spatial kernelFirst{}, kernelStep{};  // kernel position = first + j * step
  Spatial inputFirst{}, inputStep{};    // input index of output position 0 of the phase = first - j * step
  std::int64_t positions = 1;
  std::int64_t kernelCount = 1;
};

TransposePhase phaseOf(const Window& w, const Spatial& remainder) {
  TransposePhase phase;
  for (std::size_t d = 0; d < w.rank; ++d) {
    const std::int64_t s = w.stride[d];
    const std::int64_t first =
        ((remainder[d] - w.padBegin[d]) % s + s) % s;  // smallest o with (o + pad) % s == remainder
    phase.first[d] = first;
    phase.count[d] = first < w.out[d] ? (w.out[d] - 1 - first) / s + 1 : 0;
    // Kernel positions k with k * dilation ≡ o + pad (mod s) come at a fixed distance.
    std::int64_t k = 0;
    while (k < w.kernel[d] && k < s && (first + w.padBegin[d] - k * w.dilation[d]) % s != 0) ++k;
    std::int64_t step = 1;
    while (step * w.dilation[d] % s != 0) ++step;
    const bool any = k < w.kernel[d] && (first + w.padBegin[d] - k * w.dilation[d]) % s == 0;
    phase.kernelFirst[d] = k;
    phase.kernelStep[d] = step;
    phase.kernels[d] = any ? (w.kernel[d] - 1 - k) / step + 1 : 0;
    phase.inputFirst[d] = any ? (first + w.padBegin[d] - k * w.dilation[d]) / s : 0;
    phase.inputStep[d] = step * w.dilation[d] / s;
    phase.positions *= phase.count[d];
    phase.kernelCount *= phase.kernels[d];
  }
  return phase;
}

// Rows: line = filter of the group, k = (channel, kernel position of the phase). W is [channels, filters / groups, kernel…].
class PhaseFilters final : public ProductOperand<double> {
 public:
  PhaseFilters(const TransposeProblem& problem, const TransposePhase& phase, const double* w)
      : ProductOperand(true),
        problem_(problem),
        phase_(phase),
        w_(w) {}
  void load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
            double* out) const override {
    const Window& w = problem_.window;
    SpatialIndex at;
    at.seek(phase_.kernels, w.rank, begin % phase_.kernelCount);
    std::int64_t channel = batch % problem_.groups * problem_.groupChannels + begin / phase_.kernelCount;
    std::int64_t inChannel = begin % phase_.kernelCount;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t offset = channel * problem_.groupFilters + line;
      for (std::size_t d = 0; d < w.rank; ++d)
        offset = offset * w.kernel[d] + phase_.kernelFirst[d] + at.at[d] * phase_.kernelStep[d];
      out[i] = w_[offset];
      at.next(phase_.kernels, w.rank);
      if (++inChannel == phase_.kernelCount) {
        inChannel = 0;
        ++channel;
      }
    }
  }

 private:
  const TransposeProblem& problem_;
  const TransposePhase& phase_;
  const double* w_;
};

// Columns: line = (channel, kernel position of the phase), runs along the output positions of the phase.
class PhaseColumns final : public ProductOperand<double> {
 public:
  PhaseColumns(const TransposeProblem& problem, const TransposePhase& phase, const double* x)
      : ProductOperand(false),
        problem_(problem),
        phase_(phase),
        x_(x) {}
  void load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
            double* out) const override {
    const Window& w = problem_.window;
    SpatialIndex kernel;
    kernel.seek(phase_.kernels, w.rank, line % phase_.kernelCount);
    const double* plane = x_ + (batch * problem_.groupChannels + line / phase_.kernelCount) * w.inCount();
    Spatial shift{};
    for (std::size_t d = 0; d < w.rank; ++d)
      shift[d] = phase_.inputFirst[d] - kernel.at[d] * phase_.inputStep[d];
    SpatialIndex at;
    at.seek(phase_.count, w.rank, begin);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t d = 0; d < w.rank; ++d) {
        const std::int64_t index = at.at[d] + shift[d];
        inside = inside && index >= 0 && index < w.in[d];
        offset = offset * w.in[d] + index;
      }
      out[i] = inside ? plane[offset] : 0;
      at.next(phase_.count, w.rank);
    }
  }

 private:
  const TransposeProblem& problem_;
  const TransposePhase& phase_;
  const double* x_;
};

class PhaseSink final : public ProductSink<double> {
 public:
  PhaseSink(const TransposeProblem& problem, const TransposePhase& phase, const MutableTensorView& y,
            const double* bias)
      : problem_(problem),
        phase_(phase),
        y_(y),
        bias_(bias) {}
  void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
             const double* values) const override {
    const Window& w = problem_.window;
    const std::int64_t plane = batch * problem_.groupFilters + row;
    const double bias = bias_ == nullptr ? 0 : bias_[batch % problem_.groups * problem_.groupFilters + row];
    SpatialIndex at;
    at.seek(phase_.count, w.rank, column);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t offset = plane;
      for (std::size_t d = 0; d < w.rank; ++d)
        offset = offset * w.out[d] + phase_.first[d] + at.at[d] * w.stride[d];
      const double sum = values[i] + bias;
      storeBlock(y_, offset, 1, &sum);
      at.next(phase_.count, w.rank);
    }
  }

 private:
  const TransposeProblem& problem_;
  const TransposePhase& phase_;
  MutableTensorView y_;
  const double* bias_;
};

// The pads that follow from the sizes: with `output_shape` or `auto_pad` they are derived, else they are the attribute.
void derivePads(const Attributes& attributes, Window& w) {
  const std::string_view autoPad = attributes.getString("auto_pad", "NOTSET");
  const auto* outputShape = attributes.getInts("output_shape");
  const bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (!same && (outputShape == nullptr || outputShape->empty())) return;
  const auto* outputPadding = attributes.getInts("output_padding");
  for (std::size_t d = 0; d < w.rank; ++d) {
    const std::int64_t extra =
        outputPadding != nullptr && d < outputPadding->size() ? (*outputPadding)[d] : 0;
    const std::int64_t total =
        std::max<std::int64_t>(0, w.stride[d] * (w.in[d] - 1) + extra + w.extent(d) - w.out[d]);
    w.padBegin[d] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.padEnd[d] = total - w.padBegin[d];
  }
}

Status convTranspose(KernelContext& ctx) {
  const TensorView x = ctx.input(0);
  const TensorView w = ctx.input(1);
  const MutableTensorView y = ctx.output(0);
  TransposeProblem problem;
  problem.groups = ctx.attributes().getInt("group", 1);
  if (x.rank() < 3 || w.rank() != x.rank() || y.rank() != x.rank() || problem.groups < 1 ||
      x.dims[1] != w.dims[0] || x.dims[1] % problem.groups != 0 || y.dims[0] != x.dims[0] ||
      y.dims[1] != w.dims[1] * problem.groups || (ctx.hasInput(2) && ctx.input(2).count() != y.dims[1])) {
    return Status(ErrorCode::kShapeMismatch, "The filters of the transposed convolution do not fit its input")
        .expected(
            "X [N, C, …], W [C, M / group, …] of equal rank, C a multiple of group, a bias of M elements");
  }
  problem.images = x.dims[0];
  problem.groupChannels = x.dims[1] / problem.groups;
  problem.groupFilters = w.dims[1];
  auto window = windowOf(ctx.attributes(), x.dims.subspan(2), w.dims.subspan(2), y.dims.subspan(2));
  if (!window) return window.status();
  problem.window = *window;
  derivePads(ctx.attributes(), problem.window);

  auto image = loadAll(ctx, x);
  if (!image) return image.status();
  auto filters = loadAll(ctx, w);
  if (!filters) return filters.status();
  auto bias = loadAll(ctx, ctx.input(2));
  if (!bias) return bias.status();

  const Window& win = problem.window;
  std::int64_t phases = 1;
  for (std::size_t d = 0; d < win.rank; ++d) phases *= win.stride[d];
  SpatialIndex remainder;
  for (std::int64_t p = 0; p < phases; ++p, remainder.next(win.stride, win.rank)) {
    const TransposePhase phase = phaseOf(win, remainder.at);
    const ProductShape shape{problem.images * problem.groups, problem.groupFilters, phase.positions,
                             problem.groupChannels * phase.kernelCount};
    product<double>(ctx.threads(), shape, PhaseFilters(problem, phase, *filters),
                    PhaseColumns(problem, phase, *image), PhaseSink(problem, phase, y, *bias));
  }
  return Status::ok();
}

const RegisterKernel kConvTranspose("", "ConvTranspose", convTranspose);

}  // namespace

}  // namespace rota::ref
