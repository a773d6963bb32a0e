// SPDX-License-Identifier: Apache-2.0
// ConvTranspose as ordinary products, one per output phase.
//
// Output position o gets a contribution from input i through kernel position k where o + padBegin = i * stride + k * dilation. All positions
// with the same remainder of o + padBegin by the stride (a phase) meet the same kernel positions, so a phase is a dense convolution with a
// part of the kernel: no multiplication with inserted zeros, one fixed order of summation. Results of the phases meet in a plane of doubles, which
// is stored at the end. Few filters a group go the direct way (conv_direct.h).
// Tested by src/ref/conv_test.cpp.
#include <algorithm>
#include <string>

#include "ref/blocks.h"
#include "ref/conv_direct.h"
#include "ref/product.h"
#include "ref/window.h"

namespace rota::ref {

namespace {

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
    const std::size_t last = w.rank - 1;
    SpatialIndex at;
    at.seek(phase_.count, w.rank, begin);
    while (count > 0) {
      const std::int64_t first = at.at[last];
      const std::int64_t n = std::min(count, phase_.count[last] - first);
      std::int64_t row = 0;
      bool inside = true;
      for (std::size_t d = 0; d < last; ++d) {
        const std::int64_t index = at.at[d] + shift[d];
        inside = inside && index >= 0 && index < w.in[d];
        row = (row + index) * w.in[d + 1];
      }
      loadRow(inside ? plane + row : nullptr, w.in[last], first + shift[last], n, out);
      out += n;
      count -= n;
      at.at[last] = phase_.count[last] - 1;
      at.next(phase_.count, w.rank);
    }
  }

 private:
  // Elements [start, start + n) of a row, zeros where there are none.
  static void loadRow(const double* row, std::int64_t width, std::int64_t start, std::int64_t n,
                      double* out) {
    const std::int64_t begin = row == nullptr ? n : std::clamp<std::int64_t>(-start, 0, n);
    const std::int64_t end = row == nullptr ? n : std::clamp<std::int64_t>(width - start, begin, n);
    std::fill(out, out + begin, 0.0);
    if (end > begin) std::copy(row + start + begin, row + start + end, out + begin);
    std::fill(out + end, out + n, 0.0);
  }

  const TransposeProblem& problem_;
  const TransposePhase& phase_;
  const double* x_;
};

// Puts results of a phase where they belong in plane (image, filter) of doubles.
class PhaseSink final : public ProductSink<double> {
 public:
  PhaseSink(const TransposeProblem& problem, const TransposePhase& phase, double* result)
      : problem_(problem),
        phase_(phase),
        result_(result) {}
  void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
             const double* values) const override {
    put(batch * problem_.groupFilters + row, column, count, values);
  }
  void put(std::int64_t plane, std::int64_t position, std::int64_t count, const double* values) const {
    const Window& w = problem_.window;
    const std::size_t last = w.rank - 1;
    SpatialIndex at;
    at.seek(phase_.count, w.rank, position);
    while (count > 0) {
      const std::int64_t n = std::min(count, phase_.count[last] - at.at[last]);
      std::int64_t offset = plane;
      for (std::size_t d = 0; d < w.rank; ++d)
        offset = offset * w.out[d] + phase_.first[d] + at.at[d] * w.stride[d];
      for (std::int64_t i = 0; i < n; ++i) result_[offset + i * w.stride[last]] = values[i];
      values += n;
      count -= n;
      at.at[last] = phase_.count[last] - 1;
      at.next(phase_.count, w.rank);
    }
  }

 private:
  const TransposeProblem& problem_;
  const TransposePhase& phase_;
  double* result_;
};

// The same for one filter of the direct way.
class DirectPhaseSink final : public DirectSink {
 public:
  DirectPhaseSink(const PhaseSink& sink, std::int64_t plane) : sink_(sink), plane_(plane) {}
  void store(std::int64_t position, std::int64_t count, const double* values) const override {
    sink_.put(plane_, position, count, values);
  }

 private:
  const PhaseSink& sink_;
  std::int64_t plane_;
};

