// SPDX-License-Identifier: Apache-2.0
// Reference kernels of unary mathematics. Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include <cmath>

#include "ref/broadcast.h"

namespace rota::ref {
namespace {

/// A kernel from a function of double; floating-point types, and integers by conversion.
template <double (*f)(double)> Status doubleKernel(KernelContext& ctx) {
  return mapUnary<double>(ctx, [](double x) { return f(x); });
}

double reciprocalOf(double x) { return 1.0 / x; }
double roundHalfToEven(double x) { return std::nearbyint(x); }
// The form for negative x keeps the relative precision of small results.
double sigmoidOf(double x) { return x >= 0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x)); }
double softplusOf(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double softsignOf(double x) { return x / (1.0 + std::fabs(x)); }

const RegisterKernel kAcosKernel("", "Acos", doubleKernel<std::acos>);
const RegisterKernel kAcoshKernel("", "Acosh", doubleKernel<std::acosh>);
const RegisterKernel kAsinKernel("", "Asin", doubleKernel<std::asin>);
const RegisterKernel kAsinhKernel("", "Asinh", doubleKernel<std::asinh>);
const RegisterKernel kAtanKernel("", "Atan", doubleKernel<std::atan>);
const RegisterKernel kAtanhKernel("", "Atanh", doubleKernel<std::atanh>);
const RegisterKernel kCosKernel("", "Cos", doubleKernel<std::cos>);
const RegisterKernel kCoshKernel("", "Cosh", doubleKernel<std::cosh>);
const RegisterKernel kErfKernel("", "Erf", doubleKernel<std::erf>);
const RegisterKernel kExpKernel("", "Exp", doubleKernel<std::exp>);
const RegisterKernel kLogKernel("", "Log", doubleKernel<std::log>);
const RegisterKernel kReciprocalKernel("", "Reciprocal", doubleKernel<reciprocalOf>);
const RegisterKernel kSigmoidKernel("", "Sigmoid", doubleKernel<sigmoidOf>);
const RegisterKernel kSinKernel("", "Sin", doubleKernel<std::sin>);
const RegisterKernel kSinhKernel("", "Sinh", doubleKernel<std::sinh>);
const RegisterKernel kSoftplusKernel("", "Softplus", doubleKernel<softplusOf>);
const RegisterKernel kSoftsignKernel("", "Softsign", doubleKernel<softsignOf>);
const RegisterKernel kSqrtKernel("", "Sqrt", doubleKernel<std::sqrt>);
const RegisterKernel kTanKernel("", "Tan", doubleKernel<std::tan>);
const RegisterKernel kTanhKernel("", "Tanh", doubleKernel<std::tanh>);
const RegisterKernel kCeilKernel("", "Ceil", doubleKernel<std::ceil>);
const RegisterKernel kFloorKernel("", "Floor", doubleKernel<std::floor>);
const RegisterKernel kRoundKernel("", "Round", doubleKernel<roundHalfToEven>);

Status absKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return mapUnary<T>(ctx, [](T x) {
      if constexpr (std::is_floating_point_v<T>) {
        return std::fabs(x);
      } else {
        return x < T{0} ? wrappingSub(T{0}, x) : x;
      }
    });
  });
}
const RegisterKernel kAbsKernel("", "Abs", absKernel);

Status negKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return mapUnary<T>(ctx, [](T x) {
      if constexpr (std::is_floating_point_v<T>) {
        return -x;
      } else {
        return wrappingSub(T{0}, x);
      }
    });
  });
}
const RegisterKernel kNegKernel("", "Neg", negKernel);

Status signKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return mapUnary<T>(ctx, [](T x) { return x > T{0} ? T{1} : x < T{0} ? wrappingSub(T{0}, T{1}) : x; });
  });
}
const RegisterKernel kSignKernel("", "Sign", signKernel);

Status isNanKernel(KernelContext& ctx) {
  return mapUnary<double>(ctx, [](double x) { return std::isnan(x); });
}
const RegisterKernel kIsNanKernel("", "IsNaN", isNanKernel);

Status isInfKernel(KernelContext& ctx) {
  const bool positive = ctx.attributes().getInt("detect_positive", 1) != 0;
  const bool negative = ctx.attributes().getInt("detect_negative", 1) != 0;
  return mapUnary<double>(ctx, [=](double x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}
const RegisterKernel kIsInfKernel("", "IsInf", isInfKernel);

Status notKernel(KernelContext& ctx) {
  return mapUnary<std::int64_t>(ctx, [](std::int64_t x) { return x == 0; });
}
const RegisterKernel kNotKernel("", "Not", notKernel);

Status bitwiseNotKernel(KernelContext& ctx) {
  return mapUnary<std::uint64_t>(ctx, [](std::uint64_t x) { return ~x; });
}
const RegisterKernel kBitwiseNotKernel("", "BitwiseNot", bitwiseNotKernel);

}  // namespace
}  // namespace rota::ref
