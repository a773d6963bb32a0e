// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool, LpPool, their global forms, and MaxUnpool.
//
// One loop over output positions serves all: a window is cut to the part inside the input, a visitor walks it, and the kind of pool says
// what is folded. Planes (image and channel) are spread over the threads. NaN in a window makes its maximum NaN, as in numpy.
// With ceil_mode the last window may reach beyond the padding; AveragePool with count_include_pad counts only what lies inside it.
// Tested by src/ref/pool_test.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ref/blocks.h"
#include "ref/quantized_product.h"
#include "ref/window.h"

namespace rota::ref {

namespace {

enum class PoolKind : std::uint8_t { kMax, kAverage, kLp };

struct PoolProblem {
  PoolKind kind = PoolKind::kMax;
  Window window;
  std::int64_t planes = 0;
  bool countPad = false;
  bool columnMajor = false;
  std::int64_t p = 2;
};

// The kernel positions [first, last) of a window at `start` (may be negative) that lie inside [0, size).
struct WindowCut {
  std::int64_t first;
  std::int64_t last;
};
WindowCut cutWindow(std::int64_t start, std::int64_t size, std::int64_t kernel, std::int64_t dilation) {
  const std::int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  const std::int64_t last = start >= size ? 0 : (size - 1 - start) / dilation + 1;
  return {std::min(first, kernel), std::clamp<std::int64_t>(last, 0, kernel)};
}

struct Pooled {
  double value = 0;
  std::int64_t index = -1;  // offset in the plane of the maximum
};

template <typename S> class PoolPlane {
 public:
  PoolPlane(const PoolProblem& problem, const S* plane)
      : problem_(problem),
        w_(problem.window),
        plane_(plane) {}

  Pooled at(const SpatialIndex& out) const {
    SpatialIndex size;  // kernel positions inside, per axis
    std::array<std::int64_t, kMaxSpatial> firstInput{};
    std::int64_t inside = 1;
    std::int64_t padded = 1;
    for (std::size_t d = 0; d < w_.rank; ++d) {
      const std::int64_t start = out.at[d] * w_.stride[d] - w_.padBegin[d];
      const WindowCut cut = cutWindow(start, w_.in[d], w_.kernel[d], w_.dilation[d]);
      size.at[d] = std::max<std::int64_t>(0, cut.last - cut.first);
      firstInput[d] = start + cut.first * w_.dilation[d];
      inside *= size.at[d];
      const WindowCut withPad = cutWindow(start + w_.padBegin[d], w_.in[d] + w_.padBegin[d] + w_.padEnd[d],
                                          w_.kernel[d], w_.dilation[d]);
      padded *= withPad.last - withPad.first;
    }
    return fold(size.at, firstInput, inside, padded);
  }

 private:
  Pooled fold(const std::array<std::int64_t, kMaxSpatial>& size,
              const std::array<std::int64_t, kMaxSpatial>& firstInput, std::int64_t inside,
              std::int64_t padded) const {
    Pooled result{problem_.kind == PoolKind::kMax ? -std::numeric_limits<double>::infinity() : 0.0, -1};
    SpatialIndex at;
    const std::size_t last = w_.rank - 1;
    const std::int64_t runs = size[last] == 0 ? 0 : inside / size[last];
    for (std::int64_t run = 0; run < runs; ++run) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < w_.rank; ++d)
        offset = offset * w_.in[d] + firstInput[d] + at.at[d] * w_.dilation[d];
      foldRun(offset, size[last], result);
      at.at[last] = size[last] - 1;
      at.next(size, w_.rank);
    }
    if (problem_.kind == PoolKind::kAverage)
      result.value /= static_cast<double>(problem_.countPad ? padded : inside);
    if (problem_.kind == PoolKind::kLp) result.value = root(result.value);
    return result;
  }

  void foldRun(std::int64_t offset, std::int64_t count, Pooled& result) const {
    const std::int64_t step = w_.dilation[w_.rank - 1];
    for (std::int64_t i = 0; i < count; ++i, offset += step) {
      const auto v = static_cast<double>(plane_[offset]);
      switch (problem_.kind) {
        case PoolKind::kMax:
          if (result.index < 0 || v > result.value || (std::isnan(v) && !std::isnan(result.value)))
            result = {v, offset};
          break;
        case PoolKind::kAverage: result.value += v; break;
        case PoolKind::kLp:
          result.value += problem_.p == 1   ? std::fabs(v)
                          : problem_.p == 2 ? v * v
                                            : std::pow(std::fabs(v), static_cast<double>(problem_.p));
          break;
      }
    }
  }

