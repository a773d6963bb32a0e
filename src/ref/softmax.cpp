// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Softmax, LogSoftmax and Hardmax, and of the running sum and product.
//
// Up to operator set 12, softmax runs over all dims from `axis` on; since 13 over `axis` alone. Both are lines of `axis` elements with a stride.
// Columns of one line set are worked on side by side, so memory is read in order. Exponents are relative to the largest element.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include <cmath>
#include <limits>

#include "ref/broadcast.h"

namespace rota::ref {
namespace {

Result<AxisSplit> softmaxLines(const KernelContext& ctx) {
  const TensorView x = ctx.input(0);
  const bool isFlat = ctx.version() < 13;
  const std::int64_t written = ctx.attributes().getInt("axis", isFlat ? 1 : -1);
  if (x.rank() == 0) return AxisSplit{};
  // Operator sets below 13 allow axis = rank for a line of one element.
  if (isFlat && written == static_cast<std::int64_t>(x.rank())) return AxisSplit{x.count(), 1, 1};
  const auto axis = axisOf(written, x.rank());
  if (!axis) return axis.status();
  AxisSplit split = splitAt(x.dims, *axis);
  if (isFlat) split = {split.outer, split.axis * split.inner, 1};
  return split;
}

constexpr std::int64_t kColumns = 64;

/// Calls `body(offset, columns)` for groups of neighbouring lines: line `c` of a group is at offset + c, its elements `split.inner` apart.
template <typename Body>
void forLineGroups(const KernelContext& ctx, const AxisSplit& split, const Body& body) {
  if (split.axis == 0 || split.inner == 0) return;
  const std::int64_t groups = (split.inner + kColumns - 1) / kColumns;
  const std::int64_t work = split.axis * std::min(split.inner, kColumns);
  ctx.threads().parallelFor(split.outer * groups, std::max<std::int64_t>(1, kGrain / (4 * work)),
                            [&](std::int64_t begin, std::int64_t end) {
                              for (std::int64_t g = begin; g < end; ++g) {
                                const std::int64_t column = g % groups * kColumns;
                                body(g / groups * split.axis * split.inner + column,
                                     std::min(kColumns, split.inner - column));
                              }
                            });
}

/// Loads blocks of a line group in order and calls `use(column, value)` for every element.
template <typename Use>
void visitLines(const TensorView& x, const AxisSplit& split, std::int64_t offset, std::int64_t columns,
                const Use& use) {
  std::array<double, kBlock> values;
  if (split.inner == 1) {
    for (std::int64_t a = 0; a < split.axis; a += kBlock) {
      const std::int64_t n = std::min(kBlock, split.axis - a);
      loadAsDouble(x, offset + a, n, values.data());
      for (std::int64_t i = 0; i < n; ++i) use(std::size_t{0}, values[static_cast<std::size_t>(i)]);
    }
    return;
  }
  for (std::int64_t a = 0; a < split.axis; ++a) {
    loadAsDouble(x, offset + a * split.inner, columns, values.data());
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) use(c, values[c]);
  }
}

/// The same, and stores what `use` returns.
template <typename Use>
void mapLines(const TensorView& x, const MutableTensorView& y, const AxisSplit& split, std::int64_t offset,
              std::int64_t columns, const Use& use) {
  std::array<double, kBlock> values;
  const std::int64_t stepElements = split.inner == 1 ? kBlock : 1;
  for (std::int64_t a = 0; a < split.axis; a += stepElements) {
    const std::int64_t n = split.inner == 1 ? std::min(kBlock, split.axis - a) : columns;
    const std::int64_t start = offset + a * split.inner;
    loadAsDouble(x, start, n, values.data());
    for (std::int64_t i = 0; i < n; ++i) {
      double& value = values[static_cast<std::size_t>(i)];
      value = use(split.inner == 1 ? std::size_t{0} : static_cast<std::size_t>(i), value);
    }
    storeFromDouble(y, start, n, values.data());
  }
}

using LineValues = std::array<double, kColumns>;

/// Largest element and sum of exponentials of every line of a group.
void lineSums(const TensorView& x, const AxisSplit& split, std::int64_t offset, std::int64_t columns,
              LineValues& largest, LineValues& sums) {
  largest.fill(-std::numeric_limits<double>::infinity());
  sums.fill(0);
  visitLines(x, split, offset, columns,
             [&](std::size_t c, double v) { largest[c] = maxWithNan(largest[c], v); });
  visitLines(x, split, offset, columns,
             [&](std::size_t c, double v) { sums[c] += std::exp(v - largest[c]); });
}

Status softmaxKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const auto split = softmaxLines(ctx);
  if (!split) return split.status();
  forLineGroups(ctx, *split, [&](std::int64_t offset, std::int64_t columns) {
    LineValues largest;
    LineValues sums;
    lineSums(ctx.input(0), *split, offset, columns, largest, sums);
    mapLines(ctx.input(0), ctx.output(0), *split, offset, columns,
             [&](std::size_t c, double v) { return std::exp(v - largest[c]) / sums[c]; });
  });
  return Status::ok();
}
const RegisterKernel kSoftmaxKernel("", "Softmax", softmaxKernel);

