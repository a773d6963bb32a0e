// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention; see attention_core.h. Tested by src/ref/attention_test.cpp.
#include "ref/attention_core.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ref/blocks.h"
#include "ref/common.h"
#include "ref/product.h"

namespace rota::ref {

namespace {

constexpr std::int64_t kQueryBlock = 64;
constexpr std::int64_t kWaveBytes = std::int64_t{64} << 20;
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Rows of one head.
class HeadOperand final : public ProductOperand<double> {
 public:
  HeadOperand(const AttentionHeads& heads, std::int64_t start, bool alongDepth)
      : ProductOperand(alongDepth),
        heads_(heads),
        start_(start) {}
  void load(std::int64_t, std::int64_t line, std::int64_t begin, std::int64_t count,
            double* out) const override {
    const std::int64_t from = start_ + line * heads_.strides.row + begin;
    if (heads_.data != nullptr) {
      std::copy(heads_.data + from, heads_.data + from + count, out);
    } else {
      loadBlock(heads_.view, from, count, out);
    }
  }

 private:
  const AttentionHeads& heads_;
  std::int64_t start_;
};

class AttentionRun {
 public:
  AttentionRun(KernelContext& ctx, const AttentionProblem& problem, const AttentionHooks& hooks)
      : ctx_(ctx),
        p_(problem),
        hooks_(hooks) {}

  Status run() {
    const std::int64_t blocks = (p_.queries + kQueryBlock - 1) / kQueryBlock;
    const std::int64_t items = p_.batch * p_.heads * blocks;
    const std::int64_t slotSize = kQueryBlock * p_.keys + p_.keys + kQueryBlock * p_.valueSize;
    const std::int64_t fitting =
        kWaveBytes / static_cast<std::int64_t>(sizeof(double)) / std::max<std::int64_t>(slotSize, 1);
    const std::int64_t wave = std::min(items, std::max<std::int64_t>(fitting, 1));
    auto memory = ctx_.scratch<double>(wave * slotSize);
    if (!memory) return memory.status();
    double* const base = *memory;
    for (std::int64_t first = 0; first < items; first += wave) {
      ctx_.threads().parallelFor(std::min(wave, items - first), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t slot = begin; slot < end; ++slot) {
          const std::int64_t item = first + slot;
          const std::int64_t head = item / blocks;
          const std::int64_t row = item % blocks * kQueryBlock;
          runBlock(head / p_.heads, head % p_.heads, row, std::min(kQueryBlock, p_.queries - row),
                   base + slot * slotSize);
        }
      });
    }
    return Status::ok();
  }

 private:
  void runBlock(std::int64_t b, std::int64_t h, std::int64_t firstRow, std::int64_t rows,
                double* memory) const {
    double* const scores = memory;
    double* const bias = scores + kQueryBlock * p_.keys;
    double* const result = bias + p_.keys;
    const std::int64_t kvHead = h / (p_.heads / p_.kvHeads);
    product<double>(ctx_.threads(), {1, rows, p_.keys, p_.headSize},
                    HeadOperand(p_.q, p_.q.strides.at(b, h, firstRow), true),
                    HeadOperand(p_.k, p_.k.strides.at(b, kvHead, 0), true),
                    ScratchSink(scores, rows, p_.keys));
    for (std::int64_t r = 0; r < rows; ++r) scoreRow(b, h, firstRow + r, scores + r * p_.keys, bias);
    product<double>(ctx_.threads(), {1, rows, p_.valueSize, p_.keys}, ScratchOperand(scores, true, p_.keys),
                    HeadOperand(p_.v, p_.v.strides.at(b, kvHead, 0), false),
                    ScratchSink(result, rows, p_.valueSize));
    for (std::int64_t r = 0; r < rows; ++r) hooks_.store(b, h, firstRow + r, result + r * p_.valueSize);
  }

  void scoreRow(std::int64_t b, std::int64_t h, std::int64_t i, double* row, double* bias) const {
    const std::int64_t n = p_.keys;
    for (std::int64_t j = 0; j < n; ++j) row[j] *= p_.scale;
    hooks_.observe(AttentionStage::kScaled, b, h, i, row);
    if (p_.softcap > 0) {
      for (std::int64_t j = 0; j < n; ++j) row[j] = p_.softcap * std::tanh(row[j] / p_.softcap);
    }
    hooks_.observe(AttentionStage::kCapped, b, h, i, row);
    std::fill(bias, bias + n, 0.0);
    bool allDisallowed = false;
    if (hooks_.addBias(b, h, i, bias)) {
      allDisallowed = std::all_of(bias, bias + n, [](double x) { return x == kMinusInfinity; });
      for (std::int64_t j = 0; j < n; ++j) row[j] += bias[j];
    }
    hooks_.observe(AttentionStage::kBiased, b, h, i, row);
    softmax(row, allDisallowed, hooks_.sink(h));
    hooks_.observe(AttentionStage::kProbabilities, b, h, i, row);
  }

