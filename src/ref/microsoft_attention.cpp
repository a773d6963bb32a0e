// SPDX-License-Identifier: Apache-2.0
// Attention, MultiHeadAttention and GroupQueryAttention of com.microsoft. Each brings queries, keys and values into scratch memory in its own way
// and shares the core. Tested by src/ref/microsoft_test.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/check.h"
#include "ref/attention_core.h"
#include "ref/blocks.h"
#include "ref/common.h"
#include "ref/product.h"
#include "ref/quantized_product.h"
#include "ref/rotary.h"

namespace rota::ref {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

void addRowBias(double* rows, std::int64_t count, std::int64_t size, const double* bias) {
  for (std::int64_t r = 0; bias != nullptr && r < count; ++r) {
    for (std::int64_t i = 0; i < size; ++i) rows[r * size + i] += bias[i];
  }
}

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

double attentionScale(const Attributes& attributes, std::int64_t headSize) {
  const double scale = attributes.getFloat("scale", 0);
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(headSize));
}

// Runs the core once queries, keys and values are in place.
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

// Rows [batch, rows, heads * size] after the first `pastRows` rows of [batch, heads, total, size]; the past is [batch, heads, pastRows, size], starting at
// element `pastBegin` of its tensor.
void gatherHeads(const double* rows, std::int64_t rowStride, const TensorView& past, std::int64_t pastBegin,
                 std::int64_t pastRows, std::int64_t batch, std::int64_t heads, std::int64_t count,
                 std::int64_t size, double* out) {
  for (std::int64_t i = 0; i < batch * heads; ++i) {
    double* to = out + i * (pastRows + count) * size;
    if (pastRows > 0) loadBlock(past, pastBegin + i * pastRows * size, pastRows * size, to);
    for (std::int64_t r = 0; r < count; ++r) {
      const double* from = rows + (i / heads * count + r) * rowStride + i % heads * size;
      std::copy(from, from + size, to + (pastRows + r) * size);
    }
  }
}

// Which input is what; the quantised form has them in another order.
struct ProjectedInputs {
  std::size_t bias, mask, past, attentionBias;
};

// Attention over projected tokens: row (b, s) of `rows` holds queries, keys and values of all heads, still without the bias.
Status attendProjected(KernelContext& ctx, double* rows, std::int64_t rowSize, const ProjectedInputs& in) {
  const Dims x = ctx.input(0).dims;
  const TensorView past = ctx.input(in.past);
  const Attributes& attributes = ctx.attributes();
  AttentionProblem p;
  p.heads = p.kvHeads = attributes.getInt("num_heads");
  if (attributes.getInt("do_rotary") != 0 || attributes.getInt("past_present_share_buffer") != 0) {
    return Status(ErrorCode::kUnsupportedOperator,
                  "Attention of com.microsoft with do_rotary or past_present_share_buffer is not supported")
        .fix("export rotary embedding as its own node, and the cache without a shared buffer");
  }
  const auto* sizes = attributes.getInts("qkv_hidden_sizes");
  const bool sized = sizes != nullptr && sizes->size() == 3;
  const std::int64_t hidden = sized ? (*sizes)[0] : rowSize / 3;
  const std::int64_t valueHidden = sized ? (*sizes)[2] : rowSize / 3;
  if (p.heads < 1 || hidden % p.heads != 0 || valueHidden % p.heads != 0 ||
      2 * hidden + valueHidden != rowSize) {
    return Status(ErrorCode::kBadAttribute, "'num_heads' or 'qkv_hidden_sizes' do not divide the weights")
        .found(std::to_string(rowSize));
  }
  p.batch = x[0], p.queries = x[1];
  p.headSize = hidden / p.heads, p.valueSize = valueHidden / p.heads;
  const std::int64_t pastRows = past.isGiven() && past.rank() == 5 ? past.dims[3] : 0;
  if (past.isGiven() && (past.rank() != 5 || p.headSize != p.valueSize ||
                         past.count() != 2 * p.batch * p.heads * pastRows * p.headSize)) {
    return Status(ErrorCode::kShapeMismatch, "The past of the attention has the wrong shape")
        .expected("[2, B, heads, P, size]")
        .found(dimsText(past.dims));
  }
  p.keys = pastRows + p.queries;
  p.scale = attentionScale(attributes, p.headSize);
  auto bias = loadAll(ctx, ctx.input(in.bias));
  if (!bias) return bias.status();
  addRowBias(rows, p.batch * p.queries, rowSize, *bias);

  const std::int64_t half = p.batch * p.heads * p.keys * p.headSize;
  auto keys = ctx.scratch<double>(half + p.batch * p.heads * p.keys * p.valueSize);
  if (!keys) return keys.status();
  double* const values = *keys + half;
  gatherHeads(rows + hidden, rowSize, past, 0, pastRows, p.batch, p.heads, p.queries, p.headSize, *keys);
  gatherHeads(rows + 2 * hidden, rowSize, past, past.isGiven() ? past.count() / 2 : 0, pastRows, p.batch,
              p.heads, p.queries, p.valueSize, values);
  if (ctx.hasOutput(1)) storeBlock(ctx.output(1), 0, ctx.output(1).count(), *keys);
  p.q = {rows, {p.queries * rowSize, p.headSize, rowSize}};
  p.k = {*keys, HeadStrides::headMajor(p.heads, p.keys, p.headSize)};
  p.v = {values, HeadStrides::headMajor(p.heads, p.keys, p.valueSize)};
  return runMicrosoftAttention(ctx, p, in.mask, in.attentionBias);
}

