// SPDX-License-Identifier: Apache-2.0
// Conv; see conv.h. Tested by src/ref/conv_test.cpp.
#include "ref/conv.h"

#include <algorithm>
#include <string>

#include "ref/blocks.h"
#include "ref/conv_direct.h"

namespace rota::ref {

Result<ConvProblem> convProblem(const Attributes& attributes, Dims x, Dims w, Dims y) {
  ConvProblem problem;
  problem.groups = attributes.getInt("group", 1);
  if (x.size() < 2 || w.size() != x.size() || y.size() != x.size() || problem.groups < 1 ||
      x[1] != w[1] * problem.groups || w[0] % problem.groups != 0 || y[0] != x[0] || y[1] != w[0]) {
    return Status(ErrorCode::kShapeMismatch, "The filters of the convolution do not fit its input")
        .expected("X [N, C, …] and W [M, C / group, …] of equal rank, M a multiple of group");
  }
  problem.images = x[0];
  problem.channels = x[1];
  problem.filters = w[0];
  auto window = windowOf(attributes, x.subspan(2), w.subspan(2), y.subspan(2));
  if (!window) return window.status();
  problem.window = *window;
  return problem;
}

namespace {

// Columns of the product: line k = (channel, kernel position), runs along output positions. Batch = image * groups + group.
template <typename S> class WindowColumns final : public ProductOperand<double> {
 public:
  WindowColumns(const ConvProblem& problem, const S* x)
      : ProductOperand(false),
        problem_(problem),
        x_(x),
        kernelCount_(problem.window.kernelCount()),
        inCount_(problem.window.inCount()) {}

  void load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
            double* out) const override {
    const Window& w = problem_.window;
    SpatialIndex kernel;
    kernel.seek(w.kernel, w.rank, line % kernelCount_);
    const S* plane = x_ + (batch * problem_.groupChannels() + line / kernelCount_) * inCount_;
    const std::size_t last = w.rank - 1;
    SpatialIndex at;
    at.seek(w.out, w.rank, begin);
    const std::int64_t shift = kernel.at[last] * w.dilation[last] - w.padBegin[last];
    while (count > 0) {
      const std::int64_t first = at.at[last];
      const std::int64_t n = std::min(count, w.out[last] - first);
      const S* row = rowAt(plane, at, kernel);
      loadRow(row, first * w.stride[last] + shift, n, out);
      out += n;
      count -= n;
      at.at[last] = w.out[last] - 1;
      at.next(w.out, w.rank);
    }
  }

 private:
  // The input row under output row `at` for this kernel position, or nullptr in the padding.
  const S* rowAt(const S* plane, const SpatialIndex& at, const SpatialIndex& kernel) const {
    const Window& w = problem_.window;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d + 1 < w.rank; ++d) {
      const std::int64_t i = at.at[d] * w.stride[d] + kernel.at[d] * w.dilation[d] - w.padBegin[d];
      if (i < 0 || i >= w.in[d]) return nullptr;
      offset = (offset + i) * w.in[d + 1];
    }
    return plane + offset;
  }

  void loadRow(const S* row, std::int64_t start, std::int64_t n, double* out) const {
    const Window& w = problem_.window;
    const std::int64_t width = w.in[w.rank - 1];
    const std::int64_t stride = w.stride[w.rank - 1];
    if (row == nullptr) {
      std::fill(out, out + n, 0.0);
      return;
    }
    std::int64_t i = 0;
    for (; i < n && start + i * stride < 0; ++i) out[i] = 0;
    const std::int64_t valid = start >= width ? 0 : std::min(n, (width - 1 - start) / stride + 1);
    if (stride == 1) {
      for (; i < valid; ++i) out[i] = static_cast<double>(row[start + i]);
    } else {
      for (; i < valid; ++i) out[i] = static_cast<double>(row[start + i * stride]);
    }
    for (; i < n; ++i) out[i] = 0;
  }

  const ConvProblem& problem_;
  const S* x_;
  std::int64_t kernelCount_;
  std::int64_t inCount_;
};