  void softmax(double* row, bool allDisallowed, const double* sink) const {
    const std::int64_t n = p_.keys;
    double largest = sink != nullptr ? *sink : kMinusInfinity;
    for (std::int64_t j = 0; j < n; ++j) {
      if (row[j] > largest || std::isnan(row[j])) largest = row[j];
    }
    if (allDisallowed || largest == kMinusInfinity) {
      std::fill(row, row + n, 0.0);
      return;
    }
    double sum = sink != nullptr ? std::exp(*sink - largest) : 0;
    for (std::int64_t j = 0; j < n; ++j) sum += row[j] = std::exp(row[j] - largest);
    for (std::int64_t j = 0; j < n; ++j) row[j] /= sum;
  }

  KernelContext& ctx_;
  const AttentionProblem& p_;
  const AttentionHooks& hooks_;
};

}  // namespace

Status attend(KernelContext& ctx, const AttentionProblem& problem, const AttentionHooks& hooks) {
  if (problem.kvHeads < 1 || problem.heads % problem.kvHeads != 0) {
    return Status(ErrorCode::kShapeMismatch, "The query heads are no multiple of the key and value heads")
        .found(std::to_string(problem.heads) + " and " + std::to_string(problem.kvHeads));
  }
  return AttentionRun(ctx, problem, hooks).run();
}

Result<AttentionMask> AttentionMask::make(const TensorView& view, const AttentionProblem& problem) {
  AttentionMask mask;
  if (!view.isGiven()) return mask;
  const std::size_t rank = view.rank();
  const std::int64_t sizes[3] = {problem.batch, problem.heads, problem.queries};
  bool fits = rank >= 1 && rank <= 4 && view.dims[rank - 1] <= problem.keys;
  std::int64_t stride = fits ? view.dims[rank - 1] : 0;
  for (std::size_t d = 3; fits && d-- > 0;) {
    if (d + rank < 4) break;  // axes that the mask does not have
    const std::int64_t size = view.dims[d + rank - 4];
    fits = size == 1 || size == sizes[d];
    mask.strides_[d] = size == 1 ? 0 : stride;
    stride *= size;
  }
  if (!fits) {
    return Status(ErrorCode::kShapeMismatch, "The attention mask does not broadcast to the scores")
        .expected(dimsText(DimArray{problem.batch, problem.heads, problem.queries, problem.keys}))
        .found(dimsText(view.dims));
  }
  mask.view_ = view;
  mask.width_ = view.dims[rank - 1];
  mask.keys_ = problem.keys;
  return mask;
}

void AttentionMask::add(std::int64_t b, std::int64_t h, std::int64_t i, double* bias) const {
  constexpr std::int64_t kRun = 256;
  double values[kRun];
  const std::int64_t start = b * strides_[0] + h * strides_[1] + i * strides_[2];
  const bool isBool = view_.dtype == DType::kBool;
  for (std::int64_t done = 0; done < width_; done += kRun) {
    const std::int64_t n = std::min(kRun, width_ - done);
    loadBlock(view_, start + done, n, values);
    for (std::int64_t j = 0; j < n; ++j)
      bias[done + j] += !isBool ? values[j] : values[j] != 0 ? 0.0 : kMinusInfinity;
  }
  std::fill(bias + width_, bias + keys_, kMinusInfinity);
}

Result<double*> joinHeads(KernelContext& ctx, const TensorView& past, const TensorView& now,
                          std::int64_t heads) {
  const bool packed = now.rank() == 3;
  const std::int64_t batch = now.dims[0];
  const std::int64_t rows = now.dims[packed ? 1 : 2];
  const std::int64_t size = packed ? now.dims[2] / heads : now.dims[3];
  const std::int64_t pastRows = past.isGiven() ? past.dims[2] : 0;
  if (past.isGiven() &&
      (past.rank() != 4 || past.dims[0] != batch || past.dims[1] != heads || past.dims[3] != size)) {
    return Status(ErrorCode::kShapeMismatch, "The past keys or values do not fit the new ones")
        .expected(dimsText(DimArray{batch, heads, pastRows, size}))
        .found(dimsText(past.dims));
  }
  const std::int64_t total = pastRows + rows;
  auto memory = ctx.scratch<double>(batch * heads * total * size);
  if (!memory) return memory.status();
  double* const out = *memory;
  const HeadStrides from =
      packed ? HeadStrides::rowMajor(heads, rows, size) : HeadStrides::headMajor(heads, rows, size);
  ctx.threads().parallelFor(batch * heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      double* to = out + i * total * size;
      if (pastRows > 0) loadBlock(past, i * pastRows * size, pastRows * size, to);
      for (std::int64_t r = 0; r < rows; ++r)
        loadBlock(now, from.at(i / heads, i % heads, r), size, to + (pastRows + r) * size);
    }
  });
  return out;
}

}  // namespace rota::ref