Status checkProjection(const KernelContext& ctx, std::size_t bias) {
  const TensorView x = ctx.input(0), w = ctx.input(1);
  if (x.rank() == 3 && w.rank() == 2 && w.dims[0] == x.dims[2] &&
      (!ctx.hasInput(bias) || ctx.input(bias).count() == w.dims[1]))
    return Status::ok();
  return Status(ErrorCode::kShapeMismatch, "Input, weights and bias of the attention do not fit each other")
      .expected("[B, S, I], [I, O] and [O]");
}

// Inputs: input, weights, bias, mask_index, past, attention_bias.
Status microsoftAttention(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(checkProjection(ctx, 2));
  const TensorView x = ctx.input(0), w = ctx.input(1);
  const std::int64_t tokens = x.dims[0] * x.dims[1], rowSize = w.dims[1];
  auto rows = ctx.scratch<double>(tokens * rowSize);
  if (!rows) return rows.status();
  product<double>(ctx.threads(), {1, tokens, rowSize, x.dims[2]}, DenseOperand<double>(x, true, x.dims[2]),
                  DenseOperand<double>(w, false, rowSize), ScratchSink(*rows, tokens, rowSize));
  return attendProjected(ctx, *rows, rowSize, {.bias = 2, .mask = 3, .past = 4, .attentionBias = 5});
}

// Inputs: input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past.
Status quantizedAttention(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(checkProjection(ctx, 2));
  const TensorView x = ctx.input(0), w = ctx.input(1);
  const std::int64_t tokens = x.dims[0] * x.dims[1], rowSize = w.dims[1];
  PerLine lines[4];
  constexpr std::size_t kInputs[4] = {3, 6, 4, 7};  // scale and zero point of the input, of the weights
  for (std::size_t i = 0; i < 4; ++i) {
    auto one = perLine(ctx, kInputs[i], 1, i < 2 ? 1 : rowSize);
    if (!one) return one.status();
    lines[i] = *one;
  }
  auto rows = ctx.scratch<double>(tokens * rowSize);
  if (!rows) return rows.status();
  const std::int64_t origin = 0;
  product<double>(ctx.threads(), {1, tokens, rowSize, x.dims[2]},
                  ZeroedOperand(x, true, x.dims[2], &origin, 0, lines[1], tokens),
                  ZeroedOperand(w, false, rowSize, &origin, 0, lines[3], rowSize),
                  ScratchSink(*rows, tokens, rowSize));
  for (std::int64_t i = 0; i < tokens * rowSize; ++i)
    (*rows)[i] *= lines[0].at(0, 1, 0, 1) * lines[2].at(0, rowSize, i % rowSize, 1);
  return attendProjected(ctx, *rows, rowSize,
                         {.bias = 2, .mask = 5, .past = 8, .attentionBias = ctx.inputCount()});
}

