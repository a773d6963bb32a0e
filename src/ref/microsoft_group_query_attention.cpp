// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention of com.microsoft: a decoder's attention with fewer key heads than query heads, a cache in a buffer, and what belongs to one
// step of decoding: normalised and rotated heads, local windows, sinks. Tested by src/ref/microsoft_test.cpp and tests/test_microsoft_operators.py.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.h"
#include "ref/blocks.h"
#include "ref/common.h"
#include "ref/microsoft_attention_core.h"
#include "ref/rotary.h"

namespace rota::ref {

namespace {

// Inputs: query, key, value, past_key, past_value, seqlens_k, total_sequence_length, cos_cache, sin_cache, position_ids, attention_bias, head_sink.
class GroupQueryAttention final : public AttentionHooks {
 public:
  explicit GroupQueryAttention(KernelContext& ctx) : ctx_(ctx), attributes_(ctx.attributes()) {}

  Status run() {
    ROTA_RETURN_IF_ERROR(readShapes());
    ROTA_RETURN_IF_ERROR(loadTokens());
    ROTA_RETURN_IF_ERROR(normaliseHeads());
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
  Status normaliseHeads();
  Status rotate();
  double* keysOf(std::int64_t token) {
    return packed_ ? rows_ + token * rowSize_ + p_.heads * p_.headSize : keys_ + token * kvRowSize_;
  }
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

// Divides every query and key head by its root mean square and scales it, where the weights are given.
Status GroupQueryAttention::normaliseHeads() {
  if (!ctx_.hasInput(14) && !ctx_.hasInput(15)) return Status::ok();
  const std::int64_t size = p_.headSize;
  if (ctx_.input(14).count() != size || ctx_.input(15).count() != size) {
    return Status(ErrorCode::kShapeMismatch, "'q_norm_weight' and 'k_norm_weight' have one element of a head")
        .expected(std::to_string(size) + " elements each")
        .found(std::to_string(ctx_.input(14).count()) + " and " + std::to_string(ctx_.input(15).count()));
  }
  auto queryWeights = loadAll(ctx_, ctx_.input(14));
  if (!queryWeights) return queryWeights.status();
  auto keyWeights = loadAll(ctx_, ctx_.input(15));
  if (!keyWeights) return keyWeights.status();
  const float shared = attributes_.getFloat("qk_norm_epsilon", 1e-6F);
  const double queryEpsilon = attributes_.getFloat("q_norm_epsilon", shared);
  const double keyEpsilon = attributes_.getFloat("k_norm_epsilon", shared);
  const auto normalise = [size](double* head, const double* weights, double epsilon) {
    double squares = 0;
    for (std::int64_t i = 0; i < size; ++i) squares += head[i] * head[i];
    const double factor = 1 / std::sqrt(squares / static_cast<double>(size) + epsilon);
    for (std::int64_t i = 0; i < size; ++i) head[i] *= factor * weights[i];
  };
  for (std::int64_t token = 0; token < p_.batch * p_.queries; ++token) {
    for (std::int64_t h = 0; h < p_.heads; ++h)
      normalise(rows_ + token * rowSize_ + h * size, *queryWeights, queryEpsilon);
    for (std::int64_t h = 0; h < p_.kvHeads; ++h)
      normalise(keysOf(token) + h * size, *keyWeights, keyEpsilon);
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
    for (std::int64_t h = 0; h < p_.kvHeads; ++h)
      rotatePairs(keysOf(token) + h * p_.headSize, 2 * half, interleaved, c, d);
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

const RegisterKernel kGroupQueryAttention("com.microsoft", "GroupQueryAttention", groupQueryAttention);

}  // namespace

}  // namespace rota::ref
