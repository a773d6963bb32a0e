// SPDX-License-Identifier: Apache-2.0
// The order in which the nodes of one graph or function can be built: as written where that works, else sorted by what they use (stable;
// Kahn 1962), values that their nested graphs capture included. Tested by src/import/onnx/reader_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "import/onnx/model_view.h"

namespace rota::onnx {

struct NodeOrder {
  std::vector<std::uint32_t> order;  ///< Nodes that can be built.
  std::vector<std::uint32_t> cycle;  ///< One cycle, in order of use; empty when there is none.
  std::vector<std::uint32_t> stuck;  ///< All nodes on cycles or behind them.
};

NodeOrder orderNodes(const std::vector<NodeView>& nodes);

}  // namespace rota::onnx
