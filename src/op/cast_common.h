// SPDX-License-Identifier: Apache-2.0
// What Cast and CastLike share. Tested by src/op/pointwise_test.cpp.
#pragma once

#include <optional>

#include "op/definition.h"

namespace rota::op {

/// Output 0 is input 0 converted to `dtype`; integer contents pass through when they fit.
Status inferCastTo(InferContext& ctx, DType dtype);

/// Conversion happens when a value is stored, so the expression of a cast is its input; a cast to bool compares with 0. Nothing for conversions that
/// have rules of their own (strings, 8-bit floating point and below).
std::optional<ScalarExpression> castExpression(DType from, DType to);

}  // namespace rota::op
