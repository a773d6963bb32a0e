// SPDX-License-Identifier: Apache-2.0
// Removes nodes that change nothing: Identity, inference-time Dropout, Cast to the same type, Transpose, Reshape and Expand to the same shape.
#pragma once

#include "pass/pass.h"

namespace rota::pass {

inline constexpr knob::Knob kPassRemoveIdentities =
    knob::toggle("pass:remove_identities", true, "Removes nodes that return their input unchanged.");

Status removeIdentities(ir::Graph& graph, const PassContext& context, bool& changed);

}  // namespace rota::pass
