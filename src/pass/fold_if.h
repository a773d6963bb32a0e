// SPDX-License-Identifier: Apache-2.0
// Replaces an If whose condition is constant by the branch that is taken.
#pragma once

#include "pass/pass.h"

namespace rota::pass {

inline constexpr knob::Knob kPassFoldIf = knob::toggle(
    "pass:fold_if", true, "Replaces conditionals whose condition is known by the branch that is taken.");

Status foldIf(ir::Graph& graph, const PassContext& context, bool& changed);

}  // namespace rota::pass
