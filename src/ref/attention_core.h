// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention in double, shared by Attention and its com.microsoft relatives.
//
// Query rows are taken in blocks of 64: scores = Q * K' for the block, then scale, cap, bias and softmax row by row, then scores * V. A wave of
// blocks runs in parallel, as many as fit a bounded scratch area, so memory does not grow with the square of the sequence.
// A row in which every key is disallowed gives zeros. Tested by src/ref/attention_test.cpp.
#pragma once

#include "ref/kernel.h"

namespace rota::ref {

/// Where row `i` of head `h` of batch `b` starts: b * batch + h * head + i * row.
struct HeadStrides {
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;
  std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return b * batch + h * head + i * row;
  }
  /// [batch, heads, rows, size] and [batch, rows, heads, size].
  static HeadStrides headMajor(std::int64_t heads, std::int64_t rows, std::int64_t size) {
    return {heads * rows * size, rows * size, size};
  }
  static HeadStrides rowMajor(std::int64_t heads, std::int64_t rows, std::int64_t size) {
    return {rows * heads * size, size, heads * size};
  }
};

/// Queries, keys or values: doubles in scratch memory, or a tensor that is read where it is.
struct AttentionHeads {
  AttentionHeads() = default;
  AttentionHeads(const double* scratch, const HeadStrides& strides) : data(scratch), strides(strides) {}
  AttentionHeads(const TensorView& view, const HeadStrides& strides) : view(view), strides(strides) {}
  const double* data = nullptr;
  TensorView view{};  ///< Where there is no `data`.
  HeadStrides strides{};
};

struct AttentionProblem {
  std::int64_t batch = 0, heads = 0, kvHeads = 0, queries = 0, keys = 0, headSize = 0, valueSize = 0;
  double scale = 1;
  double softcap = 0;  ///< 0: none.
  AttentionHeads q, k,
      v;  ///< Queries of `heads` heads, keys and values of `kvHeads`; head h uses h / (heads / kvHeads).
};

/// Stages of a row of scores.
enum class AttentionStage : std::uint8_t { kScaled, kCapped, kBiased, kProbabilities };

class AttentionHooks {
 public:
  virtual ~AttentionHooks() = default;
  /// Adds to the zeroed `bias` of `keys` elements; minus infinity disallows a key. False when nothing was added.
  virtual bool addBias(std::int64_t b, std::int64_t h, std::int64_t i, double* bias) const = 0;
  /// One more logit of the softmax that belongs to no key; nothing when there is none.
  virtual const double* sink(std::int64_t h) const { return static_cast<void>(h), nullptr; }
  /// Sees every row of scores at each stage.
  virtual void observe(AttentionStage stage, std::int64_t b, std::int64_t h, std::int64_t i,
                       const double* row) const {
    static_cast<void>(stage), static_cast<void>(b), static_cast<void>(h), static_cast<void>(i),
        static_cast<void>(row);
  }
  virtual void store(std::int64_t b, std::int64_t h, std::int64_t i, const double* row) const = 0;
};

Status attend(KernelContext& ctx, const AttentionProblem& problem, const AttentionHooks& hooks);

/// A mask of any rank up to 4, broadcast from the right to [batch, heads, queries, keys]. A last axis that is shorter than `keys` disallows the rest.
class AttentionMask {
 public:
  /// kShapeMismatch when it does not broadcast. A view that is not given adds nothing.
  static Result<AttentionMask> make(const TensorView& view, const AttentionProblem& problem);
  bool isGiven() const { return view_.isGiven(); }
  void add(std::int64_t b, std::int64_t h, std::int64_t i, double* bias) const;

 private:
  TensorView view_{};
  std::int64_t strides_[3] = {0, 0, 0};
  std::int64_t width_ = 0;
  std::int64_t keys_ = 0;
};

/// [batch, heads, rows, size] in scratch from `past` (may be missing) followed by `now`, along the rows.
/// Both are [batch, heads, rows, size]; `now` may be [batch, rows, heads * size] (rank 3).
Result<double*> joinHeads(KernelContext& ctx, const TensorView& past, const TensorView& now,
                          std::int64_t heads);

}  // namespace rota::ref