Status logSoftmaxKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const auto split = softmaxLines(ctx);
  if (!split) return split.status();
  forLineGroups(ctx, *split, [&](std::int64_t offset, std::int64_t columns) {
    LineValues largest;
    LineValues sums;
    lineSums(ctx.input(0), *split, offset, columns, largest, sums);
    for (double& sum : sums) sum = std::log(sum);
    mapLines(ctx.input(0), ctx.output(0), *split, offset, columns,
             [&](std::size_t c, double v) { return v - largest[c] - sums[c]; });
  });
  return Status::ok();
}
const RegisterKernel kLogSoftmaxKernel("", "LogSoftmax", logSoftmaxKernel);

/// 1 at the first of the largest elements (the first NaN, where there is one), 0 elsewhere.
Status hardmaxKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const auto split = softmaxLines(ctx);
  if (!split) return split.status();
  forLineGroups(ctx, *split, [&](std::int64_t offset, std::int64_t columns) {
    LineValues largest;
    largest.fill(-std::numeric_limits<double>::infinity());
    visitLines(ctx.input(0), *split, offset, columns,
               [&](std::size_t c, double v) { largest[c] = maxWithNan(largest[c], v); });
    std::array<bool, kColumns> isFound{};
    mapLines(ctx.input(0), ctx.output(0), *split, offset, columns, [&](std::size_t c, double v) {
      const bool isFirst = !isFound[c] && (v == largest[c] || std::isnan(v));
      isFound[c] = isFound[c] || isFirst;
      return isFirst ? 1.0 : 0.0;
    });
  });
  return Status::ok();
}
const RegisterKernel kHardmaxKernel("", "Hardmax", hardmaxKernel);

/// CumSum and CumProd: a running fold along the axis in input 1.
template <typename T, typename F> Status cumulate(KernelContext& ctx, T neutral, const F& f) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  if (ctx.input(1).count() != 1) {
    return Status(ErrorCode::kShapeMismatch, "The axis is one number").found(dimsText(ctx.input(1).dims));
  }
  const auto axis = axisOf(loadOne<std::int64_t>(ctx.input(1), 0), x.rank());
  if (!axis) return axis.status();
  const bool isExclusive = ctx.attributes().getInt("exclusive", 0) != 0;
  const bool isReverse = ctx.attributes().getInt("reverse", 0) != 0;
  const AxisSplit split = splitAt(x.dims, *axis);
  forLineGroups(ctx, split, [&](std::int64_t offset, std::int64_t columns) {
    std::array<T, kBlock> values;
    std::array<T, kColumns> running;
    running.fill(neutral);
    const std::int64_t width = split.inner == 1 ? kBlock : 1;  // axis elements loaded at once
    const std::int64_t blocks = (split.axis + width - 1) / width;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t a = (isReverse ? blocks - 1 - b : b) * width;
      const std::int64_t n = split.inner == 1 ? std::min(width, split.axis - a) : columns;
      const std::int64_t start = offset + a * split.inner;
      loadValues(x, start, n, values.data());
      for (std::int64_t i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(split.inner == 1 && isReverse ? n - 1 - i : i);
        T& sum = running[split.inner == 1 ? 0 : k];
        const T next = f(sum, values[k]);
        values[k] = isExclusive ? sum : next;
        sum = next;
      }
      storeValues(y, start, n, values.data());
    }
  });
  return Status::ok();
}

Status cumSumKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return cumulate<T>(ctx, T{0}, [](T a, T b) { return wrappingAdd(a, b); });
  });
}
Status cumProdKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return cumulate<T>(ctx, T{1}, [](T a, T b) { return wrappingMul(a, b); });
  });
}
const RegisterKernel kCumSumKernel("", "CumSum", cumSumKernel);
const RegisterKernel kCumProdKernel("", "CumProd", cumProdKernel);

}  // namespace
}  // namespace rota::ref
