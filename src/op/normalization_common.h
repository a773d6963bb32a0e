// SPDX-License-Identifier: Apache-2.0
// Inference that normalisation operators share. Tested by src/op/reduction_test.cpp.
#pragma once

#include "op/definition.h"

namespace rota::op {

/// Input `i` is a vector with one element for each index of dim `channelDim` of input 0 (a vector as input 0 has one channel).
Status requireChannelVector(InferContext& ctx, std::size_t i, std::size_t channelDim);

}  // namespace rota::op