  double root(double sum) const {
    if (problem_.p == 1) return sum;
    return problem_.p == 2 ? std::sqrt(sum) : std::pow(sum, 1.0 / static_cast<double>(problem_.p));
  }

  const PoolProblem& problem_;
  const Window& w_;
  const S* plane_;
};

// The number by which MaxPool names an element of its input.
std::int64_t elementNumber(const PoolProblem& problem, std::int64_t plane, std::int64_t offset) {
  const Window& w = problem.window;
  const std::int64_t base = plane * w.inCount();
  if (offset < 0 || !problem.columnMajor) return base + offset;
  SpatialIndex at;
  at.seek(w.in, w.rank, offset);
  std::int64_t number = 0;
  for (std::size_t d = w.rank; d-- > 0;) number = number * w.in[d] + at.at[d];
  return base + number;
}

template <typename S>
void poolPlanes(ThreadPool& threads, const PoolProblem& problem, const S* x, const MutableTensorView& y,
                std::int64_t* indices) {
  const Window& w = problem.window;
  const std::int64_t positions = w.outCount();
  const std::int64_t work = std::max<std::int64_t>(1, positions * w.kernelCount());
  threads.parallelFor(
      problem.planes, std::max<std::int64_t>(1, 65536 / work), [&](std::int64_t begin, std::int64_t end) {
        constexpr std::int64_t kRun = 256;
        double values[kRun];
        for (std::int64_t plane = begin; plane < end; ++plane) {
          const PoolPlane<S> pool(problem, x + plane * w.inCount());
          SpatialIndex at;
          for (std::int64_t done = 0; done < positions;) {
            const std::int64_t n = std::min(kRun, positions - done);
            for (std::int64_t i = 0; i < n; ++i, at.next(w.out, w.rank)) {
              const Pooled pooled = pool.at(at);
              values[i] = pooled.value;
              if (indices != nullptr)
                indices[plane * positions + done + i] = elementNumber(problem, plane, pooled.index);
            }
            storeBlock(y, plane * positions + done, n, values);
            done += n;
          }
        }
      });
}

Status runPool(KernelContext& ctx, const PoolProblem& problem) {
  const TensorView x = ctx.input(0);
  std::int64_t* indices = ctx.hasOutput(1) ? ctx.output(1).as<std::int64_t>() : nullptr;
  if (x.dtype == DType::kFloat32) {
    poolPlanes(ctx.threads(), problem, x.as<float>(), ctx.output(0), indices);
    return Status::ok();
  }
  auto values = loadAll(ctx, x);
  if (!values) return values.status();
  poolPlanes<double>(ctx.threads(), problem, *values, ctx.output(0), indices);
  return Status::ok();
}

Status pool(KernelContext& ctx, PoolKind kind) {
  const TensorView x = ctx.input(0);
  const Dims y = ctx.output(0).dims;
  const auto* kernel = ctx.attributes().getInts("kernel_shape");
  if (x.rank() < 3 || y.size() != x.rank() || kernel == nullptr || kernel->size() != x.rank() - 2) {
    return Status(ErrorCode::kBadAttribute, "'kernel_shape' does not fit the tensor")
        .expected("one value for each spatial axis");
  }
  PoolProblem problem;
  problem.kind = kind;
  problem.planes = x.dims[0] * x.dims[1];
  auto window = windowOf(ctx.attributes(), x.dims.subspan(2), *kernel, y.subspan(2));
  if (!window) return window.status();
  problem.window = *window;
  problem.countPad = ctx.attributes().getInt("count_include_pad") != 0;
  problem.columnMajor = ctx.attributes().getInt("storage_order") != 0;
  problem.p = ctx.attributes().getInt("p", 2);
  return runPool(ctx, problem);
}

Status globalPool(KernelContext& ctx, PoolKind kind) {
  const TensorView x = ctx.input(0);
  if (x.rank() < 2)
    return Status(ErrorCode::kShapeMismatch, "A global pool needs [N, C, …]").expected("rank 2 or more");
  PoolProblem problem;
  problem.kind = kind;
  problem.planes = x.dims[0] * x.dims[1];
  problem.p = ctx.attributes().getInt("p", 2);
  // The spatial axes are one: the whole plane is the window.
  problem.window.rank = 1;
  problem.window.in[0] = problem.window.kernel[0] = elementCount(x.dims.subspan(2));
  problem.window.out[0] = problem.window.stride[0] = problem.window.dilation[0] = 1;
  return runPool(ctx, problem);
}

