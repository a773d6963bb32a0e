// SPDX-License-Identifier: Apache-2.0
// Reference kernels of the Reduce operators; see reduction.h. Sums of floating-point numbers run in double and are rounded once. The result over no
// elements is the neutral one: 0, 1, minus or plus infinity (or the end of the range of an integer type); a mean of nothing is NaN.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "ref/reduction.h"

#include <cmath>
#include <limits>

namespace rota::ref {

Reduction::Reduction(Dims dims, const std::array<bool, kMaxRank>& folded) {
  const DimArray strides = denseStrides(dims);
  bool hasLast = false;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    (folded[d] ? perResult_ : results_) *= dims[d];
    if (dims[d] == 1) continue;
    DimArray& kindDims = folded[d] ? foldedDims_ : keptDims_;
    DimArray& kindStrides = folded[d] ? foldedStrides_ : keptStrides_;
    if (hasLast && innerIsKept_ != folded[d]) {
      kindDims[kindDims.rank() - 1] *= dims[d];
      kindStrides[kindStrides.rank() - 1] = strides[d];
    } else {
      kindDims.push(dims[d]);
      kindStrides.push(strides[d]);
    }
    innerIsKept_ = !folded[d];
    hasLast = true;
  }
}

std::int64_t Reduction::offsetOf(const DimArray& dims, const DimArray& strides, std::int64_t linear) {
  std::int64_t offset = 0;
  for (std::size_t d = dims.rank(); d-- > 0;) {
    offset += linear % dims[d] * strides[d];
    linear /= dims[d];
  }
  return offset;
}

Result<std::array<bool, kMaxRank>> foldedAxes(const KernelContext& ctx) {
  std::array<bool, kMaxRank> folded{};
  const std::size_t rank = ctx.input(0).rank();
  bool isEmpty = true;
  const auto fold = [&](std::int64_t written) {
    const auto axis = axisOf(written, rank);
    if (!axis) return axis.status();
    folded[*axis] = true;
    isEmpty = false;
    return Status::ok();
  };
  if (const auto* axes = ctx.attributes().getInts("axes")) {
    for (std::int64_t axis : *axes) ROTA_RETURN_IF_ERROR(fold(axis));
  } else if (ctx.hasInput(1)) {
    for (std::int64_t i = 0; i < ctx.input(1).count(); ++i) {
      ROTA_RETURN_IF_ERROR(fold(loadOne<std::int64_t>(ctx.input(1), i)));
    }
  }
  if (isEmpty && ctx.attributes().getInt("noop_with_empty_axes", 0) == 0)
    std::fill_n(folded.begin(), rank, true);
  return folded;
}

DimArray reducedDims(Dims dims, const std::array<bool, kMaxRank>& folded, bool keepDims) {
  DimArray result;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (!folded[d]) {
      result.push(dims[d]);
    } else if (keepDims) {
      result.push(1);
    }
  }
  return result;
}

namespace {

// States: `add` takes an element, `finish` gives the result.

template <typename T> struct SumState {
  T sum{0};
  void add(T x) { sum = wrappingAdd(sum, x); }
  T finish(std::int64_t) const { return sum; }
};
template <typename T> struct ProductState {
  T product{1};
  void add(T x) { product = wrappingMul(product, x); }
  T finish(std::int64_t) const { return product; }
};
template <typename T> struct SumSquareState {
  T sum{0};
  void add(T x) { sum = wrappingAdd(sum, wrappingMul(x, x)); }
  T finish(std::int64_t) const { return sum; }
};
template <typename T> struct AbsoluteSumState {
  T sum{0};
  void add(T x) { sum = x < T{0} ? wrappingSub(sum, x) : wrappingAdd(sum, x); }
  T finish(std::int64_t) const { return sum; }
};
template <typename T> struct MaxState {
  T value{};
  void add(T x) { value = maxWithNan(value, x); }
  T finish(std::int64_t) const { return value; }
};
template <typename T> struct MinState {
  T value{};
  void add(T x) { value = minWithNan(value, x); }
  T finish(std::int64_t) const { return value; }
};

struct MeanState {
  double sum = 0;
  void add(double x) { sum += x; }
  double finish(std::int64_t count) const { return sum / static_cast<double>(count); }
};
struct EuclideanState {
  double sum = 0;
  void add(double x) { sum += x * x; }
  double finish(std::int64_t) const { return std::sqrt(sum); }
};
struct LogSumState {
  double sum = 0;
  void add(double x) { sum += x; }
  double finish(std::int64_t) const { return std::log(sum); }
};
/// The sum is kept relative to the largest exponent so far, so nothing overflows.
struct LogSumExpState {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  void add(double x) {
    if (x > largest || std::isnan(x)) {
      sum = std::isinf(largest) ? 0 : sum * std::exp(largest - x);
      largest = x;
    }
    sum += x == largest ? 1 : std::exp(x - largest);
  }
  double finish(std::int64_t) const { return largest + std::log(sum); }
};

template <typename T, typename State> Status reduceInto(KernelContext& ctx, const State& init) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const auto folded = foldedAxes(ctx);
  if (!folded) return folded.status();
  auto y = ctx.output(0, reducedDims(x.dims, *folded, ctx.attributes().getInt("keepdims", 1) != 0));
  if (!y) return y.status();
  const Reduction reduction(x.dims, *folded);
  reduction.run<T>(ctx, x, init, [&](std::int64_t result, const State& state) {
    storeOne(*y, result, state.finish(reduction.perResult()));
  });
  return Status::ok();
}

