// SPDX-License-Identifier: Apache-2.0
// Block-wise reading under NumPy broadcasting, and the loops of pointwise kernels on top of it.
//
// A pointwise kernel is a lambda over values of the compute type: `mapUnary<double>(ctx, [](double x) { … })`. Blocks of inputs are loaded
// through the dtype table, the lambda runs over them, and the block is stored with one rounding. There is one loop per lambda and compute type.
// Tested by src/ref/pointwise_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "core/element_access.h"
#include "ref/common.h"

namespace rota::ref {

inline void loadValues(const TensorView& view, std::int64_t begin, std::int64_t n, double* out) {
  loadAsDouble(view, begin, n, out);
}
inline void loadValues(const TensorView& view, std::int64_t begin, std::int64_t n, std::int64_t* out) {
  loadAsInt64(view, begin, n, out);
}
inline void loadValues(const TensorView& view, std::int64_t begin, std::int64_t n, std::uint64_t* out) {
  loadAsUInt64(view, begin, n, out);
}
inline void storeValues(const MutableTensorView& view, std::int64_t begin, std::int64_t n, const double* in) {
  storeFromDouble(view, begin, n, in);
}
inline void storeValues(const MutableTensorView& view, std::int64_t begin, std::int64_t n,
                        const std::int64_t* in) {
  storeFromInt64(view, begin, n, in);
}
inline void storeValues(const MutableTensorView& view, std::int64_t begin, std::int64_t n,
                        const std::uint64_t* in) {
  storeFromUInt64(view, begin, n, in);
}

/// One element as T.
template <typename T> T loadOne(const TensorView& view, std::int64_t i) {
  T value{};
  loadValues(view, i, 1, &value);
  return value;
}
template <typename T> void storeOne(const MutableTensorView& view, std::int64_t i, T value) {
  storeValues(view, i, 1, &value);
}

/// Reads a tensor broadcast to the dims of an output, block by block in the output's order. Adjacent dims that one stride covers are merged,
/// so the common cases are one bulk load or one fill.
class BroadcastReader {
 public:
  BroadcastReader() = default;
  BroadcastReader(const TensorView& view, Dims outDims);
  /// Elements [begin, begin + n) of the broadcast tensor.
  void load(std::int64_t begin, std::int64_t n, double* out) const;
  void load(std::int64_t begin, std::int64_t n, std::int64_t* out) const;
  void load(std::int64_t begin, std::int64_t n, std::uint64_t* out) const;

 private:
  template <typename T> void loadAs(std::int64_t begin, std::int64_t n, T* out) const;

  TensorView view_;
  DimArray dims_;
  DimArray strides_;
};

/// An error unless every given input and output 0 has numbers that compute in int64, uint64 or double.
Status requireReal(const KernelContext& ctx);

/// Calls `action(T{})` with the compute type of `dtype`; an error for strings and complex numbers.
template <typename Action> Status byComputeType(DType dtype, const Action& action) {
  switch (info(dtype).compute) {
    case ComputeType::kDouble: return action(double{});
    case ComputeType::kInt64: return action(std::int64_t{});
    case ComputeType::kUInt64: return action(std::uint64_t{});
    default: break;
  }
  return Status(ErrorCode::kUnsupportedType, "The operator does not compute with this element type")
      .found(info(dtype).name);
}

/// Calls `body(begin, n)` for blocks of at most kBlock elements that cover [0, count), in parallel.
template <typename Body> void forBlocks(const KernelContext& ctx, std::int64_t count, const Body& body) {
  ctx.threads().parallelFor(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; b += kBlock) body(b, std::min(kBlock, end - b));
  });
}

/// What a predicate's bool is stored as.
template <typename R> using StoredValue = std::conditional_t<std::is_same_v<R, bool>, std::int64_t, R>;

/// output 0 = f(input 0), computed in T.
template <typename T, typename F> Status mapUnary(KernelContext& ctx, const F& f) {
  using R = StoredValue<decltype(f(T{}))>;
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<T, kBlock> in;
    std::array<R, kBlock> out;
    loadValues(x, begin, n, in.data());
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      out[k] = static_cast<R>(f(in[k]));
    }
    storeValues(y, begin, n, out.data());
  });
  return Status::ok();
}

/// output 0 = f(input 0, input 1) under broadcasting, computed in A and B.
template <typename A, typename B = A, typename F> Status mapBinary(KernelContext& ctx, const F& f) {
  using R = StoredValue<decltype(f(A{}, B{}))>;
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const MutableTensorView y = ctx.output(0);
  const BroadcastReader left(ctx.input(0), y.dims);
  const BroadcastReader right(ctx.input(1), y.dims);
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<A, kBlock> a;
    std::array<B, kBlock> b;
    std::array<R, kBlock> out;
    left.load(begin, n, a.data());
    right.load(begin, n, b.data());
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      out[k] = static_cast<R>(f(a[k], b[k]));
    }
    storeValues(y, begin, n, out.data());
  });
  return Status::ok();
}

/// output 0 = finish(f folded over all inputs from left to right) under broadcasting, computed in T.
template <typename T, typename F, typename Finish>
Status foldInputs(KernelContext& ctx, const F& f, const Finish& finish) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const MutableTensorView y = ctx.output(0);
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<T, kBlock> out;
    std::array<T, kBlock> next;
    BroadcastReader(ctx.input(0), y.dims).load(begin, n, out.data());
    for (std::size_t input = 1; input < ctx.inputCount(); ++input) {
      BroadcastReader(ctx.input(input), y.dims).load(begin, n, next.data());
      for (std::int64_t i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        out[k] = f(out[k], next[k]);
      }
    }
    for (std::int64_t i = 0; i < n; ++i)
      out[static_cast<std::size_t>(i)] = finish(out[static_cast<std::size_t>(i)]);
    storeValues(y, begin, n, out.data());
  });
  return Status::ok();
}

// Integer arithmetic that wraps.
inline double wrappingAdd(double a, double b) { return a + b; }
inline double wrappingSub(double a, double b) { return a - b; }
inline double wrappingMul(double a, double b) { return a * b; }
inline std::uint64_t wrappingAdd(std::uint64_t a, std::uint64_t b) { return a + b; }
inline std::uint64_t wrappingSub(std::uint64_t a, std::uint64_t b) { return a - b; }
inline std::uint64_t wrappingMul(std::uint64_t a, std::uint64_t b) { return a * b; }
inline std::int64_t wrappingAdd(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrappingSub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t wrappingMul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// The larger and smaller of two values; a NaN wins.
template <typename T> T maxWithNan(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return a;
    if (b != b) return b;
  }
  return a < b ? b : a;
}
template <typename T> T minWithNan(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return a;
    if (b != b) return b;
  }
  return b < a ? b : a;
}

}  // namespace rota::ref
