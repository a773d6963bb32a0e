// SPDX-License-Identifier: Apache-2.0
// Attention of the default domain: bias from mask, causality, windows and valid lengths; cache in and out; heads packed or apart.
// Tested by src/ref/attention_test.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/check.h"
#include "ref/attention_core.h"
#include "ref/blocks.h"

namespace rota::ref {

namespace {

constexpr double kDisallowed = -std::numeric_limits<double>::infinity();

class OnnxAttention final : public AttentionHooks {
 public:
  explicit OnnxAttention(KernelContext& ctx) : ctx_(ctx) {}

  Status run() {
    ROTA_RETURN_IF_ERROR(readShapes());
    auto mask = AttentionMask::make(ctx_.input(3), p_);
    if (!mask) return mask.status();
    mask_ = *mask;
    p_.q = {ctx_.input(0), headStrides(ctx_.input(0), p_.heads, p_.queries, p_.headSize)};
    auto k = keysOrValues(1, p_.headSize);
    if (!k) return k.status();
    auto v = keysOrValues(2, p_.valueSize);
    if (!v) return v.status();
    p_.k = *k;
    p_.v = *v;
    return attend(ctx_, p_, *this);
  }

  bool addBias(std::int64_t b, std::int64_t h, std::int64_t i, double* bias) const override {
    if (mask_.isGiven()) mask_.add(b, h, i, bias);
    const std::int64_t valid = validKeys(b);
    const std::int64_t position = i + offset(b);  // of the query among the keys
    std::int64_t first = left_ < 0 ? 0 : position - left_;
    std::int64_t last = right_ < 0 ? p_.keys - 1 : position + right_;
    if (causal_) last = std::min(last, position);
    last = std::min(last, valid - 1);
    first = std::clamp<std::int64_t>(first, 0, p_.keys);
    last = std::clamp<std::int64_t>(last, -1, p_.keys - 1);
    std::fill(bias, bias + first, kDisallowed);
    std::fill(bias + last + 1, bias + p_.keys, kDisallowed);
    return mask_.isGiven() || first > 0 || last < p_.keys - 1;
  }

  void observe(AttentionStage stage, std::int64_t b, std::int64_t h, std::int64_t i,
               const double* row) const override {
    if (stage == stage_ && ctx_.hasOutput(3))
      storeBlock(ctx_.output(3), ((b * p_.heads + h) * p_.queries + i) * p_.keys, p_.keys, row);
  }

  void store(std::int64_t b, std::int64_t h, std::int64_t i, const double* row) const override {
    storeBlock(ctx_.output(0), outStrides_.at(b, h, i), p_.valueSize, row);
  }

 private:
  static HeadStrides headStrides(const TensorView& view, std::int64_t heads, std::int64_t rows,
                                 std::int64_t size) {
    return view.rank() == 3 ? HeadStrides::rowMajor(heads, rows, size)
                            : HeadStrides::headMajor(heads, rows, size);
  }
  // Input `i` (keys 1, values 2) behind its cache (input i + 3): as it lies there, or joined in scratch memory.
  Result<AttentionHeads> keysOrValues(std::size_t i, std::int64_t size) {
    const TensorView now = ctx_.input(i), past = ctx_.input(i + 3);
    if (!past.isGiven() && !ctx_.hasOutput(i))
      return AttentionHeads(now, headStrides(now, p_.kvHeads, p_.keys, size));
    const HeadStrides joined = HeadStrides::headMajor(p_.kvHeads, p_.keys, size);
    auto rows = joinHeads(ctx_, past, now, p_.kvHeads);
    if (!rows) return rows.status();
    if (ctx_.hasOutput(i)) storeBlock(ctx_.output(i), 0, p_.batch * p_.kvHeads * p_.keys * size, *rows);
    return AttentionHeads(*rows, joined);
  }
  std::int64_t validKeys(std::int64_t b) const {
    return ctx_.hasInput(6) ? intAt(ctx_.input(6), b) : p_.keys;
  }
  // Keys before the first query.
  std::int64_t offset(std::int64_t b) const {
    return ctx_.hasInput(6) ? validKeys(b) - p_.queries : pastRows_;
  }
  Status readShapes();

