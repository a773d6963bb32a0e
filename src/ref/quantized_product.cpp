// SPDX-License-Identifier: Apache-2.0
// MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv; see quantized_product.h. Tested by src/ref/quantized_product_test.cpp.
#include "ref/quantized_product.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace rota::ref {

Result<PerLine> perLine(KernelContext& ctx, std::size_t i, std::int64_t matrices, std::int64_t lines) {
  PerLine result;
  if (!ctx.hasInput(i)) return result;
  result.count = ctx.input(i).count();
  if (result.count != 1 && result.count != lines && result.count != matrices * lines) {
    return Status(ErrorCode::kShapeMismatch,
                  "Input " + std::to_string(i) + ", a scale or zero point, does not fit its tensor")
        .expected("1 or " + std::to_string(lines) + " elements")
        .found(std::to_string(result.count));
  }
  auto values = loadAll(ctx, ctx.input(i));
  if (!values) return values.status();
  result.values = *values;
  return result;
}

void ZeroedOperand::load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
                         double* out) const {
  dense_.load(batch, line, begin, count, out);
  if (zero_.values == nullptr) return;
  const std::int64_t matrix = matrixSize_ == 0 ? 0 : offsets_[batch] / matrixSize_;
  if (alongDepth()) {
    const double zero = zero_.at(matrix, lines_, line, 0);
    for (std::int64_t k = 0; k < count; ++k) out[k] -= zero;
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i] -= zero_.at(matrix, lines_, begin + i, 0);
  }
}

double requantize(double real, double zero, DType dtype) {
  const DTypeInfo& row = info(dtype);
  const bool isSigned = row.dtypeClass == DTypeClass::kSigned;
  const double high = std::ldexp(1.0, row.bits - (isSigned ? 1 : 0)) - 1;
  const double low = isSigned ? -high - 1 : 0;
  const double value = std::nearbyint(real) + zero;
  return std::isnan(value) ? zero : std::clamp(value, low, high);
}

Result<QuantizedMatMul> quantizedMatMul(KernelContext& ctx, std::size_t a, std::size_t b) {
  auto problem = matMulProblem(ctx, ctx.input(a), ctx.input(b), false, false);
  if (!problem) return problem.status();
  const auto matrices = [&](std::size_t i) {
    const Dims dims = ctx.input(i).dims;
    return dims.size() > 2 ? elementCount(dims.first(dims.size() - 2)) : std::int64_t{1};
  };
  return QuantizedMatMul{*problem, matrices(a), matrices(b)};
}

namespace {

// Sums of integers, kept modulo 2^32.
class IntegerSink final : public ProductSink<double> {
 public:
  IntegerSink(const MutableTensorView& y, const ProductShape& shape)
      : y_(y),
        rows_(shape.rows),
        columns_(shape.columns) {}
  void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
             const double* values) const override {
    std::int64_t sums[kProductRun];
    for (std::int64_t i = 0; i < count; ++i) sums[i] = static_cast<std::int64_t>(values[i]);
    storeFromInt64(y_, (batch * rows_ + row) * columns_ + column, count, sums);
  }

 private:
  MutableTensorView y_;
  std::int64_t rows_;
  std::int64_t columns_;
};

Status matMulInteger(KernelContext& ctx) {
  auto q = quantizedMatMul(ctx, 0, 1);
  if (!q) return q.status();
  const MatMulProblem& p = q->problem;
  auto zeroA = perLine(ctx, 2, q->matricesA, p.shape.rows);
  if (!zeroA) return zeroA.status();
  auto zeroB = perLine(ctx, 3, q->matricesB, p.shape.columns);
  if (!zeroB) return zeroB.status();
  const ZeroedOperand a(ctx.input(0), p.alongDepthA, p.lineStrideA, p.offsetsA, p.shape.rows * p.shape.depth,
                        *zeroA, p.shape.rows);
  const ZeroedOperand b(ctx.input(1), p.alongDepthB, p.lineStrideB, p.offsetsB,
                        p.shape.columns * p.shape.depth, *zeroB, p.shape.columns);
  product<double>(ctx.threads(), p.shape, a, b, IntegerSink(ctx.output(0), p.shape));
  return Status::ok();
}

