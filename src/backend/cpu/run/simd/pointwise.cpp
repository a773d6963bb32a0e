// SPDX-License-Identifier: Apache-2.0
// Elementwise vector loops, one for each operation of pointwise programs that has a vector form. Tested by src/backend/cpu/run/simd_test.cpp.
#include "backend/cpu/run/simd/math.h"
#include "backend/cpu/run/simd/parts.h"

namespace rota::simd::ROTA_SIMD_NAMESPACE {
namespace {

constexpr float kOne = 1.0F;
ROTA_INLINE F truth(I mask) { return fromBits(mask & bits(splat(kOne))); }

/// Whole vectors, then the rest through a buffer.
template <typename Op>
void mapLoop(const float* a, const float* b, const float* c, float* out, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    F vb{};
    F vc{};
    if constexpr (Op::kOperands > 1) vb = load(b + i);
    if constexpr (Op::kOperands > 2) vc = load(c + i);
    store(out + i, Op::apply(load(a + i), vb, vc));
  }
  if (i == n) return;
  F vb{};
  F vc{};
  if constexpr (Op::kOperands > 1) vb = loadPart(b + i, n - i);
  if constexpr (Op::kOperands > 2) vc = loadPart(c + i, n - i);
  storePart(out + i, Op::apply(loadPart(a + i, n - i), vb, vc), n - i);
}

template <F (*f)(F)> struct Unary {
  static constexpr int kOperands = 1;
  ROTA_INLINE F apply(F a, F, F) { return f(a); }
};
template <F (*f)(F, F)> struct Binary {
  static constexpr int kOperands = 2;
  ROTA_INLINE F apply(F a, F b, F) { return f(a, b); }
};
struct Choose {
  static constexpr int kOperands = 3;
  ROTA_INLINE F apply(F a, F b, F c) { return select(a != 0.0F, b, c); }
};

F copy(F a) { return a; }
F add(F a, F b) { return a + b; }
F subtract(F a, F b) { return a - b; }
F multiply(F a, F b) { return a * b; }
F divide(F a, F b) { return a / b; }
F negate(F a) { return -a; }
F magnitude(F a) { return absolute(a); }
F sign(F a) { return select(a > 0.0F, splat(1.0F), select(a < 0.0F, splat(-1.0F), a)); }
F reciprocal(F a) { return 1.0F / a; }
F less(F a, F b) { return truth(a < b); }
F lessEqual(F a, F b) { return truth(a <= b); }
F greater(F a, F b) { return truth(a > b); }
F greaterEqual(F a, F b) { return truth(a >= b); }
F equal(F a, F b) { return truth(a == b); }
F both(F a, F b) { return truth((a != 0.0F) & (b != 0.0F)); }
F either(F a, F b) { return truth((a != 0.0F) | (b != 0.0F)); }
F differ(F a, F b) { return truth((a != 0.0F) ^ (b != 0.0F)); }
F inverse(F a) { return truth(a == 0.0F); }
F isNan(F a) { return truth(a != a); }
F isInf(F a) { return truth((bits(a) & 0x7fffffff) == 0x7f800000); }
F smaller(F a, F b) { return smallerOrNan(a, b); }
F larger(F a, F b) { return largerOrNan(a, b); }
F roundToEven(F a) { return roundEven(a); }
F floorAll(F a) { return floorOf(a); }
F ceilAll(F a) { return ceilOf(a); }
F exponential(F a) { return expOf(a); }
F logarithm(F a) { return logOf(a); }
F errorFunction(F a) { return erfOf(a); }
F hyperbolicTangent(F a) { return tanhOf(a); }
F logistic(F a) { return sigmoidOf(a); }
F softplus(F a) { return softplusOf(a); }
F root(F a) { return squareRoot(a); }

/// sin(x + shift * pi / 2), |x| up to 2^20: the reduction in double leaves an error below 1e-10.
float sineOf(float x, int shift) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52
  const double wide = static_cast<double>(x);
  const double n = (wide * 0.63661977236758134308 + kMagic) - kMagic;
  const double r = (wide - n * 1.5707963267341256) - n * 6.077100506506192e-11;
  const std::int32_t quadrant = static_cast<std::int32_t>(n) + shift;
  const float f = static_cast<float>(r);
  const float t = f * f;
  const float s =
      f + f * t * (-0.166666672F + t * (0.00833332911F + t * (-0.000198393042F + t * 2.71804652e-06F)));
  const float c =
      (1.0F - 0.5F * t) +
      t * t * (0.0416666679F + t * (-0.00138888834F + t * (2.47994521e-05F + t * -2.72050443e-07F)));
  const float v = (quadrant & 1) != 0 ? c : s;
  const float signedValue = (quadrant & 2) != 0 ? -v : v;
  return shift == 0 && x == 0.0F ? x : signedValue;  // keeps -0
}

