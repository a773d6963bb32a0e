// SPDX-License-Identifier: Apache-2.0
// LinearAttention and CausalConvWithState: the two recurrences of state-space and gated-delta models, token by token in double.
// Tested by src/ref/linear_attention_test.cpp.
#include <algorithm>
#include <cmath>
#include <string>

#include "ref/attention_core.h"
#include "ref/blocks.h"
#include "ref/common.h"

namespace rota::ref {

namespace {

struct LinearAttentionProblem {
  std::int64_t batch = 0, steps = 0, heads = 0, kvHeads = 0, keySize = 0, valueSize = 0;
  double scale = 1;
  bool gated = false, delta = false;
  std::int64_t decaySize = 0, betaSize = 0;  // last axes
  const double *q = nullptr, *k = nullptr, *v = nullptr, *decay = nullptr, *beta = nullptr;
};

// One key head: the state [keySize, valueSize] runs over the tokens; the query heads of the group read it.
class LinearAttentionHead {
 public:
  LinearAttentionHead(const LinearAttentionProblem& problem, double* state, double* work)
      : p_(problem),
        state_(state),
        work_(work) {}
  void run(std::int64_t b, std::int64_t h, const MutableTensorView& y) const {
    const std::int64_t group = p_.heads / p_.kvHeads;
    for (std::int64_t t = 0; t < p_.steps; ++t) {
      step(b * p_.steps + t, h);
      for (std::int64_t g = h * group; g < (h + 1) * group; ++g) {
        const double* q = p_.q + ((b * p_.steps + t) * p_.heads + g) * p_.keySize;
        std::fill(work_, work_ + p_.valueSize, 0.0);
        for (std::int64_t d = 0; d < p_.keySize; ++d) {
          for (std::int64_t m = 0; m < p_.valueSize; ++m) work_[m] += q[d] * state_[d * p_.valueSize + m];
        }
        for (std::int64_t m = 0; m < p_.valueSize; ++m) work_[m] *= p_.scale;
        storeBlock(y, ((b * p_.steps + t) * p_.heads + g) * p_.valueSize, p_.valueSize, work_);
      }
    }
  }

 private:
  void step(std::int64_t token, std::int64_t h) const {
    const double* k = p_.k + (token * p_.kvHeads + h) * p_.keySize;
    const double* v = p_.v + (token * p_.kvHeads + h) * p_.valueSize;
    if (p_.gated) {
      const bool perHead = p_.decaySize == p_.kvHeads;
      for (std::int64_t d = 0; d < p_.keySize; ++d) {
        const double g = std::exp(p_.decay[token * p_.decaySize + (perHead ? h : h * p_.keySize + d)]);
        for (std::int64_t m = 0; m < p_.valueSize; ++m) state_[d * p_.valueSize + m] *= g;
      }
    }
    std::copy(v, v + p_.valueSize, work_);
    if (p_.delta) {
      for (std::int64_t d = 0; d < p_.keySize; ++d) {
        for (std::int64_t m = 0; m < p_.valueSize; ++m) work_[m] -= k[d] * state_[d * p_.valueSize + m];
      }
      const double beta = p_.beta[token * p_.betaSize + (p_.betaSize == 1 ? 0 : h)];
      for (std::int64_t m = 0; m < p_.valueSize; ++m) work_[m] *= beta;
    }
    for (std::int64_t d = 0; d < p_.keySize; ++d) {
      for (std::int64_t m = 0; m < p_.valueSize; ++m) state_[d * p_.valueSize + m] += k[d] * work_[m];
    }
  }