// Rows of the product: filter lines of one group.
class GroupFilters final : public ProductOperand<double> {
 public:
  GroupFilters(const ConvProblem& problem, const ProductOperand<double>& filters)
      : ProductOperand(true),
        problem_(problem),
        filters_(filters) {}
  void load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
            double* out) const override {
    filters_.load(0, batch % problem_.groups * problem_.groupFilters() + line, begin, count, out);
  }

 private:
  const ConvProblem& problem_;
  const ProductOperand<double>& filters_;
};

class GroupSink final : public ProductSink<double> {
 public:
  GroupSink(const ConvProblem& problem, const ConvSink& sink) : problem_(problem), sink_(sink) {}
  void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
             const double* values) const override {
    sink_.store(batch / problem_.groups, batch % problem_.groups * problem_.groupFilters() + row, column,
                count, values);
  }

 private:
  const ConvProblem& problem_;
  const ConvSink& sink_;
};

// Adds the bias and stores.
class BiasSink final : public ConvSink {
 public:
  BiasSink(const MutableTensorView& y, const double* bias, std::int64_t filters, std::int64_t positions)
      : y_(y),
        bias_(bias),
        filters_(filters),
        positions_(positions) {}
  void store(std::int64_t image, std::int64_t filter, std::int64_t position, std::int64_t count,
             const double* values) const override {
    double sums[kProductRun];
    const double bias = bias_ == nullptr ? 0 : bias_[filter];
    for (std::int64_t i = 0; i < count; ++i) sums[i] = values[i] + bias;
    storeBlock(y_, (image * filters_ + filter) * positions_ + position, count, sums);
  }

 private:
  MutableTensorView y_;
  const double* bias_;
  std::int64_t filters_;
  std::int64_t positions_;
};

// Elements of one image and filter, on their way to the sink of the convolution.
class DirectConvSink final : public DirectSink {
 public:
  DirectConvSink(const ConvSink& sink, std::int64_t image, std::int64_t filter)
      : sink_(sink),
        image_(image),
        filter_(filter) {}
  void store(std::int64_t position, std::int64_t count, const double* values) const override {
    sink_.store(image_, filter_, position, count, values);
  }

 private:
  const ConvSink& sink_;
  std::int64_t image_;
  std::int64_t filter_;
};

PaddedPlane paddedPlaneOf(const Window& w) {
  Spatial size{};
  for (std::size_t d = 0; d < w.rank; ++d) size[d] = (w.out[d] - 1) * w.stride[d] + w.extent(d);
  return {w.rank, w.in, w.padBegin, size, w.stride[w.rank - 1]};
}

// Where the elements of a window lie, relative to an output position, for every k.
void windowOffsets(const ConvProblem& problem, const PaddedPlane& plane, std::int64_t* offsets) {
  const Window& w = problem.window;
  SpatialIndex kernel;
  for (std::int64_t k = 0; k < problem.depth(); ++k, kernel.next(w.kernel, w.rank)) {
    Spatial at{};
    for (std::size_t d = 0; d < w.rank; ++d) at[d] = kernel.at[d] * w.dilation[d];
    offsets[k] = k / w.kernelCount() * plane.elements() + plane.offset(at);
  }
}

bool goesDirect(const ConvProblem& problem) {
  return problem.window.rank > 0 && problem.groupFilters() <= kDirectFilters && problem.depth() > 0;
}

