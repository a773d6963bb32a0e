// SPDX-License-Identifier: Apache-2.0
// Replaces values that are known at build time by constants: symbolic contents without symbols, and pure nodes of constants.
#pragma once

#include "pass/pass.h"

namespace rota::pass {

inline constexpr knob::Knob kPassFoldConstants = knob::toggle(
    "pass:fold_constants", true, "Evaluates nodes whose inputs are all constant while building.");

Status foldConstants(ir::Graph& graph, const PassContext& context, bool& changed);

}  // namespace rota::pass
