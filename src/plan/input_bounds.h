// SPDX-License-Identifier: Apache-2.0
// Which integer inputs are indices, and of how large a table: what made-up inputs and callers need to stay inside it.
//
// An input is followed through nodes that only move or convert its elements (Cast, Reshape, Concat, …) to nodes that look them up (Gather, GatherElements,
// OneHot, EmbedLayerNormalization). The smallest table counts. Values that are computed with are not followed. Tested by src/plan/input_bounds_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ir/graph.h"

namespace rota::plan {

/// Entries of the smallest table by input name; only inputs for which one with a known size was found.
std::map<std::string, std::int64_t> inputBounds(const ir::Graph& graph);

}  // namespace rota::plan
