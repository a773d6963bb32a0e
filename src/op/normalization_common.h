// SPDX-License-Identifier: Apache-2.0
// Inference that normalisation operators share. Tested by src/op/reduction_test.cpp.
#pragma once

#include "op/definition.h"
#include "op/expansion.h"

namespace rota::op {

/// Input `i` is a vector with one element for each index of dim `channelDim` of input 0 (a vector as input 0 has one channel).
Status requireChannelVector(InferContext& ctx, std::size_t i, std::size_t channelDim);

/// A vector of channels in type `dtype` with `trailing` further dims of 1, so that it broadcasts along dim 1.
ir::Value* channelOperand(Expansion& e, ir::Value* vector, std::size_t trailing, DType dtype);

}  // namespace rota::op
