// SPDX-License-Identifier: Apache-2.0
// Products of quantised tensors: factors minus their zero points, exact in double (8-bit products stay below 2^53 for every depth that fits memory),
// and the way back to a quantised or real result. Tested by src/ref/quantized_product_test.cpp.
#pragma once

#include "ref/blocks.h"
#include "ref/conv.h"
#include "ref/matmul.h"

namespace rota::ref {

/// A zero point or scale: one for the tensor, or one for each row or column (of each matrix of a batch).
struct PerLine {
  const double* values = nullptr;  ///< nullptr: not given.
  std::int64_t count = 0;
  double at(std::int64_t matrix, std::int64_t lines, std::int64_t line, double missing) const {
    if (values == nullptr) return missing;
    return values[count == 1 ? 0 : count == lines ? line : matrix * lines + line];
  }
};
/// Input `i` in scratch memory; kShapeMismatch unless it has 1, `lines` or `matrices * lines` elements.
Result<PerLine> perLine(KernelContext& ctx, std::size_t i, std::int64_t matrices, std::int64_t lines);

/// A dense matrix minus zero points of its rows (A) or columns (B).
class ZeroedOperand final : public ProductOperand<double> {
 public:
  /// `matrixSize` elements a matrix; `lines`: rows of A, columns of B.
  ZeroedOperand(const TensorView& view, bool alongDepth, std::int64_t lineStride, const std::int64_t* offsets,
                std::int64_t matrixSize, PerLine zero, std::int64_t lines)
      : ProductOperand(alongDepth),
        dense_(view, alongDepth, lineStride, offsets),
        offsets_(offsets),
        matrixSize_(matrixSize),
        zero_(zero),
        lines_(lines) {}
  void load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
            double* out) const override;

 private:
  DenseOperand<double> dense_;
  const std::int64_t* offsets_;
  std::int64_t matrixSize_;
  PerLine zero_;
  std::int64_t lines_;
};

/// Nearest integer, ties to even, plus `zero`, cut to the range of `dtype`.
double requantize(double real, double zero, DType dtype);

/// Sizes, offsets and zeroed operands of input `a` times input `b`.
struct QuantizedMatMul {
  MatMulProblem problem;
  std::int64_t matricesA = 1;
  std::int64_t matricesB = 1;
};
Result<QuantizedMatMul> quantizedMatMul(KernelContext& ctx, std::size_t a, std::size_t b);

}  // namespace rota::ref
