// SPDX-License-Identifier: Apache-2.0
// How much work a node may be when it is computed while a model is compiled. Bytes of inputs and outputs do not bound it: a sum over all pairs,
// a search of every box against every other, a transform of a prime length take time beyond any size of file. The bound depends on sizes
// alone, never on the clock, so that equal models compile equally. Tested by src/pass/pass_test.cpp and tests/test_hostile.py.
#pragma once

#include <span>

#include "op/definition.h"

namespace rota::op {

/// Whether the node is cheap enough to be computed at compile time. `inputs`: elements of each given input; `outputElements`: of all outputs.
bool isCheapToCompute(const ir::Node& node, std::span<const std::int64_t> inputs,
                      std::int64_t outputElements);

}  // namespace rota::op