Status maxPool(KernelContext& ctx) { return pool(ctx, PoolKind::kMax); }
Status averagePool(KernelContext& ctx) { return pool(ctx, PoolKind::kAverage); }
Status lpPool(KernelContext& ctx) { return pool(ctx, PoolKind::kLp); }
Status globalMaxPool(KernelContext& ctx) { return globalPool(ctx, PoolKind::kMax); }
Status globalAveragePool(KernelContext& ctx) { return globalPool(ctx, PoolKind::kAverage); }
Status globalLpPool(KernelContext& ctx) { return globalPool(ctx, PoolKind::kLp); }

Status maxUnpool(KernelContext& ctx) {
  const TensorView x = ctx.input(0);
  const TensorView indices = ctx.input(1);
  if (indices.count() != x.count()) {
    return Status(ErrorCode::kShapeMismatch, "MaxUnpool needs one index for each value")
        .expected("indices of the shape of X");
  }
  Result<MutableTensorView> made = ctx.output(0);
  if (ctx.hasInput(2)) {
    std::array<std::int64_t, kMaxSpatial + 2> dims{};
    const TensorView shape = ctx.input(2);
    if (shape.count() != static_cast<std::int64_t>(x.rank()) || x.rank() > dims.size()) {
      return Status(ErrorCode::kShapeMismatch, "'output_shape' of MaxUnpool does not fit X")
          .expected("one size for each axis of X");
    }
    for (std::int64_t i = 0; i < shape.count(); ++i) dims[static_cast<std::size_t>(i)] = intAt(shape, i);
    made = ctx.output(0, Dims(dims.data(), x.rank()));
  }
  if (!made) return made.status();
  const MutableTensorView y = *made;
  const std::int64_t count = y.count();
  std::fill_n(y.as<std::byte>(), y.bytes(), std::byte{0});
  // The indices number the elements of a tensor whose planes have the size that the attributes give; a larger `output_shape` spreads them out.
  std::int64_t planes = 1;
  std::int64_t planeOfPool = 1;
  const auto* kernel = ctx.attributes().getInts("kernel_shape");
  const auto* strides = ctx.attributes().getInts("strides");
  const auto* pads = ctx.attributes().getInts("pads");
  const std::size_t spatial = x.rank() >= 2 ? x.rank() - 2 : 0;
  if (kernel == nullptr || kernel->size() != spatial || spatial == 0) {
    return Status(ErrorCode::kBadAttribute, "'kernel_shape' does not fit the tensor")
        .expected("one value for each spatial axis");
  }
  std::array<std::int64_t, kMaxSpatial> poolSize{};
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t stride = strides != nullptr && strides->size() == spatial ? (*strides)[d] : 1;
    const std::int64_t pad =
        pads != nullptr && pads->size() == 2 * spatial ? (*pads)[d] + (*pads)[spatial + d] : 0;
    poolSize[d] = (x.dims[d + 2] - 1) * stride + (*kernel)[d] - pad;
    planeOfPool *= std::max<std::int64_t>(0, poolSize[d]);
  }
  planes = x.dims[0] * x.dims[1];
  for (std::int64_t i = 0; i < x.count(); ++i) {
    std::int64_t target = intAt(indices, i);
    const std::int64_t limit = planes * planeOfPool;
    bool inside = target >= 0 && target < limit;
    if (inside && ctx.hasInput(2)) {
      std::int64_t rest = target % planeOfPool;
      std::int64_t offset = 0;
      std::int64_t scale = 1;
      for (std::size_t d = spatial; d-- > 0;) {
        const std::int64_t at = rest % poolSize[d];
        rest /= poolSize[d];
        inside = inside && at < y.dims[d + 2];
        offset += at * scale;
        scale *= y.dims[d + 2];
      }
      target = target / planeOfPool * scale + offset;
    }
    if (!inside || target >= count) {
      return Status(ErrorCode::kBadIndex, "MaxUnpool was given an index outside its output")
          .expected("0 to " + std::to_string(limit - 1))
          .found(std::to_string(intAt(indices, i)));
    }
    double value = 0;
    loadBlock(x, i, 1, &value);
    storeBlock(y, target, 1, &value);
  }
  return Status::ok();
}

// --- Quantised averages of com.microsoft: in real numbers, then quantised again. Inputs: X, scale, zero, scale of Y, zero of Y.

// [N, C, …] from [N, …, C].
void channelsFirst(const double* from, std::int64_t images, std::int64_t channels, std::int64_t positions,
                   double* to) {
  for (std::int64_t i = 0; i < images * positions * channels; ++i) {
    const std::int64_t n = i / (positions * channels), position = i / channels % positions, c = i % channels;
    to[(n * channels + c) * positions + position] = from[i];
  }
}