// Stores finished planes with their bias.
class TransposeStore {
 public:
  TransposeStore(const MutableTensorView& y, const double* bias, std::int64_t lines, std::int64_t elements)
      : y_(y),
        bias_(bias),
        lines_(lines),
        elements_(elements) {}
  void plane(std::int64_t index, double* values) const {
    if (bias_ != nullptr) {
      for (std::int64_t i = 0; i < elements_; ++i) values[i] += bias_[index % lines_];
    }
    storeBlock(y_, index * elements_, elements_, values);
  }

 private:
  MutableTensorView y_;
  const double* bias_;
  std::int64_t lines_;
  std::int64_t elements_;
};

// Calls `use(phase)` for every phase.
template <typename Use> void forPhases(const Window& w, const Use& use) {
  std::int64_t phases = 1;
  for (std::size_t d = 0; d < w.rank; ++d) phases *= w.stride[d];
  SpatialIndex remainder;
  for (std::int64_t p = 0; p < phases; ++p, remainder.next(w.stride, w.rank)) use(phaseOf(w, remainder.at));
}

Status transposeByProduct(KernelContext& ctx, const TransposeProblem& problem, const double* image,
                          const double* filters, const TransposeStore& store) {
  const std::int64_t planes = problem.images * problem.groups * problem.groupFilters;
  const std::int64_t elements = problem.window.outCount();
  auto result = ctx.scratch<double>(planes * elements);
  if (!result) return result.status();
  forPhases(problem.window, [&](const TransposePhase& phase) {
    const ProductShape shape{problem.images * problem.groups, problem.groupFilters, phase.positions,
                             problem.groupChannels * phase.kernelCount};
    product<double>(ctx.threads(), shape, PhaseFilters(problem, phase, filters),
                    PhaseColumns(problem, phase, image), PhaseSink(problem, phase, *result));
  });
  ctx.threads().parallelFor(planes, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) store.plane(p, *result + p * elements);
  });
  return Status::ok();
}

// The input with as many zeros around it as any phase reaches.
struct TransposeReach {
  Spatial lead{};
  Spatial size{};
};
TransposeReach reachOf(const Window& w) {
  TransposeReach reach;
  Spatial end{};
  end.fill(1);
  forPhases(w, [&](const TransposePhase& phase) {
    for (std::size_t d = 0; d < w.rank; ++d) {
      if (phase.kernels[d] == 0 || phase.count[d] == 0) continue;
      const std::int64_t lowest = phase.inputFirst[d] - (phase.kernels[d] - 1) * phase.inputStep[d];
      reach.lead[d] = std::max(reach.lead[d], -lowest);
      end[d] = std::max(end[d], phase.inputFirst[d] + phase.count[d]);
    }
  });
  for (std::size_t d = 0; d < w.rank; ++d) reach.size[d] = reach.lead[d] + end[d];
  return reach;
}

// All phases of the direct way: offsets and, for each line, weights of one phase after the other.
struct DirectPhases {
  std::int64_t count = 0;
  TransposePhase* phases = nullptr;
  std::int64_t* offsets = nullptr;  // [groupChannels * kernelCount]
  double* weights = nullptr;        // [lines, groupChannels * kernelCount]
};