// [batch, heads, rows, size] in scratch from [batch, rows, heads * size] plus its part of the bias, or from a tensor that is in this form already.
Result<double*> headRows(KernelContext& ctx, const TensorView& view, std::int64_t heads, const double* bias) {
  if (view.rank() == 4) return joinHeads(ctx, {}, view, heads);
  auto rows = joinHeads(ctx, {}, view, heads);
  if (!rows) return rows.status();
  const std::int64_t count = view.dims[1], size = view.dims[2] / heads;
  for (std::int64_t i = 0; bias != nullptr && i < view.dims[0] * heads; ++i) {
    for (std::int64_t r = 0; r < count * size; ++r)
      (*rows)[i * count * size + r] += bias[i % heads * size + r % size];
  }
  return rows;
}

// The parts of a packed tensor [batch, rows, heads, parts, size] as [batch, heads, rows, size] each.
Result<double*> unpackHeads(KernelContext& ctx, const TensorView& packed, std::int64_t part) {
  const std::int64_t batch = packed.dims[0], rows = packed.dims[1], heads = packed.dims[2],
                     parts = packed.dims[3], size = packed.dims[4];
  auto memory = ctx.scratch<double>(batch * heads * rows * size);
  if (!memory) return memory.status();
  for (std::int64_t i = 0; i < batch * rows * heads; ++i) {
    const std::int64_t b = i / (rows * heads), r = i / heads % rows, h = i % heads;
    loadBlock(packed, (i * parts + part) * size, size, *memory + ((b * heads + h) * rows + r) * size);
  }
  return *memory;
}

// Puts past [batch, heads, P, size] before rows [batch, heads, rows, size].
Result<double*> prependPast(KernelContext& ctx, const TensorView& past, const double* rows,
                            std::int64_t batch, std::int64_t heads, std::int64_t count, std::int64_t size) {
  const std::int64_t pastRows = past.isGiven() ? past.dims[2] : 0;
  if (past.isGiven() && (past.rank() != 4 || past.count() != batch * heads * pastRows * size)) {
    return Status(ErrorCode::kShapeMismatch, "The past has the wrong shape")
        .expected(dimsText(DimArray{batch, heads, pastRows, size}))
        .found(dimsText(past.dims));
  }
  auto memory = ctx.scratch<double>(batch * heads * (pastRows + count) * size);
  if (!memory) return memory.status();
  for (std::int64_t i = 0; i < batch * heads; ++i) {
    double* to = *memory + i * (pastRows + count) * size;
    if (pastRows > 0) loadBlock(past, i * pastRows * size, pastRows * size, to);
    std::copy(rows + i * count * size, rows + (i + 1) * count * size, to + pastRows * size);
  }
  return *memory;
}

