// SPDX-License-Identifier: Apache-2.0
// How two tensors meet in a matrix product with NumPy semantics: sizes, line strides, and where each matrix of a broadcast batch starts.
// Shared by MatMul, Gemm, their integer, quantised and fused forms. Tested by src/ref/product_test.cpp.
#pragma once

#include "ref/kernel.h"
#include "ref/product.h"

namespace rota::ref {

struct MatMulProblem {
  ProductShape shape;
  std::int64_t lineStrideA = 0;
  std::int64_t lineStrideB = 0;
  bool alongDepthA = true;
  bool alongDepthB = false;
  const std::int64_t* offsetsA = nullptr;  ///< [batch], in scratch memory.
  const std::int64_t* offsetsB = nullptr;
};

/// kShapeMismatch when the shapes cannot be multiplied. A transposed operand swaps its last two dims; one with a transposed batch (com.microsoft
/// FusedMatMul) has its rows in the first dim and the batch between them and the last.
Result<MatMulProblem> matMulProblem(KernelContext& ctx, const TensorView& a, const TensorView& b,
                                    bool transposeA, bool transposeB, bool batchA = false,
                                    bool batchB = false);

}  // namespace rota::ref