  KernelContext& ctx_;
  AttentionProblem p_;
  AttentionMask mask_;
  AttentionStage stage_ = AttentionStage::kScaled;
  HeadStrides outStrides_;
  std::int64_t pastRows_ = 0;
  std::int64_t left_ = -1;
  std::int64_t right_ = -1;
  bool causal_ = false;
};

Status OnnxAttention::readShapes() {
  const Attributes& attributes = ctx_.attributes();
  const TensorView q = ctx_.input(0), k = ctx_.input(1), v = ctx_.input(2);
  const bool packed = q.rank() == 3;
  if ((q.rank() != 3 && q.rank() != 4) || k.rank() != q.rank() || v.rank() != q.rank()) {
    return Status(ErrorCode::kShapeMismatch, "Q, K and V must have the same rank").expected("rank 3 or 4");
  }
  p_.batch = q.dims[0];
  p_.heads = packed ? attributes.getInt("q_num_heads") : q.dims[1];
  p_.kvHeads = packed ? attributes.getInt("kv_num_heads") : k.dims[1];
  if (p_.heads < 1 || p_.kvHeads < 1 ||
      (packed && (q.dims[2] % p_.heads != 0 || k.dims[2] % p_.kvHeads != 0 || v.dims[2] % p_.kvHeads != 0))) {
    return Status(ErrorCode::kBadAttribute, "'q_num_heads' and 'kv_num_heads' do not divide Q, K and V")
        .expected("numbers of heads that divide the last axes")
        .found(std::to_string(p_.heads) + " and " + std::to_string(p_.kvHeads));
  }
  p_.queries = q.dims[packed ? 1 : 2];
  const std::int64_t newKeys = k.dims[packed ? 1 : 2];
  p_.headSize = packed ? q.dims[2] / p_.heads : q.dims[3];
  p_.valueSize = packed ? v.dims[2] / p_.kvHeads : v.dims[3];
  const std::int64_t keySize = packed ? k.dims[2] / p_.kvHeads : k.dims[3];
  const bool pastFits = ctx_.hasInput(4) == ctx_.hasInput(5) &&
                        (!ctx_.hasInput(4) || (ctx_.input(4).rank() == 4 && ctx_.input(5).rank() == 4 &&
                                               ctx_.input(4).dims[2] == ctx_.input(5).dims[2]));
  if (keySize != p_.headSize || k.dims[0] != p_.batch || v.dims[0] != p_.batch ||
      v.dims[packed ? 1 : 2] != newKeys || (!packed && v.dims[1] != p_.kvHeads) || !pastFits ||
      (ctx_.hasInput(6) && ctx_.input(6).count() != p_.batch)) {
    return Status(ErrorCode::kShapeMismatch, "Q, K, V and the cache of the attention do not fit each other")
        .expected("equal batch sizes, head sizes of Q and K and lengths of K and V");
  }
  pastRows_ = ctx_.hasInput(4) ? ctx_.input(4).dims[2] : 0;
  p_.keys = pastRows_ + newKeys;
  p_.scale = attributes.has("scale") ? attributes.getFloat("scale")
                                     : 1 / std::sqrt(static_cast<double>(p_.headSize));
  p_.softcap = attributes.getFloat("softcap", 0);
  causal_ = attributes.getInt("is_causal") != 0;
  left_ = attributes.getInt("left_window_size", -1);
  right_ = attributes.getInt("right_window_size", -1);
  const std::int64_t mode = attributes.getInt("qk_matmul_output_mode");
  if (mode < 0 || mode > 3) {
    return Status(ErrorCode::kBadAttribute, "'qk_matmul_output_mode' has an unknown value")
        .expected("0 to 3")
        .found(std::to_string(mode));
  }
  stage_ = static_cast<AttentionStage>(mode);
  outStrides_ = packed ? HeadStrides::rowMajor(p_.heads, p_.queries, p_.valueSize)
                       : HeadStrides::headMajor(p_.heads, p_.queries, p_.valueSize);
  return Status::ok();
}

Status attention(KernelContext& ctx) { return OnnxAttention(ctx).run(); }

const RegisterKernel kAttention("", "Attention", attention);
const RegisterKernel kFlexAttention("ai.onnx.preview", "FlexAttention", attention);

}  // namespace

}  // namespace rota::ref
