// SPDX-License-Identifier: Apache-2.0
// The shape of a matrix product with NumPy semantics. Tested by src/op/product_test.cpp.
#pragma once

#include "op/common.h"

namespace rota::op {

/// Shape of inputs `a` times `b`; operands of rank 2 and more may be transposed. Unknown when a rank is.
Result<ir::Shape> matMulShape(InferContext& ctx, std::size_t a, std::size_t b, bool transposeA = false,
                              bool transposeB = false);

/// The same for dims.
Result<ir::Shape> matMulShapeOf(InferContext& ctx, const std::vector<Size>& a, const std::vector<Size>& b,
                                bool transposeA = false, bool transposeB = false);

}  // namespace rota::op