Result<DirectPhases> directPhases(KernelContext& ctx, const TransposeProblem& problem,
                                  const PaddedPlane& plane, const TransposeReach& reach,
                                  const double* filters) {
  const Window& w = problem.window;
  const std::int64_t depth = problem.groupChannels * w.kernelCount();
  const std::int64_t lines = problem.groups * problem.groupFilters;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < w.rank; ++d) count *= w.stride[d];
  auto phases = ctx.scratch<TransposePhase>(count);
  auto offsets = ctx.scratch<std::int64_t>(depth);
  auto weights = ctx.scratch<double>(lines * depth);
  if (!phases) return phases.status();
  if (!offsets) return offsets.status();
  if (!weights) return weights.status();
  DirectPhases all{0, *phases, *offsets, *weights};
  std::int64_t start = 0;
  forPhases(w, [&](const TransposePhase& phase) {
    all.phases[all.count++] = phase;
    const std::int64_t terms = problem.groupChannels * phase.kernelCount;
    SpatialIndex kernel;
    for (std::int64_t k = 0; k < terms; ++k, kernel.next(phase.kernels, w.rank)) {
      Spatial at{};
      for (std::size_t d = 0; d < w.rank; ++d)
        at[d] = reach.lead[d] + phase.inputFirst[d] - kernel.at[d] * phase.inputStep[d];
      all.offsets[start + k] =
          phase.positions == 0 ? 0 : k / phase.kernelCount * plane.elements() + plane.offset(at);
    }
    const PhaseFilters factors(problem, phase, filters);
    for (std::int64_t line = 0; terms > 0 && line < lines; ++line) {
      factors.load(line / problem.groupFilters, line % problem.groupFilters, 0, terms,
                   all.weights + line * depth + start);
    }
    start += terms;
  });
  return all;
}

// One item is one group of one image: its planes are filled, and all phases of its filters run while they are in the cache.
Status transposeDirect(KernelContext& ctx, const TransposeProblem& problem, const TensorView& x,
                       const double* filters, const TransposeStore& store) {
  const Window& w = problem.window;
  const TransposeReach reach = reachOf(w);
  const PaddedPlane plane(w.rank, w.in, reach.lead, reach.size, 1);
  auto phases = directPhases(ctx, problem, plane, reach, filters);
  if (!phases) return phases.status();
  const std::int64_t depth = problem.groupChannels * w.kernelCount();
  const std::int64_t items = problem.images * problem.groups;
  const DirectParts parts = directParts(items, problem.groupFilters * w.inCount() * depth);
  const std::int64_t planeElements = problem.groupChannels * plane.elements() + kDirectSlack;
  const std::int64_t partElements = planeElements + w.outCount();
  auto memory = ctx.scratch<double>(parts.count * partElements);
  if (!memory) return memory.status();
  ctx.threads().parallelFor(items, parts.grain, [&](std::int64_t begin, std::int64_t end) {
    double* const own = *memory + begin / parts.grain * partElements;
    double* const result = own + planeElements;
    std::fill(own, own + planeElements, 0.0);
    for (std::int64_t item = begin; item < end; ++item) {
      for (std::int64_t c = 0; c < problem.groupChannels; ++c)
        plane.fill(x, item * problem.groupChannels + c, own + c * plane.elements());
      for (std::int64_t f = 0; f < problem.groupFilters; ++f) {
        const std::int64_t line = item % problem.groups * problem.groupFilters + f;
        std::int64_t start = 0;
        for (std::int64_t p = 0; p < phases->count; ++p) {
          const TransposePhase& phase = phases->phases[p];
          DirectFilter filter{.rank = w.rank,
                              .count = phase.count,
                              .data = own,
                              .offsets = phases->offsets + start,
                              .weights = phases->weights + line * depth + start,
                              .depth = problem.groupChannels * phase.kernelCount};
          for (std::size_t d = 0; d + 1 < w.rank; ++d) filter.steps[d] = plane.stride(d);
          if (phase.positions > 0) runDirect(filter, DirectPhaseSink(PhaseSink(problem, phase, result), 0));
          start += filter.depth;
        }
        store.plane(item * problem.groupFilters + f, result);
      }
    }
  });
  return Status::ok();
}

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

  if (y.count() == 0) return Status::ok();
  auto filters = loadAll(ctx, w);
  if (!filters) return filters.status();
  auto bias = loadAll(ctx, ctx.input(2));
  if (!bias) return bias.status();
  const TransposeStore store(y, *bias, problem.groups * problem.groupFilters, problem.window.outCount());
  if (problem.groupFilters <= kDirectFilters && problem.groupChannels > 0)
    return transposeDirect(ctx, problem, x, *filters, store);
  auto image = loadAll(ctx, x);
  if (!image) return image.status();
  return transposeByProduct(ctx, problem, *image, *filters, store);
}

const RegisterKernel kConvTranspose("", "ConvTranspose", convTranspose);

}  // namespace

}  // namespace rota::ref
