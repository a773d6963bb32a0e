// SPDX-License-Identifier: Apache-2.0
// The matrix product under MatMul, Gemm, Conv, Einsum, Attention and the recurrent cells.
//
// C[batch, row, column] = sum over k of A[batch, row, k] * B[batch, k, column], in double (or uint64, which wraps like every
// integer type) with one fixed order of summation: k ascending. Two float32 factors have an exact product in double, so a float32 result is
// rounded once. Operands are read through `ProductOperand`, which may gather (windows of a convolution, quantised values), so no
// kernel has a product loop of its own. Blocks of both operands are packed into panels on the stack, tiles of the result are spread over the
// threads; sums do not depend on tiles or threads. Where one operand has at most three lines the other is not packed, but used as it is loaded.
// Plain 128-bit vectors, the same on every x86-64. docs/performance.md has measured figures for all forms.
// Idea of the packing: Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", 2008.
// Tested by src/ref/product_test.cpp.
#pragma once

#include <cstdint>

#include "core/tensor.h"
#include "core/thread_pool.h"

namespace rota::ref {

struct ProductShape {
  std::int64_t batch = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
};

/// One factor, read in runs of neighbouring elements. With `alongDepth`, a line is a row of A (a column of B) and a run goes along k; else a
/// line is one k and a run goes along the rows of A (the columns of B). `load` is called from several threads.
template <typename T> class ProductOperand {
 public:
  explicit ProductOperand(bool alongDepth) : alongDepth_(alongDepth) {}
  virtual ~ProductOperand() = default;
  bool alongDepth() const { return alongDepth_; }
  virtual void load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
                    T* out) const = 0;

 private:
  bool alongDepth_;
};

/// Takes finished parts of rows. Called from several threads, once for each element.
template <typename T> class ProductSink {
 public:
  virtual ~ProductSink() = default;
  virtual void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                     const T* values) const = 0;
};

/// Longest run that `load` and `store` see.
constexpr std::int64_t kProductRun = 128;

template <typename T>
void product(ThreadPool& threads, const ProductShape& shape, const ProductOperand<T>& a,
             const ProductOperand<T>& b, const ProductSink<T>& sink);

/// A dense tensor whose elements of one line are neighbours: element (line, i) of batch b at offset[b] + line * lineStride + i.
template <typename T> class DenseOperand final : public ProductOperand<T> {
 public:
  DenseOperand(TensorView view, bool alongDepth, std::int64_t lineStride,
               const std::int64_t* offsets = nullptr)
      : ProductOperand<T>(alongDepth),
        view_(view),
        lineStride_(lineStride),
        offsets_(offsets) {}
  void load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
            T* out) const override;

 private:
  TensorView view_;
  std::int64_t lineStride_;
  const std::int64_t* offsets_;  // [batch], or nullptr for one batch at 0
};

/// The same over doubles in scratch memory; batch b starts at b * batchStride.
class ScratchOperand final : public ProductOperand<double> {
 public:
  ScratchOperand(const double* data, bool alongDepth, std::int64_t lineStride, std::int64_t batchStride = 0)
      : ProductOperand(alongDepth),
        data_(data),
        lineStride_(lineStride),
        batchStride_(batchStride) {}
  void load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
            double* out) const override;

 private:
  const double* data_;
  std::int64_t lineStride_;
  std::int64_t batchStride_;
};

/// Stores rows into a dense tensor [batch, rows, columns].
template <typename T> class DenseSink final : public ProductSink<T> {
 public:
  DenseSink(const MutableTensorView& view, std::int64_t rows, std::int64_t columns)
      : view_(view),
        rows_(rows),
        columns_(columns) {}
  void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
             const T* values) const override;

 private:
  MutableTensorView view_;
  std::int64_t rows_;
  std::int64_t columns_;
};

/// Stores rows into doubles in scratch memory.
class ScratchSink final : public ProductSink<double> {
 public:
  ScratchSink(double* data, std::int64_t rows, std::int64_t columns)
      : data_(data),
        rows_(rows),
        columns_(columns) {}
  void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
             const double* values) const override;

 private:
  double* data_;
  std::int64_t rows_;
  std::int64_t columns_;
};

extern template class DenseOperand<double>;
extern template class DenseOperand<std::uint64_t>;
extern template class DenseSink<double>;
extern template class DenseSink<std::uint64_t>;

}  // namespace rota::ref
