// SPDX-License-Identifier: Apache-2.0
// Inference that QuantizeLinear and DequantizeLinear share. Tested by src/op/reduction_test.cpp.
#pragma once

#include "op/definition.h"

namespace rota::op {

/// Scale (input 1) is a scalar, a vector along `axis`, or, with a block size, a tensor of blocks; a zero point (input 2) has its shape.
Status requireScaleShape(InferContext& ctx);

}  // namespace rota::op
