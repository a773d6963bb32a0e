// SPDX-License-Identifier: Apache-2.0
// What the attention operators of com.microsoft share: the default scale, and the run of the core with a padding mask, an additive bias and
// causality, once queries, keys and values are in place. Tested by src/ref/microsoft_test.cpp and tests/test_microsoft_operators.py.
#pragma once

#include <limits>

#include "ref/attention_core.h"

namespace rota::ref {

/// What disallows a key.
constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Attribute 'scale', or one over the root of the head size.
double attentionScale(const Attributes& attributes, std::int64_t headSize);

/// Attends with the padding mask in input `maskInput` and the additive bias in input `biasInput` (either may be missing); output 0 is
/// [batch, queries, heads * valueSize].
Status runMicrosoftAttention(KernelContext& ctx, AttentionProblem& p, std::size_t maskInput,
                             std::size_t biasInput);

}  // namespace rota::ref
