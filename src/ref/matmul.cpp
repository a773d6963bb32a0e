// SPDX-License-Identifier: Apache-2.0
// MatMul (NumPy semantics: vectors, broadcast batches) and Gemm. Tested by src/ref/product_test.cpp.
#include "ref/matmul.h"

#include <algorithm>

#include "ref/blocks.h"
#include "ref/common.h"

namespace rota::ref {

namespace {

// One operand as a batch of matrices whose rows are neighbours in memory.
struct MatrixOperand {
  std::int64_t rows = 1, columns = 1;
  std::int64_t lineStride = 0;    // from one row to the next
  std::int64_t matrixStride = 0;  // from one matrix to the next
  Dims batch{};
};

MatrixOperand matrixOperand(const TensorView& view, bool isLeft, bool batchFirst) {
  const std::size_t rank = view.rank();
  MatrixOperand m;
  if (rank == 1) {
    (isLeft ? m.columns : m.rows) = view.dims[0];
    m.lineStride = m.columns;
    return m;
  }
  m.columns = view.dims[rank - 1];
  if (batchFirst && rank > 2) {  // [rows, batch…, columns]
    m.batch = view.dims.subspan(1, rank - 2);
    m.rows = view.dims[0];
    m.matrixStride = m.columns;
    m.lineStride = elementCount(m.batch) * m.columns;
    return m;
  }
  m.batch = view.dims.first(rank - 2);
  m.rows = view.dims[rank - 2];
  m.lineStride = m.columns;
  m.matrixStride = m.rows * m.columns;
  return m;
}

}  // namespace

Result<MatMulProblem> matMulProblem(KernelContext& ctx, const TensorView& a, const TensorView& b,
                                    bool transposeA, bool transposeB, bool batchA, bool batchB) {
  const auto mismatch = [&] {
    return Status(ErrorCode::kShapeMismatch, "The matrices cannot be multiplied")
        .expected("equal inner sizes and batch sizes that broadcast")
        .found(dimsText(a.dims) + " and " + dimsText(b.dims));
  };
  if (a.rank() == 0 || b.rank() == 0) return mismatch();
  const MatrixOperand left = matrixOperand(a, true, batchA);
  const MatrixOperand right = matrixOperand(b, false, batchB);
  const bool swapA = transposeA && a.rank() > 1;
  const bool swapB = transposeB && b.rank() > 1;
  MatMulProblem p;
  p.shape.rows = swapA ? left.columns : left.rows;
  p.shape.depth = swapA ? left.rows : left.columns;
  p.shape.columns = swapB ? right.rows : right.columns;
  if (p.shape.depth != (swapB ? right.columns : right.rows)) return mismatch();
  p.lineStrideA = left.lineStride;
  p.lineStrideB = right.lineStride;
  p.alongDepthA = !swapA;
  p.alongDepthB = swapB;

  auto batch = broadcastDims(left.batch, right.batch);
  if (!batch) return mismatch();
  p.shape.batch = elementCount(*batch);
  auto offsets = ctx.scratch<std::int64_t>(2 * p.shape.batch);
  if (!offsets) return offsets.status();
  p.offsetsA = *offsets;
  p.offsetsB = *offsets + p.shape.batch;
  if (p.shape.batch == 0) return p;
  IndexWalker<2> walker(*batch);
  walker.strides(0) = broadcastStrides(left.batch, *batch);
  walker.strides(1) = broadcastStrides(right.batch, *batch);
  walker.seek(0);
  for (std::int64_t i = 0; i < p.shape.batch; ++i, walker.next()) {
    (*offsets)[i] = walker.offset(0) * left.matrixStride;
    (*offsets)[p.shape.batch + i] = walker.offset(1) * right.matrixStride;
  }
  return p;
}

namespace {

template <typename T> Status runMatMul(KernelContext& ctx, const MatMulProblem& p) {
  const DenseOperand<T> a(ctx.input(0), p.alongDepthA, p.lineStrideA, p.offsetsA);
  const DenseOperand<T> b(ctx.input(1), p.alongDepthB, p.lineStrideB, p.offsetsB);
  const DenseSink<T> sink(ctx.output(0), p.shape.rows, p.shape.columns);
  product<T>(ctx.threads(), p.shape, a, b, sink);
  return Status::ok();
}

Status matMul(KernelContext& ctx) {
  auto p = matMulProblem(ctx, ctx.input(0), ctx.input(1), false, false);
  if (!p) return p.status();
  return info(ctx.input(0).dtype).compute == ComputeType::kDouble ? runMatMul<double>(ctx, *p)
                                                                  : runMatMul<std::uint64_t>(ctx, *p);
}

// alpha * sum + beta * C, C broadcast over [rows, columns].
template <typename T> class GemmSink final : public ProductSink<T> {
 public:
  GemmSink(const MutableTensorView& y, const TensorView& c, double alpha, double beta,
           const ProductShape& shape)
      : y_(y),
        c_(c),
        alpha_(alpha),
        beta_(beta),
        columns_(shape.columns) {
    const std::size_t rank = c.rank();
    rowStep_ = rank == 2 && c.dims[0] != 1 ? c.dims[1] : 0;
    columnStep_ = rank >= 1 && c.dims[rank - 1] != 1 ? 1 : 0;
  }
  void store(std::int64_t, std::int64_t row, std::int64_t column, std::int64_t count,
             const T* values) const override {
    T sums[kProductRun];
    T addend[kProductRun];
    const bool add = c_.isGiven();
    if (add) loadBlock(c_, row * rowStep_ + column * columnStep_, columnStep_ == 0 ? 1 : count, addend);
    for (std::int64_t i = 0; i < count; ++i) {
      sums[i] = scaled(values[i], alpha_);
      if (add) sums[i] += scaled(addend[columnStep_ == 0 ? 0 : i], beta_);
    }
    storeBlock(y_, row * columns_ + column, count, sums);
  }

 private:
  static double scaled(double value, double factor) { return factor == 1 ? value : factor * value; }
  // Integers: a factor that is an integer is exact; any other goes through double and truncates, as a cast does.
  static std::uint64_t scaled(std::uint64_t value, double factor) {
    if (factor == 1) return value;
    const auto whole = static_cast<std::int64_t>(factor);
    if (static_cast<double>(whole) == factor) return value * static_cast<std::uint64_t>(whole);
    return static_cast<std::uint64_t>(
        static_cast<std::int64_t>(factor * static_cast<double>(static_cast<std::int64_t>(value))));
  }

  MutableTensorView y_;
  TensorView c_;
  double alpha_;
  double beta_;
  std::int64_t columns_;
  std::int64_t rowStep_ = 0;
  std::int64_t columnStep_ = 0;
};

template <typename T> Status runGemm(KernelContext& ctx, const MatMulProblem& p) {
  const double alpha = ctx.attributes().getFloat("alpha", 1);
  const double beta = ctx.attributes().getFloat("beta", 1);
  const DenseOperand<T> a(ctx.input(0), p.alongDepthA, p.lineStrideA, p.offsetsA);
  const DenseOperand<T> b(ctx.input(1), p.alongDepthB, p.lineStrideB, p.offsetsB);
  product<T>(ctx.threads(), p.shape, a, b, GemmSink<T>(ctx.output(0), ctx.input(2), alpha, beta, p.shape));
  return Status::ok();
}

Status gemm(KernelContext& ctx) {
  if (ctx.input(0).rank() != 2 || ctx.input(1).rank() != 2) {
    return Status(ErrorCode::kShapeMismatch, "Gemm multiplies matrices").expected("A and B of rank 2");
  }
  auto p = matMulProblem(ctx, ctx.input(0), ctx.input(1), ctx.attributes().getInt("transA") != 0,
                         ctx.attributes().getInt("transB") != 0);
  if (!p) return p.status();
  if (const TensorView c = ctx.input(2); c.isGiven()) {
    const std::size_t rank = c.rank();
    const bool rowFits = rank < 2 || c.dims[0] == 1 || c.dims[0] == p->shape.rows;
    const bool columnFits = rank < 1 || c.dims[rank - 1] == 1 || c.dims[rank - 1] == p->shape.columns;
    if (rank > 2 || !rowFits || !columnFits) {
      return Status(ErrorCode::kShapeMismatch, "C of Gemm does not broadcast to the result")
          .expected(dimsText(ctx.output(0).dims))
          .found(dimsText(c.dims));
    }
  }
  return info(ctx.input(0).dtype).compute == ComputeType::kDouble ? runGemm<double>(ctx, *p)
                                                                  : runGemm<std::uint64_t>(ctx, *p);
}

const RegisterKernel kMatMul("", "MatMul", matMul);
const RegisterKernel kGemm("", "Gemm", gemm);

}  // namespace

}  // namespace rota::ref
