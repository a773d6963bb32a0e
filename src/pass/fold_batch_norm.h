// SPDX-License-Identifier: Apache-2.0
// Folds BatchNormalization (inference form) into the convolution before it.
#pragma once

#include "pass/pass.h"

namespace rota::pass {

inline constexpr knob::Knob kPassFoldBatchNorm = knob::toggle(
    "pass:fold_batch_norm", true, "Folds batch normalisation into the weights of the convolution before it.",
    {.numerics = knob::Numerics::kReassociating});

Status foldBatchNorm(ir::Graph& graph, const PassContext& context, bool& changed);

}  // namespace rota::pass