// sum * scaleA * scaleB / scaleY, rounded, plus the zero point of Y.
class RequantizeSink final : public ProductSink<double> {
 public:
  RequantizeSink(const MutableTensorView& y, const QuantizedMatMul& q, PerLine scaleA, PerLine scaleB,
                 double scaleY, double zeroY)
      : y_(y),
        q_(q),
        scaleA_(scaleA),
        scaleB_(scaleB),
        scaleY_(scaleY),
        zeroY_(zeroY) {}
  void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
             const double* values) const override {
    const ProductShape& s = q_.problem.shape;
    double result[kProductRun];
    const std::int64_t matrixA = s.rows * s.depth == 0 ? 0 : q_.problem.offsetsA[batch] / (s.rows * s.depth);
    const std::int64_t matrixB =
        s.columns * s.depth == 0 ? 0 : q_.problem.offsetsB[batch] / (s.columns * s.depth);
    const double scaleA = scaleA_.at(matrixA, s.rows, row, 1);
    for (std::int64_t i = 0; i < count; ++i) {
      const double scale = scaleA * scaleB_.at(matrixB, s.columns, column + i, 1) / scaleY_;
      result[i] = requantize(values[i] * scale, zeroY_, y_.dtype);
    }
    storeBlock(y_, (batch * s.rows + row) * s.columns + column, count, result);
  }

 private:
  MutableTensorView y_;
  const QuantizedMatMul& q_;
  PerLine scaleA_;
  PerLine scaleB_;
  double scaleY_;
  double zeroY_;
};

Status qLinearMatMul(KernelContext& ctx) {
  auto q = quantizedMatMul(ctx, 0, 3);
  if (!q) return q.status();
  const MatMulProblem& p = q->problem;
  PerLine lines[4];
  constexpr std::size_t kInputs[4] = {1, 2, 4, 5};  // scale and zero point of A, of B
  for (std::size_t i = 0; i < 4; ++i) {
    auto given =
        perLine(ctx, kInputs[i], i < 2 ? q->matricesA : q->matricesB, i < 2 ? p.shape.rows : p.shape.columns);
    if (!given) return given.status();
    lines[i] = *given;
  }
  const ZeroedOperand a(ctx.input(0), p.alongDepthA, p.lineStrideA, p.offsetsA, p.shape.rows * p.shape.depth,
                        lines[1], p.shape.rows);
  const ZeroedOperand b(ctx.input(3), p.alongDepthB, p.lineStrideB, p.offsetsB,
                        p.shape.columns * p.shape.depth, lines[3], p.shape.columns);
  if (ctx.input(6).count() != 1 || (ctx.hasInput(7) && ctx.input(7).count() != 1)) {
    return Status(ErrorCode::kShapeMismatch, "The scale and zero point of the result must be scalars")
        .expected("one element");
  }
  const double zeroY = ctx.hasInput(7) ? realAt(ctx.input(7), 0) : 0;
  product<double>(ctx.threads(), p.shape, a, b,
                  RequantizeSink(ctx.output(0), *q, lines[0], lines[2], realAt(ctx.input(6), 0), zeroY));
  return Status::ok();
}

// X minus its zero point, in scratch memory.
Result<const double*> zeroedImage(KernelContext& ctx, const TensorView& x, const TensorView& zero) {
  if (zero.isGiven() && zero.count() != 1) {
    return Status(ErrorCode::kShapeMismatch, "The zero point of the image must be a scalar")
        .expected("one element");
  }
  auto values = loadAll(ctx, x);
  if (!values) return values.status();
  const double offset = zero.isGiven() ? realAt(zero, 0) : 0;
  if (offset != 0) {
    for (std::int64_t i = 0; i < x.count(); ++i) (*values)[i] -= offset;
  }
  return static_cast<const double*>(*values);
}

// Filters minus their zero points; line = filter.
class ZeroedFilters final : public ProductOperand<double> {
 public:
  ZeroedFilters(const TensorView& w, std::int64_t depth, PerLine zero, std::int64_t filters)
      : ProductOperand(true),
        dense_(w, true, depth),
        zero_(zero),
        filters_(filters) {}
  void load(std::int64_t, std::int64_t line, std::int64_t begin, std::int64_t count,
            double* out) const override {
    dense_.load(0, line, begin, count, out);
    const double zero = zero_.at(0, filters_, line, 0);
    for (std::int64_t k = 0; k < count; ++k) out[k] -= zero;
  }