// Inputs: query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value.
Status multiHeadAttention(KernelContext& ctx) {
  const TensorView q = ctx.input(0), k = ctx.input(1), v = ctx.input(2);
  AttentionProblem p;
  p.heads = p.kvHeads = ctx.attributes().getInt("num_heads");
  const Status mismatch =
      Status(ErrorCode::kShapeMismatch, "Query, key and value of the attention do not fit each other")
          .expected(
              "[B, S, heads * size], or packed [B, S, heads, 3, size], keys and values [B, L, …] or [B, "
              "heads, L, size]")
          .found(dimsText(q.dims));
  const bool packedAll = q.rank() == 5 && !k.isGiven();
  const bool packedKeys = q.rank() == 3 && k.rank() == 5 && !v.isGiven();
  if (p.heads < 1 || ctx.hasInput(8) || ctx.hasInput(9) || ctx.hasOutput(3)) {
    return Status(ErrorCode::kUnsupportedOperator,
                  "MultiHeadAttention with a shared cache buffer, beams or a score output is not supported")
        .fix("export the attention without past_sequence_length, cache_indirection and qk");
  }
  if (!packedAll &&
      (q.rank() != 3 || !k.isGiven() ||
       (!packedKeys && (!v.isGiven() || k.rank() != v.rank() || (k.rank() != 3 && k.rank() != 4)))))
    return mismatch;
  if ((packedAll && (q.dims[2] != p.heads || q.dims[3] != 3)) ||
      (packedKeys && (k.dims[2] != p.heads || k.dims[3] != 2 || k.dims[0] != q.dims[0])))
    return mismatch;
  p.batch = q.dims[0], p.queries = q.dims[1];
  p.headSize = packedAll ? q.dims[4] : q.dims[2] / p.heads;
  const std::int64_t newKeys = packedAll ? p.queries : k.dims[k.rank() == 4 ? 2 : 1];
  p.valueSize = packedAll || packedKeys ? p.headSize : v.rank() == 4 ? v.dims[3] : v.dims[2] / p.heads;
  const std::int64_t keyElements = p.batch * newKeys * p.heads * p.headSize;
  if ((!packedAll && q.dims[2] % p.heads != 0) ||
      (!packedAll && k.count() != (packedKeys ? 2 : 1) * keyElements) ||
      (!packedAll && !packedKeys && v.count() != p.batch * newKeys * p.heads * p.valueSize) ||
      ctx.hasInput(6) != ctx.hasInput(7)) {
    return mismatch;
  }
  const std::int64_t hidden = p.heads * p.headSize;
  if (ctx.hasInput(3) && ctx.input(3).count() != 2 * hidden + p.heads * p.valueSize) return mismatch;
  auto bias = loadAll(ctx, ctx.input(3));
  if (!bias) return bias.status();
  const auto biasPart = [&](std::int64_t part) -> const double* {
    return *bias == nullptr ? nullptr : *bias + part * hidden;
  };
  auto queries = packedAll ? unpackHeads(ctx, q, 0) : headRows(ctx, q, p.heads, biasPart(0));
  if (!queries) return queries.status();
  auto keys = packedAll    ? unpackHeads(ctx, q, 1)
              : packedKeys ? unpackHeads(ctx, k, 0)
                           : headRows(ctx, k, p.heads, biasPart(1));
  if (!keys) return keys.status();
  auto values = packedAll    ? unpackHeads(ctx, q, 2)
                : packedKeys ? unpackHeads(ctx, k, 1)
                             : headRows(ctx, v, p.heads, biasPart(2));
  if (!values) return values.status();
  auto allKeys = prependPast(ctx, ctx.input(6), *keys, p.batch, p.heads, newKeys, p.headSize);
  if (!allKeys) return allKeys.status();
  auto allValues = prependPast(ctx, ctx.input(7), *values, p.batch, p.heads, newKeys, p.valueSize);
  if (!allValues) return allValues.status();
  p.keys = newKeys + (ctx.hasInput(6) ? ctx.input(6).dims[2] : 0);
  p.scale = attentionScale(ctx.attributes(), p.headSize);
  p.q = {*queries, HeadStrides::headMajor(p.heads, p.queries, p.headSize)};
  p.k = {*allKeys, HeadStrides::headMajor(p.heads, p.keys, p.headSize)};
  p.v = {*allValues, HeadStrides::headMajor(p.heads, p.keys, p.valueSize)};
  if (ctx.hasOutput(1)) storeBlock(ctx.output(1), 0, ctx.output(1).count(), *allKeys);
  if (ctx.hasOutput(2)) storeBlock(ctx.output(2), 0, ctx.output(2).count(), *allValues);
  return runMicrosoftAttention(ctx, p, 4, 5);
}

// Inputs: query, key, value, past_key, past_value, seqlens_k, total_sequence_length, cos_cache, sin_cache, position_ids, attention_bias, head_sink.
class GroupQueryAttention final : public AttentionHooks {
 public:
  explicit GroupQueryAttention(KernelContext& ctx) : ctx_(ctx), attributes_(ctx.attributes()) {}

