// SPDX-License-Identifier: Apache-2.0
// Reference kernels of activations. They compute in double, so that float32 results are rounded once. The formulas are those of the standard,
// also where they look odd: x times a gate that closes (Gelu, HardSwish, Mish, Swish of minus infinity) is NaN, and a NaN that is neither above nor
// below a threshold (Shrink, ThresholdedRelu) is 0.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include <cmath>

#include "ref/broadcast.h"

namespace rota::ref {
namespace {

double activationParameter(const KernelContext& ctx, std::string_view name, float fallback) {
  return ctx.attributes().getFloat(name, fallback);
}

double logistic(double x) { return x >= 0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x)); }

Status celuKernel(KernelContext& ctx) {
  const double alpha = activationParameter(ctx, "alpha", 1.0F);
  return mapUnary<double>(
      ctx, [=](double x) { return maxWithNan(0.0, x) + minWithNan(0.0, alpha * std::expm1(x / alpha)); });
}
const RegisterKernel kCeluKernel("", "Celu", celuKernel);

Status eluKernel(KernelContext& ctx) {
  const double alpha = activationParameter(ctx, "alpha", 1.0F);
  return mapUnary<double>(ctx, [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}
const RegisterKernel kEluKernel("", "Elu", eluKernel);

Status seluKernel(KernelContext& ctx) {
  const double alpha = activationParameter(ctx, "alpha", 1.67326319217681884765625F);
  const double gamma = activationParameter(ctx, "gamma", 1.05070102214813232421875F);
  return mapUnary<double>(ctx, [=](double x) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); });
}
const RegisterKernel kSeluKernel("", "Selu", seluKernel);

Status geluKernel(KernelContext& ctx) {
  if (ctx.attributes().getString("approximate", "none") == "tanh") {
    return mapUnary<double>(ctx, [](double x) {
      constexpr double kScale = 0.79788456080286535588;  // sqrt(2 / pi)
      return x * (0.5 * (1.0 + std::tanh(kScale * (x + 0.044715 * x * x * x))));
    });
  }
  // erfc keeps the relative precision of results near 0.
  return mapUnary<double>(ctx, [](double x) { return x * (0.5 * std::erfc(-x * 0.70710678118654752440)); });
}
const RegisterKernel kGeluKernel("", "Gelu", geluKernel);

Status hardSigmoidKernel(KernelContext& ctx) {
  const double alpha = activationParameter(ctx, "alpha", 0.2F);
  const double beta = activationParameter(ctx, "beta", 0.5F);
  return mapUnary<double>(ctx, [=](double x) { return maxWithNan(minWithNan(alpha * x + beta, 1.0), 0.0); });
}
const RegisterKernel kHardSigmoidKernel("", "HardSigmoid", hardSigmoidKernel);

Status hardSwishKernel(KernelContext& ctx) {
  return mapUnary<double>(ctx, [](double x) { return x * maxWithNan(minWithNan(x / 6.0 + 0.5, 1.0), 0.0); });
}
const RegisterKernel kHardSwishKernel("", "HardSwish", hardSwishKernel);

Status leakyReluKernel(KernelContext& ctx) {
  const double alpha = activationParameter(ctx, "alpha", 0.01F);
  return mapUnary<double>(ctx, [=](double x) { return x < 0 ? alpha * x : x; });
}
const RegisterKernel kLeakyReluKernel("", "LeakyRelu", leakyReluKernel);

Status mishKernel(KernelContext& ctx) {
  return mapUnary<double>(ctx, [](double x) {
    const double softplus = x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    return x * std::tanh(softplus);
  });
}
const RegisterKernel kMishKernel("", "Mish", mishKernel);

Status preluKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return mapBinary<T>(ctx, [](T x, T slope) { return x < T{0} ? wrappingMul(slope, x) : x; });
  });
}
const RegisterKernel kPReluKernel("", "PRelu", preluKernel);

Status reluKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return mapUnary<T>(ctx, [](T x) { return x < T{0} ? T{0} : x; });
  });
}
const RegisterKernel kReluKernel("", "Relu", reluKernel);

Status shrinkKernel(KernelContext& ctx) {
  const double lambda = activationParameter(ctx, "lambd", 0.5F);
  const double bias = activationParameter(ctx, "bias", 0.0F);
  return mapUnary<double>(ctx, [=](double x) {
    return x < -lambda ? x + bias : x > lambda ? x - bias : 0.0;
  });
}
const RegisterKernel kShrinkKernel("", "Shrink", shrinkKernel);

Status swishKernel(KernelContext& ctx) {
  const double alpha = activationParameter(ctx, "alpha", 1.0F);
  return mapUnary<double>(ctx, [=](double x) { return x * logistic(alpha * x); });
}
const RegisterKernel kSwishKernel("", "Swish", swishKernel);

Status swiGluKernel(KernelContext& ctx) {
  const double alpha = activationParameter(ctx, "alpha", 1.0F);
  return mapBinary<double>(ctx, [=](double gate, double x) { return gate * logistic(alpha * gate) * x; });
}
const RegisterKernel kSwiGluKernel("", "SwiGLU", swiGluKernel);

Status thresholdedReluKernel(KernelContext& ctx) {
  const double alpha = activationParameter(ctx, "alpha", 1.0F);
  return mapUnary<double>(ctx, [=](double x) { return x > alpha ? x : 0.0; });
}
const RegisterKernel kThresholdedReluKernel("", "ThresholdedRelu", thresholdedReluKernel);

/// A bound of Clip from an input or, in old operator sets, an attribute.
template <typename T>
T clipBound(const KernelContext& ctx, std::size_t input, std::string_view attribute, T fallback) {
  if (ctx.hasInput(input) && ctx.input(input).count() > 0) return loadOne<T>(ctx.input(input), 0);
  if (ctx.attributes().has(attribute)) return static_cast<T>(ctx.attributes().getFloat(attribute));
  return fallback;
}

Status clipKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    const T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const T lower = clipBound<T>(ctx, 1, "min", lowest);
    const T upper = clipBound<T>(ctx, 2, "max", highest);
    return mapUnary<T>(ctx, [=](T x) { return minWithNan(maxWithNan(x, lower), upper); });
  });
}
const RegisterKernel kClipKernel("", "Clip", clipKernel);

}  // namespace
}  // namespace rota::ref