// One item is one group of one image: its planes are filled and its filters run while they are in the cache.
Status convolveDirect(KernelContext& ctx, const ConvProblem& problem, const TensorView& x,
                      const ProductOperand<double>& w, const ConvSink& sink) {
  const Window& window = problem.window;
  const std::int64_t depth = problem.depth(), items = problem.images * problem.groups;
  if (window.outCount() == 0 || items == 0 || problem.filters == 0) return Status::ok();
  const PaddedPlane plane = paddedPlaneOf(window);
  const DirectParts parts = directParts(items, problem.groupFilters() * window.outCount() * depth);
  const std::int64_t partElements = problem.groupChannels() * plane.elements() + kDirectSlack;
  auto offsets = ctx.scratch<std::int64_t>(depth);
  auto weights = ctx.scratch<double>(problem.filters * depth);
  auto planes = ctx.scratch<double>(parts.count * partElements);
  if (!offsets) return offsets.status();
  if (!weights) return weights.status();
  if (!planes) return planes.status();
  windowOffsets(problem, plane, *offsets);
  for (std::int64_t line = 0; line < problem.filters; ++line) {
    for (std::int64_t k = 0; k < depth; k += kProductRun)
      w.load(0, line, k, std::min(kProductRun, depth - k), *weights + line * depth + k);
  }
  ctx.threads().parallelFor(items, parts.grain, [&](std::int64_t begin, std::int64_t end) {
    double* const own = *planes + begin / parts.grain * partElements;
    std::fill(own, own + partElements, 0.0);
    DirectFilter filter{
        .rank = window.rank, .count = window.out, .data = own, .offsets = *offsets, .depth = depth};
    for (std::size_t d = 0; d + 1 < window.rank; ++d) filter.steps[d] = plane.stride(d) * window.stride[d];
    for (std::int64_t item = begin; item < end; ++item) {
      for (std::int64_t c = 0; c < problem.groupChannels(); ++c)
        plane.fill(x, item * problem.groupChannels() + c, own + c * plane.elements());
      for (std::int64_t f = 0; f < problem.groupFilters(); ++f) {
        const std::int64_t line = item % problem.groups * problem.groupFilters() + f;
        filter.weights = *weights + line * depth;
        runDirect(filter, DirectConvSink(sink, item / problem.groups, line));
      }
    }
  });
  return Status::ok();
}

Status conv(KernelContext& ctx) {
  const TensorView x = ctx.input(0);
  const TensorView w = ctx.input(1);
  const MutableTensorView y = ctx.output(0);
  auto problem = convProblem(ctx.attributes(), x.dims, w.dims, y.dims);
  if (!problem) return problem.status();
  if (ctx.hasInput(2) && ctx.input(2).count() != problem->filters) {
    return Status(ErrorCode::kShapeMismatch, "The bias of the convolution has the wrong size")
        .expected(std::to_string(problem->filters) + " elements")
        .found(std::to_string(ctx.input(2).count()));
  }
  auto bias = loadAll(ctx, ctx.input(2));
  if (!bias) return bias.status();
  const BiasSink sink(y, *bias, problem->filters, problem->window.outCount());
  const DenseOperand<double> filters(w, true, problem->depth());
  if (goesDirect(*problem)) return convolveDirect(ctx, *problem, x, filters, sink);
  if (x.dtype == DType::kFloat32) return convolve(ctx, *problem, x.as<float>(), filters, sink);
  auto image = loadAll(ctx, x);
  if (!image) return image.status();
  return convolve<double>(ctx, *problem, *image, filters, sink);
}

const RegisterKernel kConv("", "Conv", conv);

}  // namespace

template <typename S>
Status convolve(KernelContext& ctx, const ConvProblem& problem, const S* x, const ProductOperand<double>& w,
                const ConvSink& sink) {
  if (goesDirect(problem)) {
    // The view has no dims: elements are found by their numbers alone.
    const DType dtype = std::is_same_v<S, float> ? DType::kFloat32 : DType::kFloat64;
    return convolveDirect(ctx, problem, TensorView{dtype, {}, x}, w, sink);
  }
  const ProductShape shape{problem.images * problem.groups, problem.groupFilters(), problem.window.outCount(),
                           problem.depth()};
  product<double>(ctx.threads(), shape, GroupFilters(problem, w), WindowColumns<S>(problem, x),
                  GroupSink(problem, sink));
  return Status::ok();
}

template Status convolve<float>(KernelContext&, const ConvProblem&, const float*,
                                const ProductOperand<double>&, const ConvSink&);
template Status convolve<double>(KernelContext&, const ConvProblem&, const double*,
                                 const ProductOperand<double>&, const ConvSink&);

}  // namespace rota::ref