  Status run() {
    ROTA_RETURN_IF_ERROR(readShapes());
    ROTA_RETURN_IF_ERROR(loadTokens());
    ROTA_RETURN_IF_ERROR(rotate());
    ROTA_RETURN_IF_ERROR(makeCache(3, 1, packed_ ? rows_ + p_.heads * p_.headSize : keys_, cacheKeys_));
    ROTA_RETURN_IF_ERROR(
        makeCache(4, 2, packed_ ? rows_ + (p_.heads + p_.kvHeads) * p_.headSize : values_, cacheValues_));
    p_.q = {rows_, {p_.queries * rowSize_, p_.headSize, rowSize_}};
    p_.k = {cacheKeys_, HeadStrides::headMajor(p_.kvHeads, p_.keys, p_.headSize)};
    p_.v = {cacheValues_, HeadStrides::headMajor(p_.kvHeads, p_.keys, p_.headSize)};
    auto bias = AttentionMask::make(ctx_.input(10), p_);
    if (!bias) return bias.status();
    bias_ = *bias;
    auto sinks = loadAll(ctx_, ctx_.input(11));
    if (!sinks) return sinks.status();
    sinks_ = *sinks;
    return attend(ctx_, p_, *this);
  }

  bool addBias(std::int64_t b, std::int64_t h, std::int64_t i, double* row) const override {
    if (bias_.isGiven()) bias_.add(b, h, i, row);
    const std::int64_t position = pastOf(b) + i;
    const std::int64_t last = std::min(causal_ ? position : p_.keys - 1, totalOf(b) - 1);
    const std::int64_t first = window_ > 0 ? position - window_ + 1 : 0;
    std::fill(row, row + std::clamp<std::int64_t>(first, 0, p_.keys), kNever);
    std::fill(row + std::clamp<std::int64_t>(last + 1, 0, p_.keys), row + p_.keys, kNever);
    return true;
  }
  const double* sink(std::int64_t h) const override {
    return sinks_ != nullptr ? sinks_ + h : smooth_ ? &zero_ : nullptr;
  }
  void store(std::int64_t b, std::int64_t h, std::int64_t i, const double* row) const override {
    storeBlock(ctx_.output(0), ((b * p_.queries + i) * p_.heads + h) * p_.headSize, p_.headSize, row);
  }

 private:
  std::int64_t totalOf(std::int64_t b) const { return intAt(ctx_.input(5), b) + 1; }
  // Valid keys before the new ones; a prompt has none, even where it is padded.
  std::int64_t pastOf(std::int64_t b) const { return isPrompt_ ? 0 : totalOf(b) - p_.queries; }

  Status readShapes();
  Status loadTokens();
  Status rotate();
  Status makeCache(std::size_t pastInput, std::size_t presentOutput, const double* rows, double*& out);

  KernelContext& ctx_;
  const Attributes& attributes_;
  AttentionProblem p_;
  AttentionMask bias_;
  const double* sinks_ = nullptr;
  const double zero_ = 0;
  bool packed_ = false, isPrompt_ = false, causal_ = true, smooth_ = false;
  std::int64_t window_ = -1;
  std::int64_t rowSize_ = 0;    // of a token of `rows_`
  std::int64_t kvRowSize_ = 0;  // of a token of keys and values
  double *rows_ = nullptr, *keys_ = nullptr, *values_ = nullptr;
  double *cacheKeys_ = nullptr, *cacheValues_ = nullptr;
};

