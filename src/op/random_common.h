// SPDX-License-Identifier: Apache-2.0
// Inference of operators that draw random numbers. Tested by src/op/reduction_test.cpp.
#pragma once

#include "op/definition.h"

namespace rota::op {

/// Shape and type from attributes.
Status inferRandomShape(InferContext& ctx);
/// Shape of input 0, type from attribute `dtype` or of input 0.
Status inferRandomLike(InferContext& ctx);

}  // namespace rota::op
