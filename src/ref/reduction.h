// SPDX-License-Identifier: Apache-2.0
// Folding a tensor along any set of axes.
//
// Adjacent dims of one kind (kept or folded) are merged, which leaves runs: where the innermost dim is folded, a run of the input goes into one
// result; where it is kept, a block of neighbouring results is folded at once, row by row. Either way memory is read in order, results are
// split over threads, and each result is folded in index order, so bits do not depend on the number of threads.
// Tested by src/op/reduction_test.cpp.
#pragma once

#include "ref/broadcast.h"

namespace rota::ref {

class Reduction {
 public:
  /// Folds the dims `d` with `folded[d]` of a dense tensor of `dims`.
  Reduction(Dims dims, const std::array<bool, kMaxRank>& folded);

  /// Results, in row-major order of the kept dims.
  std::int64_t results() const { return results_; }
  /// Elements in each result.
  std::int64_t perResult() const { return perResult_; }

  /// Folds `view`: State has `void add(T)`; `init` is its start. Calls `emit(result, state)` once for each result, from several threads.
  template <typename T, typename State, typename Emit>
  void run(const KernelContext& ctx, const TensorView& view, const State& init, const Emit& emit) const {
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, perResult_));
    if (innerIsKept_) {
      // Parts must not cut runs into single results, or reading would no longer be in order.
      constexpr std::int64_t kMinRun = 64;
      ctx.threads().parallelFor(
          results_, std::max(grain, kMinRun),
          [&](std::int64_t begin, std::int64_t end) { foldRows<T>(view, init, begin, end, emit); });
    } else {
      ctx.threads().parallelFor(results_, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t result = begin; result < end; ++result) foldRun<T>(view, init, result, emit);
      });
    }
  }

 private:
  static constexpr std::int64_t kRows = 128;  ///< Neighbouring results that are folded at once.

  static std::int64_t offsetOf(const DimArray& dims, const DimArray& strides, std::int64_t linear);

  template <typename T, typename State, typename Emit>
  void foldRun(const TensorView& view, const State& init, std::int64_t result, const Emit& emit) const {
    State state = init;
    std::array<T, kBlock> values;
    const std::int64_t base = offsetOf(keptDims_, keptStrides_, result);
    const std::int64_t run = foldedDims_.rank() == 0 ? 1 : foldedDims_[foldedDims_.rank() - 1];
    for (std::int64_t done = 0; done < perResult_; done += run) {
      const std::int64_t start = base + offsetOf(foldedDims_, foldedStrides_, done);
      for (std::int64_t b = 0; b < run; b += kBlock) {
        const std::int64_t n = std::min(kBlock, run - b);
        loadValues(view, start + b, n, values.data());
        for (std::int64_t i = 0; i < n; ++i) state.add(values[static_cast<std::size_t>(i)]);
      }
    }
    emit(result, state);
  }

  template <typename T, typename State, typename Emit>
  void foldRows(const TensorView& view, const State& init, std::int64_t begin, std::int64_t end,
                const Emit& emit) const {
    const std::int64_t inner = keptDims_[keptDims_.rank() - 1];
    std::array<T, kRows> values;
    std::array<State, kRows> states;
    for (std::int64_t first = begin; first < end;) {
      const std::int64_t n = std::min({kRows, end - first, inner - first % inner});
      const std::int64_t base = offsetOf(keptDims_, keptStrides_, first);
      std::fill_n(states.begin(), n, init);
      for (std::int64_t element = 0; element < perResult_; ++element) {
        loadValues(view, base + offsetOf(foldedDims_, foldedStrides_, element), n, values.data());
        for (std::int64_t i = 0; i < n; ++i)
          states[static_cast<std::size_t>(i)].add(values[static_cast<std::size_t>(i)]);
      }
      for (std::int64_t i = 0; i < n; ++i) emit(first + i, states[static_cast<std::size_t>(i)]);
      first += n;
    }
  }

  DimArray keptDims_;
  DimArray keptStrides_;
  DimArray foldedDims_;
  DimArray foldedStrides_;
  std::int64_t results_ = 1;
  std::int64_t perResult_ = 1;
  bool innerIsKept_ = false;
};

/// Which dims of input 0 a reduction folds: attribute `axes`, or input 1, or all; `noop_with_empty_axes` makes "none given" mean none.
Result<std::array<bool, kMaxRank>> foldedAxes(const KernelContext& ctx);
/// Dims of the result: folded dims are 1, or gone without `keepdims`.
DimArray reducedDims(Dims dims, const std::array<bool, kMaxRank>& folded, bool keepDims);

}  // namespace rota::ref
