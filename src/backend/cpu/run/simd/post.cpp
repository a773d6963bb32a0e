// SPDX-License-Identifier: Apache-2.0
// What can follow a product or a convolution, in place over a row of its result. Tested by src/backend/cpu/run/product_test.cpp.
#include "backend/cpu/run/simd/math.h"
#include "backend/cpu/run/simd/parts.h"

namespace rota::simd::ROTA_SIMD_NAMESPACE {

namespace {

template <typename Op> ROTA_INLINE void eachVector(float* x, std::int64_t n, const Op& op) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(x + i, op(load(x + i)));
  if (i < n) storePart(x + i, op(loadPart(x + i, n - i)), n - i);
}

#define ROTA_UNARY_POST(name, expression)                                                        \
  void name(float* x, std::int64_t n, [[maybe_unused]] float alpha, [[maybe_unused]] float beta, \
            const float*, std::int64_t) {                                                        \
    eachVector(x, n, [&](F v) __attribute__((always_inline)) { return expression; });            \
  }

ROTA_INLINE F geluErfOf(F v) { return v * 0.5F * (1.0F + erfOf(v * 0.707106781F)); }
ROTA_INLINE F geluTanhOf(F v) {
  return v * 0.5F * (1.0F + tanhOf((v + v * v * v * 0.044715F) * 0.797884561F));
}
ROTA_INLINE F hardSwishOf(F v) {
  F gate = v + 3.0F;
  gate = select(gate < 0.0F, F{}, gate);
  gate = select(gate > 6.0F, splat(6.0F), gate);
  return v * gate * 0.166666667F;
}
ROTA_INLINE F clipOf(F v, float low, float high) {
  v = select(v < low, splat(low), v);
  return select(v > high, splat(high), v);
}

ROTA_UNARY_POST(postSigmoid, sigmoidOf(v))
ROTA_UNARY_POST(postTanh, tanhOf(v))
ROTA_UNARY_POST(postGeluErf, geluErfOf(v))
ROTA_UNARY_POST(postGeluTanh, geluTanhOf(v))
ROTA_UNARY_POST(postSwish, v* sigmoidOf(v* alpha))
ROTA_UNARY_POST(postHardSwish, hardSwishOf(v))
ROTA_UNARY_POST(postClip, clipOf(v, alpha, beta))
ROTA_UNARY_POST(postElu, select(v <= 0.0F, (expOf(v) - 1.0F) * alpha, v))
ROTA_UNARY_POST(postLinear, v* alpha + beta)

/// With slope 0 minus infinity gives 0, not NaN; NaN stays.
void postRelu(float* x, std::int64_t n, float alpha, float, const float*, std::int64_t) {
  if (alpha == 0.0F) {
    eachVector(x, n, [](F v) __attribute__((always_inline)) { return select(v <= 0.0F, F{}, v); });
  } else {
    eachVector(x, n, [&](F v) __attribute__((always_inline)) { return select(v <= 0.0F, v * alpha, v); });
  }
}

template <typename Op>
ROTA_INLINE void withOperand(float* x, std::int64_t n, const float* operand, std::int64_t period,
                             const Op& op) {
  std::int64_t i = 0;
  if (period == 0) {
    for (; i + kLanes <= n; i += kLanes) store(x + i, op(load(x + i), load(operand + i)));
    if (i < n) storePart(x + i, op(loadPart(x + i, n - i), loadPart(operand + i, n - i)), n - i);
    return;
  }
  if (period <= kLanes) {  // 1, or a block that divides the vector
    alignas(kVectorBytes) float lanes[kLanes];
    for (int k = 0; k < kLanes; ++k) lanes[k] = operand[k % period];
    const F same = load(lanes);
    for (; i + kLanes <= n; i += kLanes) store(x + i, op(load(x + i), same));
    if (i < n) storePart(x + i, op(loadPart(x + i, n - i), same), n - i);
    return;
  }
  for (; i < n; i += period)  // a block of whole vectors
    for (std::int64_t k = 0; k < period; k += kLanes)
      store(x + i + k, op(load(x + i + k), load(operand + k)));
}

void postAdd(float* x, std::int64_t n, float, float, const float* operand, std::int64_t period) {
  withOperand(x, n, operand, period, [](F v, F o) __attribute__((always_inline)) { return v + o; });
}
void postMul(float* x, std::int64_t n, float, float, const float* operand, std::int64_t period) {
  withOperand(x, n, operand, period, [](F v, F o) __attribute__((always_inline)) { return v * o; });
}
void postSub(float* x, std::int64_t n, float, float, const float* operand, std::int64_t period) {
  withOperand(x, n, operand, period, [](F v, F o) __attribute__((always_inline)) { return v - o; });
}

}  // namespace

void fillPosts(Kernels& table) {
  const auto set = [&](Post kind, Kernels::PostMap map) { table.post[static_cast<int>(kind)] = map; };
  set(Post::kRelu, postRelu);
  set(Post::kSigmoid, postSigmoid);
  set(Post::kTanh, postTanh);
  set(Post::kGeluErf, postGeluErf);
  set(Post::kGeluTanh, postGeluTanh);
  set(Post::kSwish, postSwish);
  set(Post::kHardSwish, postHardSwish);
  set(Post::kClip, postClip);
  set(Post::kElu, postElu);
  set(Post::kLinear, postLinear);
  set(Post::kAdd, postAdd);
  set(Post::kMul, postMul);
  set(Post::kSub, postSub);
}

}  // namespace rota::simd::ROTA_SIMD_NAMESPACE