Status GroupQueryAttention::readShapes() {
  const TensorView q = ctx_.input(0), past = ctx_.input(3);
  for (const std::size_t unsupported :
       {std::size_t{12}, std::size_t{13}, std::size_t{14}, std::size_t{15}, std::size_t{16}}) {
    if (ctx_.hasInput(unsupported)) {
      return Status(ErrorCode::kUnsupportedOperator,
                    "GroupQueryAttention with a quantised cache, fused normalisation or ragged queries is "
                    "not supported")
          .fix("export the attention without input " + std::to_string(unsupported));
    }
  }
  if (ctx_.hasOutput(3))
    return Status(ErrorCode::kUnsupportedOperator, "GroupQueryAttention with a score output is not supported")
        .fix("export it without output_qk");
  p_.heads = attributes_.getInt("num_heads");
  p_.kvHeads = attributes_.getInt("kv_num_heads");
  packed_ = !ctx_.hasInput(1);
  const std::int64_t heads = p_.heads + (packed_ ? 2 * p_.kvHeads : 0);
  if (q.rank() != 3 || p_.heads < 1 || p_.kvHeads < 1 || p_.heads % p_.kvHeads != 0 ||
      q.dims[2] % heads != 0 || ctx_.input(5).count() != q.dims[0] || ctx_.input(6).count() != 1 ||
      ctx_.hasInput(3) != ctx_.hasInput(4) || packed_ != !ctx_.hasInput(2)) {
    return Status(ErrorCode::kShapeMismatch, "The inputs of GroupQueryAttention do not fit its heads")
        .expected(
            "query [B, S, heads * size], key and value [B, S, kv_num_heads * size] or packed into the query, "
            "seqlens_k [B]");
  }
  p_.batch = q.dims[0], p_.queries = q.dims[1], p_.headSize = p_.valueSize = q.dims[2] / heads;
  rowSize_ = q.dims[2];
  kvRowSize_ = packed_ ? rowSize_ : p_.kvHeads * p_.headSize;
  if (!packed_ && (ctx_.input(1).count() != p_.batch * p_.queries * kvRowSize_ ||
                   ctx_.input(2).count() != ctx_.input(1).count())) {
    return Status(ErrorCode::kShapeMismatch, "Key and value of GroupQueryAttention do not fit the query");
  }
  const std::int64_t total = intAt(ctx_.input(6), 0);
  isPrompt_ = p_.queries == total;
  p_.keys = std::max(total, past.isGiven() && past.rank() == 4 ? past.dims[2] : 0);
  for (std::int64_t b = 0; b < p_.batch; ++b) {
    if (totalOf(b) < (isPrompt_ ? 0 : p_.queries) || totalOf(b) > p_.keys) {
      return Status(ErrorCode::kBadIndex, "'seqlens_k' holds a length that does not fit the cache")
          .expected("total lengths minus one, up to " + std::to_string(p_.keys - 1))
          .found(std::to_string(totalOf(b) - 1));
    }
  }
  p_.scale = attentionScale(attributes_, p_.headSize);
  p_.softcap = attributes_.getFloat("softcap", 0);
  window_ = attributes_.getInt("local_window_size", -1);
  causal_ = attributes_.getInt("causal", 1) != 0;
  smooth_ = attributes_.getInt("smooth_softmax") == 1;
  if (ctx_.hasInput(11) && ctx_.input(11).count() != p_.heads)
    return Status(ErrorCode::kShapeMismatch, "'head_sink' must have one element a head");
  return Status::ok();
}

Status GroupQueryAttention::loadTokens() {
  double** const targets[3] = {&rows_, &keys_, &values_};
  for (std::size_t i = 0; i < 3; ++i) {
    auto values = loadAll(ctx_, ctx_.input(i));
    if (!values) return values.status();
    *targets[i] = *values;
  }
  return Status::ok();
}