template <int shift> void sineLoop(const float* a, const float*, const float*, float* out, std::int64_t n) {
  // Blocks of arguments within the limit take the vector form; others the library's.
  constexpr float kLimit = 1048576.0F;
  for (std::int64_t i = 0; i < n; i += 64) {
    const std::int64_t m = n - i < 64 ? n - i : 64;
    int within = 1;
    for (std::int64_t k = 0; k < m; ++k) within &= __builtin_fabsf(a[i + k]) <= kLimit ? 1 : 0;
    if (within != 0) {
      for (std::int64_t k = 0; k < m; ++k) out[i + k] = sineOf(a[i + k], shift);
    } else {
      for (std::int64_t k = 0; k < m; ++k)
        out[i + k] = shift == 0 ? __builtin_sinf(a[i + k]) : __builtin_cosf(a[i + k]);
    }
  }
}

}  // namespace

void fillMap(Kernels& table) {
  const auto set = [&](PointwiseOp op, Kernels::Map f) { table.map[static_cast<int>(op)] = f; };
  set(PointwiseOp::kCopy, mapLoop<Unary<copy>>);
  set(PointwiseOp::kAdd, mapLoop<Binary<add>>);
  set(PointwiseOp::kSub, mapLoop<Binary<subtract>>);
  set(PointwiseOp::kMul, mapLoop<Binary<multiply>>);
  set(PointwiseOp::kDiv, mapLoop<Binary<divide>>);
  set(PointwiseOp::kMin, mapLoop<Binary<smaller>>);
  set(PointwiseOp::kMax, mapLoop<Binary<larger>>);
  set(PointwiseOp::kNeg, mapLoop<Unary<negate>>);
  set(PointwiseOp::kAbs, mapLoop<Unary<magnitude>>);
  set(PointwiseOp::kSign, mapLoop<Unary<sign>>);
  set(PointwiseOp::kFloor, mapLoop<Unary<floorAll>>);
  set(PointwiseOp::kCeil, mapLoop<Unary<ceilAll>>);
  set(PointwiseOp::kRound, mapLoop<Unary<roundToEven>>);
  set(PointwiseOp::kReciprocal, mapLoop<Unary<reciprocal>>);
  set(PointwiseOp::kSqrt, mapLoop<Unary<root>>);
  set(PointwiseOp::kExp, mapLoop<Unary<exponential>>);
  set(PointwiseOp::kLog, mapLoop<Unary<logarithm>>);
  set(PointwiseOp::kErf, mapLoop<Unary<errorFunction>>);
  set(PointwiseOp::kTanh, mapLoop<Unary<hyperbolicTangent>>);
  set(PointwiseOp::kSigmoid, mapLoop<Unary<logistic>>);
  set(PointwiseOp::kSoftplus, mapLoop<Unary<softplus>>);
  set(PointwiseOp::kSin, sineLoop<0>);
  set(PointwiseOp::kCos, sineLoop<1>);
  set(PointwiseOp::kLess, mapLoop<Binary<less>>);
  set(PointwiseOp::kLessEqual, mapLoop<Binary<lessEqual>>);
  set(PointwiseOp::kGreater, mapLoop<Binary<greater>>);
  set(PointwiseOp::kGreaterEqual, mapLoop<Binary<greaterEqual>>);
  set(PointwiseOp::kEqual, mapLoop<Binary<equal>>);
  set(PointwiseOp::kAnd, mapLoop<Binary<both>>);
  set(PointwiseOp::kOr, mapLoop<Binary<either>>);
  set(PointwiseOp::kXor, mapLoop<Binary<differ>>);
  set(PointwiseOp::kNot, mapLoop<Unary<inverse>>);
  set(PointwiseOp::kIsNan, mapLoop<Unary<isNan>>);
  set(PointwiseOp::kIsInf, mapLoop<Unary<isInf>>);
  set(PointwiseOp::kSelect, mapLoop<Choose>);
}

}  // namespace rota::simd::ROTA_SIMD_NAMESPACE
