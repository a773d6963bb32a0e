// SPDX-License-Identifier: Apache-2.0
// Activation functions of the recurrent operators; see recurrent.h. Tested by src/ref/recurrent_test.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ref/recurrent.h"

namespace rota::ref {

namespace {

struct ActivationRow {
  Activation kind;
  const char* name;  // lower case
  bool usesAlpha;
  bool usesBeta;
  double alpha;  // defaults: those of the operators of the same name
  double beta;
};

constexpr ActivationRow kActivationRows[] = {
    {Activation::kAffine, "affine", true, true, 1, 0},
    {Activation::kElu, "elu", true, false, 1, 0},
    {Activation::kHardSigmoid, "hardsigmoid", true, true, 0.2, 0.5},
    {Activation::kLeakyRelu, "leakyrelu", true, false, 0.01, 0},
    {Activation::kRelu, "relu", false, false, 0, 0},
    {Activation::kScaledTanh, "scaledtanh", true, true, 1, 1},
    {Activation::kSigmoid, "sigmoid", false, false, 0, 0},
    {Activation::kSoftplus, "softplus", false, false, 0, 0},
    {Activation::kSoftsign, "softsign", false, false, 0, 0},
    {Activation::kTanh, "tanh", false, false, 0, 0},
    {Activation::kThresholdedRelu, "thresholdedrelu", true, false, 1, 0},
};

bool equalIgnoringCase(std::string_view name, std::string_view lower) {
  return std::equal(name.begin(), name.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

const ActivationRow* activationRow(std::string_view name) {
  const auto* row = std::find_if(std::begin(kActivationRows), std::end(kActivationRows),
                                 [&](const ActivationRow& r) { return equalIgnoringCase(name, r.name); });
  return row == std::end(kActivationRows) ? nullptr : row;
}

// Hands out alphas or betas.
class ActivationParameters {
 public:
  ActivationParameters(const std::vector<float>* values, std::size_t functions)
      : values_(values),
        positional_(values != nullptr && values->size() == functions) {}
  double next(std::size_t function, bool used, double fallback) {
    if (values_ == nullptr || !used) return fallback;
    const std::size_t at = positional_ ? function : taken_++;
    return at < values_->size() ? static_cast<double>((*values_)[at]) : fallback;
  }

 private:
  const std::vector<float>* values_;
  bool positional_;
  std::size_t taken_ = 0;
};

}  // namespace

double ActivationFunction::operator()(double x) const {
  switch (kind) {
    case Activation::kAffine: return alpha * x + beta;
    case Activation::kClip: return std::min(std::max(x, alpha), beta);
    case Activation::kElu: return x >= 0 ? x : alpha * std::expm1(x);
    case Activation::kHardSigmoid: return std::min(std::max(alpha * x + beta, 0.0), 1.0);
    case Activation::kLeakyRelu: return x >= 0 ? x : alpha * x;
    case Activation::kRelu: return x < 0 ? 0 : x;
    case Activation::kScaledTanh: return alpha * std::tanh(beta * x);
    case Activation::kSigmoid: return 1 / (1 + std::exp(-x));
    case Activation::kSoftplus: return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case Activation::kSoftsign: return x / (1 + std::fabs(x));
    case Activation::kTanh: return std::tanh(x);
    case Activation::kThresholdedRelu: return x >= alpha ? x : 0;
  }
  return x;
}

Result<ActivationFunction> activationNamed(std::string_view name) {
  const ActivationRow* row = activationRow(name);
  if (row != nullptr) return ActivationFunction{row->kind, row->alpha, row->beta};
  return Status(ErrorCode::kBadAttribute, "The activation function is unknown")
      .expected(
          "Affine, Elu, HardSigmoid, LeakyRelu, Relu, ScaledTanh, Sigmoid, Softplus, Softsign, Tanh or "
          "ThresholdedRelu")
      .found(std::string(name));
}

Result<ActivationFunction> fusedActivationNamed(std::string_view name) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (equalIgnoringCase(name, "clip")) return ActivationFunction{Activation::kClip, -kInfinity, kInfinity};
  return activationNamed(name);
}

Result<std::array<ActivationFunction, kMaxActivations>> activationsOf(const Attributes& attributes,
                                                                      std::size_t perDirection,
                                                                      std::size_t directions,
                                                                      std::array<Activation, 3> defaults) {
  const std::size_t count = perDirection * directions;
  const auto* names = attributes.getStrings("activations");
  if (names != nullptr && names->empty()) names = nullptr;
  if (names != nullptr && names->size() < count) {
    return Status(ErrorCode::kBadAttribute, "Attribute 'activations' has too few functions")
        .expected(std::to_string(count))
        .found(std::to_string(names->size()));
  }
  ActivationParameters alphas(attributes.getFloats("activation_alpha"), count);
  ActivationParameters betas(attributes.getFloats("activation_beta"), count);
  std::array<ActivationFunction, kMaxActivations> functions{};
  for (std::size_t i = 0; i < count; ++i) {
    const ActivationRow* row = names != nullptr
                                   ? activationRow((*names)[i])
                                   : &kActivationRows[static_cast<std::size_t>(defaults[i % perDirection])];
    if (row == nullptr) {
      return Status(ErrorCode::kBadAttribute, "Attribute 'activations' names an unknown function")
          .expected(
              "Affine, Elu, HardSigmoid, LeakyRelu, Relu, ScaledTanh, Sigmoid, Softplus, Softsign, Tanh or "
              "ThresholdedRelu")
          .found((*names)[i]);
    }
    functions[i] = {row->kind, alphas.next(i, row->usesAlpha, row->alpha),
                    betas.next(i, row->usesBeta, row->beta)};
  }
  return functions;
}

}  // namespace rota::ref
