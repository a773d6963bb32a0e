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

// What a window covers along one axis: kernel positions inside the input, and inside it with its padding.
struct PoolCut {
  std::int64_t first = 0;  // input index of the first position inside
  std::int64_t inside = 0;
  std::int64_t padded = 0;
};

// The cuts of every output position of an axis are found once, for they take divisions.
struct PoolCuts {
  std::array<const PoolCut*, kMaxSpatial> axes{};
};
Result<PoolCuts> poolCuts(KernelContext& ctx, const Window& w) {
  std::int64_t total = 0;
  for (std::size_t d = 0; d < w.rank; ++d) total += w.out[d];
  auto memory = ctx.scratch<PoolCut>(std::max<std::int64_t>(total, 1));
  if (!memory) return memory.status();
  PoolCuts cuts;
  PoolCut* next = *memory;
  for (std::size_t d = 0; d < w.rank; ++d) {
    cuts.axes[d] = next;
    for (std::int64_t o = 0; o < w.out[d]; ++o) {
      const std::int64_t start = o * w.stride[d] - w.padBegin[d];
      const WindowCut cut = cutWindow(start, w.in[d], w.kernel[d], w.dilation[d]);
      const WindowCut withPad =
          cutWindow(start + w.padBegin[d], w.in[d] + w.padBegin[d] + w.padEnd[d], w.kernel[d], w.dilation[d]);
      *next++ = {start + cut.first * w.dilation[d], std::max<std::int64_t>(0, cut.last - cut.first),
                 withPad.last - withPad.first};
    }
  }
  return cuts;
}

struct Pooled {
  double value = 0;
  std::int64_t index = -1;  // offset in the plane of the maximum
};

template <typename S> class PoolPlane {
 public:
  PoolPlane(const PoolProblem& problem, const PoolCuts& cuts, const S* plane)
      : problem_(problem),
        w_(problem.window),
        cuts_(cuts),
        plane_(plane) {}

  Pooled at(const SpatialIndex& out) const {
    Spatial size{};
    Spatial step{};  // from one position of an axis to the next, in elements
    std::int64_t start = 0, inside = 1, padded = 1, stride = 1;
    for (std::size_t d = w_.rank; d-- > 0;) {
      const PoolCut& cut = cuts_.axes[d][out.at[d]];
      size[d] = cut.inside;
      step[d] = stride * w_.dilation[d];
      start += cut.first * stride;
      stride *= w_.in[d];
      inside *= cut.inside;
      padded *= cut.padded;
    }
    Pooled result{problem_.kind == PoolKind::kMax ? -std::numeric_limits<double>::infinity() : 0.0, -1};
    if (inside > 0) foldAxis(0, start, size, step, result);
    if (problem_.kind == PoolKind::kAverage)
      result.value /= static_cast<double>(problem_.countPad ? padded : inside);
    if (problem_.kind == PoolKind::kLp) result.value = root(result.value);
    return result;
  }

 private:
  void foldAxis(std::size_t axis, std::int64_t offset, const Spatial& size, const Spatial& step,
                Pooled& result) const {
    if (axis + 1 == w_.rank) return foldRun(offset, size[axis], step[axis], result);
    for (std::int64_t i = 0; i < size[axis]; ++i)
      foldAxis(axis + 1, offset + i * step[axis], size, step, result);
  }

  void foldRun(std::int64_t offset, std::int64_t count, std::int64_t step, Pooled& result) const {
    switch (problem_.kind) {
      case PoolKind::kMax:
        for (std::int64_t i = 0; i < count; ++i, offset += step) {
          const auto v = static_cast<double>(plane_[offset]);
          if (result.index < 0 || v > result.value || (std::isnan(v) && !std::isnan(result.value)))
            result = {v, offset};
        }
        return;
      case PoolKind::kAverage:
        for (std::int64_t i = 0; i < count; ++i, offset += step)
          result.value += static_cast<double>(plane_[offset]);
        return;
      case PoolKind::kLp:
        for (std::int64_t i = 0; i < count; ++i, offset += step)
          result.value += power(static_cast<double>(plane_[offset]));
        return;
    }
  }

  double power(double v) const {
    if (problem_.p == 1) return std::fabs(v);
    return problem_.p == 2 ? v * v : std::pow(std::fabs(v), static_cast<double>(problem_.p));
  }
  double root(double sum) const {
    if (problem_.p == 1) return sum;
    return problem_.p == 2 ? std::sqrt(sum) : std::pow(sum, 1.0 / static_cast<double>(problem_.p));
  }

  const PoolProblem& problem_;
  const Window& w_;
  const PoolCuts& cuts_;
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
void poolPlanes(ThreadPool& threads, const PoolProblem& problem, const PoolCuts& cuts, const S* x,
                const MutableTensorView& y, std::int64_t* indices) {
  const Window& w = problem.window;
  const std::int64_t positions = w.outCount();
  const std::int64_t work = std::max<std::int64_t>(1, positions * w.kernelCount());
  threads.parallelFor(
      problem.planes, std::max<std::int64_t>(1, 65536 / work), [&](std::int64_t begin, std::int64_t end) {
        constexpr std::int64_t kRun = 256;
        double values[kRun];
        for (std::int64_t plane = begin; plane < end; ++plane) {
          const PoolPlane<S> pool(problem, cuts, x + plane * w.inCount());
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
  auto cuts = poolCuts(ctx, problem.window);
  if (!cuts) return cuts.status();
  if (x.dtype == DType::kFloat32) {
    poolPlanes(ctx.threads(), problem, *cuts, x.as<float>(), ctx.output(0), indices);
    return Status::ok();
  }
  auto values = loadAll(ctx, x);
  if (!values) return values.status();
  poolPlanes<double>(ctx.threads(), problem, *cuts, *values, ctx.output(0), indices);
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
  auto cuts = poolCuts(ctx, problem.window);
  if (!cuts) return cuts.status();
  poolPlanes<double>(ctx.threads(), problem, *cuts, x, MutableTensorView{DType::kFloat64, outDims, *means},
                     nullptr);
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
