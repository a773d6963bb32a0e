// SPDX-License-Identifier: Apache-2.0
// Inference that the scatter operators share. Tested by src/op/movement_test.cpp.
#pragma once

#include "op/movement_common.h"

namespace rota::op {

/// Contents of a vector with the elements at constant indices replaced; exporters write `shape[2] = n` like that.
void scatterContents(InferContext& ctx);
/// ScatterElements and Scatter.
Status inferScatterElements(InferContext& ctx);

}  // namespace rota::op