 private:
  DenseOperand<double> dense_;
  PerLine zero_;
  std::int64_t filters_;
};

class IntegerConvSink final : public ConvSink {
 public:
  IntegerConvSink(const MutableTensorView& y, const ConvProblem& problem)
      : sink_(y, {1, problem.filters, problem.window.outCount(), 0}) {}
  void store(std::int64_t image, std::int64_t filter, std::int64_t position, std::int64_t count,
             const double* values) const override {
    sink_.store(image, filter, position, count, values);
  }

 private:
  IntegerSink sink_;
};

Status convInteger(KernelContext& ctx) {
  auto problem = convProblem(ctx.attributes(), ctx.input(0).dims, ctx.input(1).dims, ctx.output(0).dims);
  if (!problem) return problem.status();
  auto zeroW = perLine(ctx, 3, 1, problem->filters);
  if (!zeroW) return zeroW.status();
  auto x = zeroedImage(ctx, ctx.input(0), ctx.input(2));
  if (!x) return x.status();
  return convolve<double>(ctx, *problem, *x,
                          ZeroedFilters(ctx.input(1), problem->depth(), *zeroW, problem->filters),
                          IntegerConvSink(ctx.output(0), *problem));
}

class RequantizeConvSink final : public ConvSink {
 public:
  RequantizeConvSink(const MutableTensorView& y, const ConvProblem& problem, double scale, PerLine scaleW,
                     double zeroY, const double* bias)
      : y_(y),
        problem_(problem),
        scale_(scale),
        scaleW_(scaleW),
        zeroY_(zeroY),
        bias_(bias) {}
  void store(std::int64_t image, std::int64_t filter, std::int64_t position, std::int64_t count,
             const double* values) const override {
    double result[kProductRun];
    const double scale = scale_ * scaleW_.at(0, problem_.filters, filter, 1);
    const double bias = bias_ == nullptr ? 0 : bias_[filter];
    for (std::int64_t i = 0; i < count; ++i)
      result[i] = requantize((values[i] + bias) * scale, zeroY_, y_.dtype);
    storeBlock(y_, (image * problem_.filters + filter) * problem_.window.outCount() + position, count,
               result);
  }

 private:
  MutableTensorView y_;
  const ConvProblem& problem_;
  double scale_;
  PerLine scaleW_;
  double zeroY_;
  const double* bias_;
};

// Inputs: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B.
Status qLinearConv(KernelContext& ctx) {
  auto problem = convProblem(ctx.attributes(), ctx.input(0).dims, ctx.input(3).dims, ctx.output(0).dims);
  if (!problem) return problem.status();
  auto scaleW = perLine(ctx, 4, 1, problem->filters);
  if (!scaleW) return scaleW.status();
  auto zeroW = perLine(ctx, 5, 1, problem->filters);
  if (!zeroW) return zeroW.status();
  auto bias = perLine(ctx, 8, 1, problem->filters);
  if (!bias) return bias.status();
  if (ctx.input(1).count() != 1 || ctx.input(6).count() != 1 ||
      (ctx.hasInput(7) && ctx.input(7).count() != 1) ||
      (bias->values != nullptr && bias->count != problem->filters)) {
    return Status(
        ErrorCode::kShapeMismatch,
        "Scales and zero points of image and result must be scalars, the bias one value for each filter");
  }
  auto x = zeroedImage(ctx, ctx.input(0), ctx.input(2));
  if (!x) return x.status();
  const double scale = realAt(ctx.input(1), 0) / realAt(ctx.input(6), 0);
  const double zeroY = ctx.hasInput(7) ? realAt(ctx.input(7), 0) : 0;
  return convolve<double>(ctx, *problem, *x,
                          ZeroedFilters(ctx.input(3), problem->depth(), *zeroW, problem->filters),
                          RequantizeConvSink(ctx.output(0), *problem, scale, *scaleW, zeroY, bias->values));
}

const RegisterKernel kMatMulInteger("", "MatMulInteger", matMulInteger);
const RegisterKernel kQLinearMatMul("", "QLinearMatMul", qLinearMatMul);
const RegisterKernel kConvInteger("", "ConvInteger", convInteger);
const RegisterKernel kQLinearConv("", "QLinearConv", qLinearConv);

}  // namespace

}  // namespace rota::ref
