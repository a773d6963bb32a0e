// SPDX-License-Identifier: Apache-2.0
// Scalars that give sizes, for the signal operators. Tested by src/op/signal_test.cpp.
#pragma once

#include "op/common.h"

namespace rota::op {

/// The only element of integer input `i`, resolved on the host when it is computed; nothing when even its element count is unknown.
/// kShapeMismatch when it has more than one element.
Result<std::optional<Size>> scalarContents(InferContext& ctx, std::size_t i, SizeRange range);
/// Window functions: one axis of the size in input 0, dtype in `output_datatype`.
Status inferSignalWindow(InferContext& ctx);
Definition signalWindowDefinition(std::string name, std::string doc);

}  // namespace rota::op
