// SPDX-License-Identifier: Apache-2.0
// The one expansion of Attention: products, masks and softmax. Tested by src/op/expansion_test.cpp.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace rota::op {

Result<std::vector<ir::Value*>> expandAttention(ir::Graph& graph, const ir::Node& node);

}  // namespace rota::op