  const LinearAttentionProblem& p_;
  double* state_;
  double* work_;
};

Result<LinearAttentionProblem> linearAttentionProblem(const KernelContext& ctx) {
  LinearAttentionProblem p;
  const Attributes& attributes = ctx.attributes();
  p.heads = attributes.getInt("q_num_heads");
  p.kvHeads = attributes.getInt("kv_num_heads");
  const std::string_view rule = attributes.getString("update_rule", "gated_delta");
  p.gated = rule == "gated" || rule == "gated_delta";
  p.delta = rule == "delta" || rule == "gated_delta";
  if (!p.gated && !p.delta && rule != "linear") {
    return Status(ErrorCode::kBadAttribute, "'update_rule' has an unknown value")
        .expected("linear, gated, delta or gated_delta")
        .found(std::string(rule));
  }
  const Dims q = ctx.input(0).dims, k = ctx.input(1).dims, v = ctx.input(2).dims;
  if (p.heads < 1 || p.kvHeads < 1 || p.heads % p.kvHeads != 0 || q.size() != 3 || k.size() != 3 ||
      v.size() != 3 || q[2] % p.heads != 0 || v[2] % p.kvHeads != 0 || k[2] != q[2] / p.heads * p.kvHeads ||
      k[0] != q[0] || k[1] != q[1] || v[0] != q[0] || v[1] != q[1]) {
    return Status(ErrorCode::kShapeMismatch,
                  "Query, key and value of the linear attention do not fit the heads")
        .expected("[B, T, heads * size], the query heads a multiple of the key heads")
        .found(dimsText(q) + ", " + dimsText(k) + " and " + dimsText(v));
  }
  p.batch = q[0], p.steps = q[1], p.keySize = q[2] / p.heads, p.valueSize = v[2] / p.kvHeads;
  const double scale = attributes.getFloat("scale", 0);
  p.scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(p.keySize)) : scale;
  if (p.gated != ctx.hasInput(4) || p.delta != ctx.hasInput(5)) {
    return Status(ErrorCode::kMissingInput, "The update rule decides which of 'decay' and 'beta' are given")
        .expected("decay for gated rules and beta for delta rules, no others")
        .found(std::string(rule));
  }
  const std::int64_t tokens = p.batch * p.steps;
  if (p.gated) p.decaySize = ctx.input(4).dims.empty() ? 0 : ctx.input(4).dims.back();
  if (p.delta) p.betaSize = ctx.input(5).dims.empty() ? 0 : ctx.input(5).dims.back();
  if ((p.gated && ((p.decaySize != p.kvHeads && p.decaySize != p.kvHeads * p.keySize) ||
                   ctx.input(4).count() != tokens * p.decaySize)) ||
      (p.delta &&
       ((p.betaSize != p.kvHeads && p.betaSize != 1) || ctx.input(5).count() != tokens * p.betaSize)) ||
      (ctx.hasInput(3) && ctx.input(3).count() != p.batch * p.kvHeads * p.keySize * p.valueSize)) {
    return Status(ErrorCode::kShapeMismatch,
                  "State, decay or beta of the linear attention do not fit the heads");
  }
  return p;
}

Status linearAttention(KernelContext& ctx) {
  auto problem = linearAttentionProblem(ctx);
  if (!problem) return problem.status();
  LinearAttentionProblem& p = *problem;
  const double** targets[5] = {&p.q, &p.k, &p.v, &p.decay, &p.beta};
  constexpr std::size_t kInputs[5] = {0, 1, 2, 4, 5};
  for (std::size_t i = 0; i < 5; ++i) {
    auto values = loadAll(ctx, ctx.input(kInputs[i]));
    if (!values) return values.status();
    *targets[i] = *values;
  }
  const std::int64_t stateSize = p.keySize * p.valueSize;
  const std::int64_t heads = p.batch * p.kvHeads;
  auto work = ctx.scratch<double>(heads * (stateSize + p.valueSize));
  if (!work) return work.status();
  ctx.threads().parallelFor(heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      double* state = *work + i * (stateSize + p.valueSize);
      std::fill(state, state + stateSize, 0.0);
      if (ctx.hasInput(3)) loadBlock(ctx.input(3), i * stateSize, stateSize, state);
      LinearAttentionHead(p, state, state + stateSize).run(i / p.kvHeads, i % p.kvHeads, ctx.output(0));
      if (ctx.hasOutput(1)) storeBlock(ctx.output(1), i * stateSize, stateSize, state);
    }
  });
  return Status::ok();
}

Status causalConvWithState(KernelContext& ctx) {
  const TensorView x = ctx.input(0), w = ctx.input(1), past = ctx.input(3);
  const std::string_view activation = ctx.attributes().getString("activation", "none");
  const bool silu = activation == "silu" || activation == "swish";
  if (!silu && activation != "none") {
    return Status(ErrorCode::kBadAttribute, "'activation' has an unknown value")
        .expected("none, silu or swish")
        .found(std::string(activation));
  }
  if (x.rank() != 3 || w.rank() != 3 || w.dims[0] != x.dims[1] || w.dims[1] != 1 || w.dims[2] < 1 ||
      (ctx.hasInput(2) && ctx.input(2).count() != x.dims[1]) ||
      (past.isGiven() && past.count() != x.dims[0] * x.dims[1] * (w.dims[2] - 1))) {
    return Status(ErrorCode::kShapeMismatch, "The inputs of the causal convolution do not fit each other")
        .expected("input [B, C, L], weight [C, 1, k], bias [C], past_state [B, C, k - 1]");
  }
  const std::int64_t channels = x.dims[1], length = x.dims[2], kernel = w.dims[2],
                     padded = length + kernel - 1;
  auto weights = loadAll(ctx, w);
  if (!weights) return weights.status();
  auto bias = loadAll(ctx, ctx.input(2));
  if (!bias) return bias.status();
  const std::int64_t rows = x.dims[0] * channels;
  auto work = ctx.scratch<double>(rows * (padded + length));
  if (!work) return work.status();
  ctx.threads().parallelFor(rows, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      double* samples = *work + row * (padded + length);
      double* result = samples + padded;
      std::fill(samples, samples + kernel - 1, 0.0);
      if (past.isGiven()) loadBlock(past, row * (kernel - 1), kernel - 1, samples);
      loadBlock(x, row * length, length, samples + kernel - 1);
      const double* taps = *weights + row % channels * kernel;
      for (std::int64_t t = 0; t < length; ++t) {
        double sum = 0;
        for (std::int64_t k = 0; k < kernel; ++k) sum += samples[t + k] * taps[k];
        sum += *bias == nullptr ? 0 : (*bias)[row % channels];
        result[t] = silu ? sum / (1 + std::exp(-sum)) : sum;
      }
      storeBlock(ctx.output(0), row * length, length, result);
      if (ctx.hasOutput(1)) storeBlock(ctx.output(1), row * (kernel - 1), kernel - 1, samples + length);
    }
  });
  return Status::ok();
}

const RegisterKernel kLinearAttention("", "LinearAttention", linearAttention);
const RegisterKernel kCausalConvWithState("", "CausalConvWithState", causalConvWithState);

}  // namespace

}  // namespace rota::ref