// Rotates queries and keys by the positions of their tokens.
Status GroupQueryAttention::rotate() {
  if (attributes_.getInt("do_rotary") == 0) return Status::ok();
  if (!ctx_.hasInput(7) || !ctx_.hasInput(8) || ctx_.input(7).rank() != 2 ||
      ctx_.input(7).count() != ctx_.input(8).count()) {
    return Status(ErrorCode::kMissingInput,
                  "Rotary embedding needs 'cos_cache' and 'sin_cache' of equal shape")
        .expected("[positions, half of the rotated size]");
  }
  auto cosines = loadAll(ctx_, ctx_.input(7));
  if (!cosines) return cosines.status();
  auto sines = loadAll(ctx_, ctx_.input(8));
  if (!sines) return sines.status();
  const std::int64_t positions = ctx_.input(7).dims[0], half = ctx_.input(7).dims[1];
  const bool interleaved = attributes_.getInt("rotary_interleaved") != 0;
  if (2 * half > p_.headSize || (ctx_.hasInput(9) && ctx_.input(9).count() != p_.batch * p_.queries)) {
    return Status(ErrorCode::kShapeMismatch, "Rotary caches or positions do not fit the heads");
  }
  for (std::int64_t token = 0; token < p_.batch * p_.queries; ++token) {
    const std::int64_t b = token / p_.queries, s = token % p_.queries;
    std::int64_t position = ctx_.hasInput(9) ? intAt(ctx_.input(9), token) : pastOf(b) + s;
    if (isPrompt_ && !ctx_.hasInput(9) && s >= totalOf(b))
      position = std::min<std::int64_t>(1, positions - 1);  // padding: any position
    if (position < 0 || position >= positions) {
      return Status(ErrorCode::kBadIndex, "A position is outside the rotary caches")
          .expected("0 to " + std::to_string(positions - 1))
          .found(std::to_string(position));
    }
    const double* c = *cosines + position * half;
    const double* d = *sines + position * half;
    for (std::int64_t h = 0; h < p_.heads; ++h)
      rotatePairs(rows_ + token * rowSize_ + h * p_.headSize, 2 * half, interleaved, c, d);
    double* keys = packed_ ? rows_ + token * rowSize_ + p_.heads * p_.headSize : keys_ + token * kvRowSize_;
    for (std::int64_t h = 0; h < p_.kvHeads; ++h)
      rotatePairs(keys + h * p_.headSize, 2 * half, interleaved, c, d);
  }
  return Status::ok();
}

// [batch, kvHeads, keys, headSize]: the past as it is, the new rows behind the valid ones, zeros beyond.
Status GroupQueryAttention::makeCache(std::size_t pastInput, std::size_t presentOutput, const double* rows,
                                      double*& out) {
  const TensorView past = ctx_.input(pastInput);
  const std::int64_t pastRows = past.isGiven() && past.rank() == 4 ? past.dims[2] : 0;
  if (past.isGiven() && past.count() != p_.batch * p_.kvHeads * pastRows * p_.headSize) {
    return Status(ErrorCode::kShapeMismatch, "The past has the wrong shape")
        .expected(dimsText(DimArray{p_.batch, p_.kvHeads, pastRows, p_.headSize}))
        .found(dimsText(past.dims));
  }
  auto memory = ctx_.scratch<double>(p_.batch * p_.kvHeads * p_.keys * p_.headSize);
  if (!memory) return memory.status();
  out = *memory;
  for (std::int64_t i = 0; i < p_.batch * p_.kvHeads; ++i) {
    const std::int64_t b = i / p_.kvHeads;
    double* to = out + i * p_.keys * p_.headSize;
    std::fill(to, to + p_.keys * p_.headSize, 0.0);
    if (pastRows > 0) loadBlock(past, i * pastRows * p_.headSize, pastRows * p_.headSize, to);
    for (std::int64_t s = 0; s < p_.queries && pastOf(b) + s < p_.keys; ++s) {
      const double* from = rows + (b * p_.queries + s) * kvRowSize_ + i % p_.kvHeads * p_.headSize;
      std::copy(from, from + p_.headSize, to + (pastOf(b) + s) * p_.headSize);
    }
  }
  if (ctx_.hasOutput(presentOutput))
    storeBlock(ctx_.output(presentOutput), 0, ctx_.output(presentOutput).count(), out);
  return Status::ok();
}

Status groupQueryAttention(KernelContext& ctx) { return GroupQueryAttention(ctx).run(); }

const RegisterKernel kMicrosoftAttention("com.microsoft", "Attention", microsoftAttention);
const RegisterKernel kQAttention("com.microsoft", "QAttention", quantizedAttention);
const RegisterKernel kMultiHeadAttention("com.microsoft", "MultiHeadAttention", multiHeadAttention);
const RegisterKernel kGroupQueryAttention("com.microsoft", "GroupQueryAttention", groupQueryAttention);

}  // namespace

}  // namespace rota::ref
