// SPDX-License-Identifier: Apache-2.0
// Merges nodes that compute the same thing: equal operator, attributes and inputs (common subexpressions).
#pragma once

#include "pass/pass.h"

namespace rota::pass {

inline constexpr knob::Knob kPassMergeCommon =
    knob::toggle("pass:merge_common", true, "Computes equal subexpressions once.");

Status mergeCommon(ir::Graph& graph, const PassContext& context, bool& changed);

}  // namespace rota::pass
