// SPDX-License-Identifier: Apache-2.0
// How messages name nodes, values and types: in the words of the user's model.
#pragma once

#include <string>

#include "ir/graph.h"

namespace rota::op {

/// "scope/name (OpType)" of the source nodes, or of the node itself where it has none.
std::string describeNode(const ir::Node& node);
/// "[batch, 3, 224]", or "[?]" when the rank is unknown.
std::string describeShape(const ir::Shape& shape, const SizeContext& sizes);
/// "float32[batch, 3, 224]", "sequence(float32[?])".
std::string describeType(const ir::Type& type, const SizeContext& sizes);

}  // namespace rota::op
