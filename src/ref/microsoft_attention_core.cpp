// SPDX-License-Identifier: Apache-2.0
// Masks of the attention operators of com.microsoft; see microsoft_attention_core.h. Tested by src/ref/microsoft_test.cpp.
#include "ref/microsoft_attention_core.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "ref/blocks.h"
#include "ref/common.h"

namespace rota::ref {

namespace {

// Padding masks of Attention and MultiHeadAttention: what they add to the score of a key.
class PaddingMask {
 public:
  static Result<PaddingMask> make(const TensorView& view, std::int64_t batch, std::int64_t queries,
                                  std::int64_t keys, double masked) {
    PaddingMask m;
    m.view_ = view;
    m.batch_ = batch, m.queries_ = queries, m.keys_ = keys, m.masked_ = masked;
    if (!view.isGiven()) return m;
    const Dims d = view.dims;
    const bool lengths = d.size() == 1 && (d[0] == batch || d[0] == 2 * batch);
    const bool perKey = d.size() == 2 && d[0] == batch && d[1] == keys;
    const bool perQuery = d.size() == 3 && d[0] == batch && d[1] == queries && d[2] == keys;
    const bool square = d.size() == 4 && d[0] == batch && d[1] == 1 && d[2] == d[3] && d[2] >= keys;
    if (lengths || perKey || perQuery || square) return m;
    return Status(ErrorCode::kShapeMismatch, "The attention mask has a form that is not known")
        .expected("[B], [2 B], [B, keys], [B, queries, keys] or [B, 1, M, M]")
        .found(dimsText(d));
  }
  bool isGiven() const { return view_.isGiven(); }
  void add(std::int64_t b, std::int64_t i, double* bias) const {
    for (std::int64_t j = 0; j < keys_; ++j) {
      if (!isAllowed(b, i, j)) bias[j] += masked_;
    }
  }

 private:
  bool isAllowed(std::int64_t b, std::int64_t i, std::int64_t j) const {
    const Dims d = view_.dims;
    switch (d.size()) {
      case 1:
        return j < intAt(view_, b) &&
               (d[0] == batch_ || j >= intAt(view_, batch_ + b));  // lengths, or ends and starts
      case 2: return intAt(view_, b * keys_ + j) > 0;
      case 3: return intAt(view_, (b * queries_ + i) * keys_ + j) > 0;
      default: return intAt(view_, (b * d[2] + keys_ - queries_ + i) * d[3] + j) > 0;
    }
  }

  TensorView view_;
  std::int64_t batch_ = 0, queries_ = 0, keys_ = 0;
  double masked_ = 0;
};

// Mask, additive bias and causality; output [B, S, heads * valueSize].
class MicrosoftHooks : public AttentionHooks {
 public:
  MicrosoftHooks(const AttentionProblem& problem, const MutableTensorView& y) : p_(problem), y_(y) {}
  PaddingMask padding;
  AttentionMask bias;
  bool causal = false;

  bool addBias(std::int64_t b, std::int64_t h, std::int64_t i, double* row) const override {
    if (bias.isGiven()) bias.add(b, h, i, row);
    if (padding.isGiven()) padding.add(b, i, row);
    const std::int64_t last = causal ? p_.keys - p_.queries + i : p_.keys - 1;
    std::fill(row + std::clamp<std::int64_t>(last + 1, 0, p_.keys), row + p_.keys, kNever);
    return bias.isGiven() || padding.isGiven() || causal;
  }
  void store(std::int64_t b, std::int64_t h, std::int64_t i, const double* row) const override {
    storeBlock(y_, ((b * p_.queries + i) * p_.heads + h) * p_.valueSize, p_.valueSize, row);
  }

 private:
  const AttentionProblem& p_;
  MutableTensorView y_;
};

}  // namespace

double attentionScale(const Attributes& attributes, std::int64_t headSize) {
  const double scale = attributes.getFloat("scale", 0);
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(headSize));
}

Status runMicrosoftAttention(KernelContext& ctx, AttentionProblem& p, std::size_t maskInput,
                             std::size_t biasInput) {
  MicrosoftHooks hooks(p, ctx.output(0));
  auto padding = PaddingMask::make(ctx.input(maskInput), p.batch, p.queries, p.keys,
                                   ctx.attributes().getFloat("mask_filter_value", -10000));
  if (!padding) return padding.status();
  hooks.padding = *padding;
  auto bias = AttentionMask::make(ctx.input(biasInput), p);
  if (!bias) return bias.status();
  hooks.bias = *bias;
  hooks.causal = ctx.attributes().getInt("unidirectional") != 0;
  return attend(ctx, p, hooks);
}

}  // namespace rota::ref
