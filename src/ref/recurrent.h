// SPDX-License-Identifier: Apache-2.0
// Activation functions of the recurrent operators, with the rule by which a node's attributes assign alpha and beta.
// Tested by src/ref/recurrent_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "ref/kernel.h"

namespace rota::ref {

enum class Activation : std::uint8_t {
  kAffine,
  kElu,
  kHardSigmoid,
  kLeakyRelu,
  kRelu,
  kScaledTanh,
  kSigmoid,
  kSoftplus,
  kSoftsign,
  kTanh,
  kThresholdedRelu,
  kClip,  ///< Fused into products only.
};

struct ActivationFunction {
  Activation kind = Activation::kTanh;
  double alpha = 0;
  double beta = 0;
  double operator()(double x) const;
};

/// The function of this name (case does not matter) with its default alpha and beta; kBadAttribute for an unknown one.
Result<ActivationFunction> activationNamed(std::string_view name);
/// The same for those that optimisers fuse into products and convolutions; Clip (from alpha to beta) is one of them.
Result<ActivationFunction> fusedActivationNamed(std::string_view name);

constexpr std::size_t kMaxActivations = 6;

/// Functions of all directions in order, `perDirection` each; `defaults` (as many) where attribute `activations` is absent. Names ignore case. Alphas and
/// betas belong to the functions one by one when there is one for each function, else in turn to those functions that use one.
Result<std::array<ActivationFunction, kMaxActivations>> activationsOf(const Attributes& attributes,
                                                                      std::size_t perDirection,
                                                                      std::size_t directions,
                                                                      std::array<Activation, 3> defaults);

}  // namespace rota::ref
