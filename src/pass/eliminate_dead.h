// SPDX-License-Identifier: Apache-2.0
// Removes nodes whose results nobody uses.
#pragma once

#include "pass/pass.h"

namespace rota::pass {

inline constexpr knob::Knob kPassEliminateDead =
    knob::toggle("pass:eliminate_dead", true, "Removes nodes whose results are not used.");

Status eliminateDead(ir::Graph& graph, const PassContext& context, bool& changed);

}  // namespace rota::pass