/// A reduction that computes in the type of its input.
template <template <typename> typename State> Status typedReduceKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return reduceInto<T>(ctx, State<T>{});
  });
}
/// A reduction that computes in double.
template <typename State> Status doubleReduceKernel(KernelContext& ctx) {
  return reduceInto<double>(ctx, State{});
}

/// Ends of the range of a type, in its compute type.
template <typename T> T lowestOf(DType dtype) {
  const DTypeInfo& row = info(dtype);
  if constexpr (std::is_floating_point_v<T>) {
    return -std::numeric_limits<T>::infinity();
  } else if constexpr (std::is_unsigned_v<T>) {
    return T{0};
  } else {
    return row.dtypeClass == DTypeClass::kSigned ? static_cast<T>(std::uint64_t{~0ULL} << (row.bits - 1))
                                                 : T{0};
  }
}
template <typename T> T highestOf(DType dtype) {
  const DTypeInfo& row = info(dtype);
  if constexpr (std::is_floating_point_v<T>) {
    return std::numeric_limits<T>::infinity();
  } else if (row.dtypeClass == DTypeClass::kBool) {
    return T{1};
  } else {
    const int valueBits = row.dtypeClass == DTypeClass::kSigned ? row.bits - 1 : row.bits;
    return static_cast<T>(~std::uint64_t{0} >> (64 - valueBits));
  }
}

Status reduceMaxKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return reduceInto<T>(ctx, MaxState<T>{lowestOf<T>(ctx.input(0).dtype)});
  });
}
Status reduceMinKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return reduceInto<T>(ctx, MinState<T>{highestOf<T>(ctx.input(0).dtype)});
  });
}

const RegisterKernel kReduceSumKernel("", "ReduceSum", typedReduceKernel<SumState>);
const RegisterKernel kReduceProdKernel("", "ReduceProd", typedReduceKernel<ProductState>);
const RegisterKernel kReduceSumSquareKernel("", "ReduceSumSquare", typedReduceKernel<SumSquareState>);
const RegisterKernel kReduceL1Kernel("", "ReduceL1", typedReduceKernel<AbsoluteSumState>);
const RegisterKernel kReduceL2Kernel("", "ReduceL2", doubleReduceKernel<EuclideanState>);
const RegisterKernel kReduceMeanKernel("", "ReduceMean", doubleReduceKernel<MeanState>);
const RegisterKernel kReduceLogSumKernel("", "ReduceLogSum", doubleReduceKernel<LogSumState>);
const RegisterKernel kReduceLogSumExpKernel("", "ReduceLogSumExp", doubleReduceKernel<LogSumExpState>);
const RegisterKernel kReduceMaxKernel("", "ReduceMax", reduceMaxKernel);
const RegisterKernel kReduceMinKernel("", "ReduceMin", reduceMinKernel);

/// ArgMax and ArgMin. NaN counts as beyond every number, so the first NaN (or the last, with select_last_index) is the answer.
template <bool kMax, typename T> Status argReduce(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const bool selectsLast = ctx.attributes().getInt("select_last_index", 0) != 0;
  const auto axis = axisOf(ctx.attributes().getInt("axis", 0), std::max<std::size_t>(1, x.rank()));
  if (!axis) return axis.status();
  const DimArray dims = x.rank() == 0 ? DimArray{1} : DimArray(x.dims);
  std::array<bool, kMaxRank> folded{};
  folded[*axis] = true;
  const MutableTensorView y = ctx.output(0);
  if (y.count() > 0 && dims[*axis] == 0) {
    return Status(ErrorCode::kShapeMismatch, "There is no largest or smallest element of none")
        .expected("an axis with elements")
        .found(dimsText(x.dims));
  }
  struct State {
    T best{};
    std::int64_t index = 0;
    std::int64_t bestIndex = -1;
    bool selectsLast = false;
    void add(T value) {
      const bool isBetter = kMax ? value > best : value < best;
      bool takes = bestIndex < 0 || isBetter || (selectsLast && value == best);
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(best))
          takes = selectsLast && std::isnan(value);
        else if (std::isnan(value))
          takes = true;
      }
      if (takes) {
        best = value;
        bestIndex = index;
      }
      ++index;
    }
  };
  State init;
  init.selectsLast = selectsLast;
  const Reduction reduction(dims, folded);
  reduction.run<T>(ctx, x, init,
                   [&](std::int64_t result, const State& state) { storeOne(y, result, state.bestIndex); });
  return Status::ok();
}

Status argMaxKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) { return argReduce<true, decltype(zero)>(ctx); });
}
Status argMinKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) { return argReduce<false, decltype(zero)>(ctx); });
}
const RegisterKernel kArgMaxKernel("", "ArgMax", argMaxKernel);
const RegisterKernel kArgMinKernel("", "ArgMin", argMinKernel);

}  // namespace
}  // namespace rota::ref