Status quantizedAverage(KernelContext& ctx, PoolProblem& problem, std::int64_t images, std::int64_t channels,
                        bool channelsLast) {
  for (const std::size_t i : {1, 2, 3, 4}) {
    if (ctx.hasInput(i) ? ctx.input(i).count() != 1 : i % 2 == 1) {
      return Status(ErrorCode::kShapeMismatch, "Scales and zero points must be scalars")
          .expected("one element each");
    }
  }
  const auto scalar = [&](std::size_t i) { return ctx.hasInput(i) ? realAt(ctx.input(i), 0) : 0.0; };
  auto values = loadAll(ctx, ctx.input(0));
  if (!values) return values.status();
  const std::int64_t count = ctx.input(0).count(), outCount = ctx.output(0).count();
  const double scaleX = scalar(1), zeroX = scalar(2), scaleY = scalar(3), zeroY = scalar(4);
  for (std::int64_t i = 0; i < count; ++i) (*values)[i] = ((*values)[i] - zeroX) * scaleX;
  const double* x = *values;
  if (channelsLast) {
    auto moved = ctx.scratch<double>(count);
    if (!moved) return moved.status();
    channelsFirst(x, images, channels, problem.window.inCount(), *moved);
    x = *moved;
  }
  auto means = ctx.scratch<double>(outCount);
  if (!means) return means.status();
  problem.planes = images * channels;
  const std::int64_t outDims[1] = {outCount};
  poolPlanes<double>(ctx.threads(), problem, x, MutableTensorView{DType::kFloat64, outDims, *means}, nullptr);
  const std::int64_t positions = problem.window.outCount();
  for (std::int64_t i = 0; i < outCount; ++i) {
    const std::int64_t plane = i / positions;
    const std::int64_t at =
        channelsLast ? (plane / channels * positions + i % positions) * channels + plane % channels : i;
    const double value = requantize((*means)[i] / scaleY, zeroY, ctx.output(0).dtype);
    storeBlock(ctx.output(0), at, 1, &value);
  }
  return Status::ok();
}

Status qLinearAveragePool(KernelContext& ctx) {
  const Dims x = ctx.input(0).dims, y = ctx.output(0).dims;
  const bool last = ctx.attributes().getInt("channels_last") != 0;
  const auto* kernel = ctx.attributes().getInts("kernel_shape");
  if (x.size() < 3 || y.size() != x.size() || kernel == nullptr || kernel->size() != x.size() - 2) {
    return Status(ErrorCode::kBadAttribute, "'kernel_shape' does not fit the tensor")
        .expected("one value for each spatial axis");
  }
  const std::size_t first = last ? 1 : 2;
  auto window =
      windowOf(ctx.attributes(), x.subspan(first, x.size() - 2), *kernel, y.subspan(first, x.size() - 2));
  if (!window) return window.status();
  PoolProblem problem;
  problem.kind = PoolKind::kAverage;
  problem.window = *window;
  problem.countPad = ctx.attributes().getInt("count_include_pad") != 0;
  return quantizedAverage(ctx, problem, x[0], x[last ? x.size() - 1 : 1], last);
}

Status qLinearGlobalAveragePool(KernelContext& ctx) {
  const Dims x = ctx.input(0).dims;
  const bool last = ctx.attributes().getInt("channels_last") != 0;
  if (x.size() < 3)
    return Status(ErrorCode::kShapeMismatch, "A global pool needs [N, C, …]").expected("rank 3 or more");
  PoolProblem problem;
  problem.kind = PoolKind::kAverage;
  problem.window.rank = 1;
  problem.window.in[0] = problem.window.kernel[0] = elementCount(x.subspan(last ? 1 : 2, x.size() - 2));
  problem.window.out[0] = problem.window.stride[0] = problem.window.dilation[0] = 1;
  return quantizedAverage(ctx, problem, x[0], x[last ? x.size() - 1 : 1], last);
}

const RegisterKernel kQLinearAveragePool("com.microsoft", "QLinearAveragePool", qLinearAveragePool);
const RegisterKernel kQLinearGlobalAveragePool("com.microsoft", "QLinearGlobalAveragePool",
                                               qLinearGlobalAveragePool);
const RegisterKernel kMaxPool("", "MaxPool", maxPool);
const RegisterKernel kAveragePool("", "AveragePool", averagePool);
const RegisterKernel kLpPool("", "LpPool", lpPool);
const RegisterKernel kGlobalMaxPool("", "GlobalMaxPool", globalMaxPool);
const RegisterKernel kGlobalAveragePool("", "GlobalAveragePool", globalAveragePool);
const RegisterKernel kGlobalLpPool("", "GlobalLpPool", globalLpPool);
const RegisterKernel kMaxUnpool("", "MaxUnpool", maxUnpool);

}  // namespace

}  // namespace rota::ref
