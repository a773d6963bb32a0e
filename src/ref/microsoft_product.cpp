// SPDX-License-Identifier: Apache-2.0
// Products of com.microsoft: FusedMatMul, FusedGemm, FusedConv, MatMulIntegerToFloat, DynamicQuantizeMatMul, MatMulNBits.
// Tested by src/ref/microsoft_test.cpp.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.h"
#include "ref/blocks.h"
#include "ref/common.h"
#include "ref/conv.h"
#include "ref/matmul.h"
#include "ref/quantized_product.h"
#include "ref/recurrent.h"

namespace rota::ref {

namespace {

// factor * sum.
class ScaledSink final : public ProductSink<double> {
 public:
  ScaledSink(const MutableTensorView& y, const ProductShape& shape, double factor)
      : y_(y),
        rows_(shape.rows),
        columns_(shape.columns),
        factor_(factor) {}
  void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
             const double* values) const override {
    double result[kProductRun];
    for (std::int64_t i = 0; i < count; ++i) result[i] = values[i] * factor_;
    storeBlock(y_, (batch * rows_ + row) * columns_ + column, count, result);
  }

 private:
  MutableTensorView y_;
  std::int64_t rows_;
  std::int64_t columns_;
  double factor_;
};

Status fusedMatMul(KernelContext& ctx) {
  const Attributes& attributes = ctx.attributes();
  auto p = matMulProblem(ctx, ctx.input(0), ctx.input(1), attributes.getInt("transA") != 0,
                         attributes.getInt("transB") != 0, attributes.getInt("transBatchA") != 0,
                         attributes.getInt("transBatchB") != 0);
  if (!p) return p.status();
  const DenseOperand<double> a(ctx.input(0), p->alongDepthA, p->lineStrideA, p->offsetsA);
  const DenseOperand<double> b(ctx.input(1), p->alongDepthB, p->lineStrideB, p->offsetsB);
  product<double>(ctx.threads(), p->shape, a, b,
                  ScaledSink(ctx.output(0), p->shape, attributes.getFloat("alpha", 1)));
  return Status::ok();
}

// The activation that is fused into a product; nothing when there is none.
Result<const ActivationFunction*> fusedActivation(const Attributes& attributes,
                                                  ActivationFunction& function) {
  const std::string_view name = attributes.getString("activation");
  if (name.empty()) return static_cast<const ActivationFunction*>(nullptr);
  auto found = fusedActivationNamed(name);
  if (!found) return found.status();
  function = *found;
  if (const auto* params = attributes.getFloats("activation_params"); params != nullptr) {
    if (!params->empty()) function.alpha = (*params)[0];
    if (params->size() > 1) function.beta = (*params)[1];
  }
  if (attributes.has("activation_alpha")) function.alpha = attributes.getFloat("activation_alpha");
  if (attributes.has("activation_beta")) function.beta = attributes.getFloat("activation_beta");
  return static_cast<const ActivationFunction*>(&function);
}

// f(alpha * sum + beta * C), C broadcast to [rows, columns] or absent.
class FusedGemmSink final : public ProductSink<double> {
 public:
  FusedGemmSink(const MutableTensorView& y, const TensorView& c, const double* values, double alpha,
                const ActivationFunction* f, const ProductShape& shape)
      : y_(y),
        c_(values),
        alpha_(alpha),
        f_(f),
        columns_(shape.columns) {
    const std::size_t rank = c.rank();
    rowStep_ = rank == 2 && c.dims[0] != 1 ? c.dims[1] : 0;
    columnStep_ = rank >= 1 && c.dims[rank - 1] != 1 ? 1 : 0;
  }
  void store(std::int64_t, std::int64_t row, std::int64_t column, std::int64_t count,
             const double* values) const override {
    double result[kProductRun];
    for (std::int64_t i = 0; i < count; ++i) {
      const double sum =
          alpha_ * values[i] + (c_ == nullptr ? 0 : c_[row * rowStep_ + (column + i) * columnStep_]);
      result[i] = f_ == nullptr ? sum : (*f_)(sum);
    }
    storeBlock(y_, row * columns_ + column, count, result);
  }

 private:
  MutableTensorView y_;
  const double* c_;  // already times beta
  double alpha_;
  const ActivationFunction* f_;
  std::int64_t columns_;
  std::int64_t rowStep_ = 0;
  std::int64_t columnStep_ = 0;
};

Status fusedGemm(KernelContext& ctx) {
  const Attributes& attributes = ctx.attributes();
  const TensorView c = ctx.input(2);
  if (ctx.input(0).rank() != 2 || ctx.input(1).rank() != 2 || c.rank() > 2) {
    return Status(ErrorCode::kShapeMismatch, "FusedGemm multiplies matrices")
        .expected("A and B of rank 2, C of at most 2");
  }
  auto p = matMulProblem(ctx, ctx.input(0), ctx.input(1), attributes.getInt("transA") != 0,
                         attributes.getInt("transB") != 0);
  if (!p) return p.status();
  if (c.isGiven()) {
    auto both = broadcastDims(c.dims, DimArray{p->shape.rows, p->shape.columns});
    if (!both || (*both)[0] != p->shape.rows || (*both)[1] != p->shape.columns) {
      return Status(ErrorCode::kShapeMismatch, "C of FusedGemm does not broadcast to the result")
          .found(dimsText(c.dims));
    }
  }
  auto values = loadAll(ctx, c);
  if (!values) return values.status();
  const double beta = attributes.getFloat("beta", 1);
  for (std::int64_t i = 0; c.isGiven() && i < c.count(); ++i) (*values)[i] *= beta;
  ActivationFunction function;
  auto f = fusedActivation(attributes, function);
  if (!f) return f.status();
  const DenseOperand<double> a(ctx.input(0), p->alongDepthA, p->lineStrideA, p->offsetsA);
  const DenseOperand<double> b(ctx.input(1), p->alongDepthB, p->lineStrideB, p->offsetsB);
  product<double>(ctx.threads(), p->shape, a, b,
                  FusedGemmSink(ctx.output(0), c, *values, attributes.getFloat("alpha", 1), *f, p->shape));
  return Status::ok();
}

// f(sum + bias + Z), Z of the shape of the result.
class FusedConvSink final : public ConvSink {
 public:
  FusedConvSink(const MutableTensorView& y, const TensorView& z, const double* bias,
                const ActivationFunction* f, const ConvProblem& problem)
      : y_(y),
        z_(z),
        bias_(bias),
        f_(f),
        filters_(problem.filters),
        positions_(problem.window.outCount()) {}
  void store(std::int64_t image, std::int64_t filter, std::int64_t position, std::int64_t count,
             const double* values) const override {
    double sums[kProductRun];
    double addend[kProductRun];
    const std::int64_t at = (image * filters_ + filter) * positions_ + position;
    if (z_.isGiven()) loadBlock(z_, at, count, addend);
    for (std::int64_t i = 0; i < count; ++i) {
      sums[i] = values[i] + (bias_ == nullptr ? 0 : bias_[filter]) + (z_.isGiven() ? addend[i] : 0);
      if (f_ != nullptr) sums[i] = (*f_)(sums[i]);
    }
    storeBlock(y_, at, count, sums);
  }

 private:
  MutableTensorView y_;
  TensorView z_;
  const double* bias_;
  const ActivationFunction* f_;
  std::int64_t filters_;
  std::int64_t positions_;
};

Status fusedConv(KernelContext& ctx) {
  auto problem = convProblem(ctx.attributes(), ctx.input(0).dims, ctx.input(1).dims, ctx.output(0).dims);
  if (!problem) return problem.status();
  if ((ctx.hasInput(2) && ctx.input(2).count() != problem->filters) ||
      (ctx.hasInput(3) && ctx.input(3).count() != ctx.output(0).count())) {
    return Status(ErrorCode::kShapeMismatch, "Bias or summand of the convolution has the wrong size");
  }
  auto bias = loadAll(ctx, ctx.input(2));
  if (!bias) return bias.status();
  auto x = loadAll(ctx, ctx.input(0));
  if (!x) return x.status();
  ActivationFunction function;
  auto f = fusedActivation(ctx.attributes(), function);
  if (!f) return f.status();
  return convolve<double>(ctx, *problem, *x, DenseOperand<double>(ctx.input(1), true, problem->depth()),
                          FusedConvSink(ctx.output(0), ctx.input(3), *bias, *f, *problem));
}

// sum * scaleA * scaleB + bias, in real numbers.
class DequantizeSink final : public ProductSink<double> {
 public:
  DequantizeSink(const MutableTensorView& y, const ProductShape& shape, PerLine scaleA, PerLine scaleB,
                 const double* bias)
      : y_(y),
        shape_(shape),
        scaleA_(scaleA),
        scaleB_(scaleB),
        bias_(bias) {}
  void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
             const double* values) const override {
    double result[kProductRun];
    for (std::int64_t i = 0; i < count; ++i) {
      result[i] =
          values[i] * scaleA_.at(0, shape_.rows, row, 1) * scaleB_.at(0, shape_.columns, column + i, 1) +
          (bias_ == nullptr ? 0 : bias_[column + i]);
    }
    storeBlock(y_, (batch * shape_.rows + row) * shape_.columns + column, count, result);
  }

 private:
  MutableTensorView y_;
  const ProductShape& shape_;
  PerLine scaleA_;
  PerLine scaleB_;
  const double* bias_;
};

Result<const double*> columnBias(KernelContext& ctx, std::size_t input, std::int64_t columns) {
  if (ctx.hasInput(input) && ctx.input(input).count() != columns) {
    return Status(ErrorCode::kShapeMismatch, "The bias has the wrong size")
        .expected(std::to_string(columns) + " elements")
        .found(std::to_string(ctx.input(input).count()));
  }
  auto values = loadAll(ctx, ctx.input(input));
  if (!values) return values.status();
  return static_cast<const double*>(*values);
}

// Inputs: A, B, scale of A, scale of B, zero of A, zero of B, bias.
Status matMulIntegerToFloat(KernelContext& ctx) {
  auto q = quantizedMatMul(ctx, 0, 1);
  if (!q) return q.status();
  const MatMulProblem& p = q->problem;
  PerLine lines[4];  // scales, zeros
  for (std::size_t i = 0; i < 4; ++i) {
    auto one = perLine(ctx, 2 + i, 1, i % 2 == 0 ? p.shape.rows : p.shape.columns);
    if (!one) return one.status();
    lines[i] = *one;
  }
  auto bias = columnBias(ctx, 6, p.shape.columns);
  if (!bias) return bias.status();
  const ZeroedOperand a(ctx.input(0), p.alongDepthA, p.lineStrideA, p.offsetsA, 0, lines[2], p.shape.rows);
  const ZeroedOperand b(ctx.input(1), p.alongDepthB, p.lineStrideB, p.offsetsB, 0, lines[3], p.shape.columns);
  product<double>(ctx.threads(), p.shape, a, b,
                  DequantizeSink(ctx.output(0), p.shape, lines[0], lines[1], *bias));
  return Status::ok();
}

// A, quantised to uint8 as DynamicQuantizeLinear does, minus its zero point, in place. Gives the scale.
double quantizeDynamically(double* values, std::int64_t count) {
  double low = 0, high = 0;
  for (std::int64_t i = 0; i < count; ++i) low = std::min(low, values[i]), high = std::max(high, values[i]);
  const double scale = static_cast<float>((high - low) / 255);
  if (scale == 0) return 1;
  const double zero = requantize(-low / scale, 0, DType::kUInt8);
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = requantize(static_cast<float>(values[i] / scale), zero, DType::kUInt8) - zero;
  return scale;
}

// Inputs: A, B, scale of B, zero of B, bias.
Status dynamicQuantizeMatMul(KernelContext& ctx) {
  auto q = quantizedMatMul(ctx, 0, 1);
  if (!q) return q.status();
  const MatMulProblem& p = q->problem;
  auto scaleB = perLine(ctx, 2, 1, p.shape.columns);
  if (!scaleB) return scaleB.status();
  auto zeroB = perLine(ctx, 3, 1, p.shape.columns);
  if (!zeroB) return zeroB.status();
  auto bias = columnBias(ctx, 4, p.shape.columns);
  if (!bias) return bias.status();
  auto values = loadAll(ctx, ctx.input(0));
  if (!values) return values.status();
  const double scale = quantizeDynamically(*values, ctx.input(0).count());
  const TensorView quantised{DType::kFloat64, ctx.input(0).dims, *values};
  const DenseOperand<double> a(quantised, p.alongDepthA, p.lineStrideA, p.offsetsA);
  const ZeroedOperand b(ctx.input(1), p.alongDepthB, p.lineStrideB, p.offsetsB, 0, *zeroB, p.shape.columns);
  product<double>(ctx.threads(), p.shape, a, b,
                  DequantizeSink(ctx.output(0), p.shape, PerLine{&scale, 1}, *scaleB, *bias));
  return Status::ok();
}

// Weights of `bits` bits in blocks along k, each with its scale and zero point; line = output column.
class BlockQuantisedWeights final : public ProductOperand<double> {
 public:
  struct Layout {
    std::int64_t bits, blockSize, blocks, depth;
    const std::uint8_t* packed;   // [column, block, blockSize * bits / 8]
    const double* scales;         // [column, block]
    const double* zeros;          // [column, block], or nullptr
    const std::int64_t* blockOf;  // [depth], or nullptr: the block of element k where elements were reordered
  };
  explicit BlockQuantisedWeights(const Layout& layout) : ProductOperand(true), l_(layout) {}
  void load(std::int64_t, std::int64_t line, std::int64_t begin, std::int64_t count,
            double* out) const override {
    const std::int64_t rowBits = l_.blocks * l_.blockSize * l_.bits;
    const auto mask = static_cast<std::uint8_t>((1U << l_.bits) - 1U);
    const double middle = std::ldexp(1.0, static_cast<int>(l_.bits) - 1);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t k = begin + i;
      const std::int64_t bit = line * rowBits + k * l_.bits;
      const double value = l_.packed[bit / 8] >> (bit % 8) & mask;
      const std::int64_t block =
          line * l_.blocks + (l_.blockOf == nullptr ? k / l_.blockSize : l_.blockOf[k]);
      out[i] = (value - (l_.zeros == nullptr ? middle : l_.zeros[block])) * l_.scales[block];
    }
  }

 private:
  Layout l_;
};

// Zero points [columns, blocks]: reals, or packed like the weights with every column starting at a byte.
Result<const double*> blockZeros(KernelContext& ctx, std::int64_t columns, std::int64_t blocks,
                                 std::int64_t bits) {
  const TensorView given = ctx.input(3);
  if (!given.isGiven()) return static_cast<const double*>(nullptr);
  const bool packed = given.dtype == DType::kUInt8;
  const std::int64_t rowBytes = (blocks * bits + 7) / 8;
  if (given.count() != (packed ? columns * rowBytes : columns * blocks)) {
    return Status(ErrorCode::kShapeMismatch, "The zero points of MatMulNBits do not fit the weights")
        .found(dimsText(given.dims));
  }
  if (!packed) {
    auto values = loadAll(ctx, given);
    if (!values) return values.status();
    return static_cast<const double*>(*values);
  }
  auto zeros = ctx.scratch<double>(columns * blocks);
  if (!zeros) return zeros.status();
  const auto* bytes = given.as<std::uint8_t>();
  for (std::int64_t i = 0; i < columns * blocks; ++i) {
    const std::int64_t bit = i % blocks * bits;
    (*zeros)[i] = bytes[i / blocks * rowBytes + bit / 8] >> (bit % 8) & ((1 << bits) - 1);
  }
  return static_cast<const double*>(*zeros);
}

// Inputs: A, packed B, scales, zero points, group index, bias.
Status matMulNBits(KernelContext& ctx) {
  const std::int64_t columns = ctx.attributes().getInt("N"), depth = ctx.attributes().getInt("K"),
                     blockSize = ctx.attributes().getInt("block_size");
  const std::int64_t bits = ctx.attributes().getInt("bits", 4);
  const TensorView a = ctx.input(0);
  const std::int64_t blocks = blockSize < 1 ? 0 : (depth + blockSize - 1) / blockSize;
  if ((bits != 2 && bits != 4 && bits != 8) || blockSize < 1 || blockSize * bits % 8 != 0 || a.rank() < 1 ||
      a.dims[a.rank() - 1] != depth || ctx.input(1).count() != columns * blocks * (blockSize * bits / 8) ||
      ctx.input(2).count() != columns * blocks || (ctx.hasInput(4) && ctx.input(4).count() < depth)) {
    return Status(ErrorCode::kShapeMismatch, "The packed weights of MatMulNBits do not fit its attributes")
        .expected("B [N, ceil(K / block_size), block_size * bits / 8], one scale a block, 2, 4 or 8 bits");
  }
  auto scales = loadAll(ctx, ctx.input(2));
  if (!scales) return scales.status();
  auto zeros = blockZeros(ctx, columns, blocks, bits);
  if (!zeros) return zeros.status();
  auto bias = columnBias(ctx, 5, columns);
  if (!bias) return bias.status();
  std::int64_t* blockOf = nullptr;
  if (ctx.hasInput(4)) {
    auto memory = ctx.scratch<std::int64_t>(depth);
    if (!memory) return memory.status();
    blockOf = *memory;
    for (std::int64_t k = 0; k < depth; ++k) {
      blockOf[k] = intAt(ctx.input(4), k);
      if (blockOf[k] < 0 || blockOf[k] >= blocks) {
        return Status(ErrorCode::kBadIndex, "A group index of MatMulNBits is outside the blocks")
            .expected("0 to " + std::to_string(blocks - 1))
            .found(std::to_string(blockOf[k]));
      }
    }
  }
  const ProductShape shape{1, depth == 0 ? 0 : a.count() / depth, columns, depth};
  const BlockQuantisedWeights b(
      {bits, blockSize, blocks, depth, ctx.input(1).as<std::uint8_t>(), *scales, *zeros, blockOf});
  product<double>(ctx.threads(), shape, DenseOperand<double>(a, true, depth), b,
                  DequantizeSink(ctx.output(0), shape, {}, {}, *bias));
  return Status::ok();
}

const RegisterKernel kFusedMatMul("com.microsoft", "FusedMatMul", fusedMatMul);
const RegisterKernel kFusedGemm("com.microsoft", "FusedGemm", fusedGemm);
const RegisterKernel kFusedConv("com.microsoft", "FusedConv", fusedConv);
const RegisterKernel kMatMulIntegerToFloat("com.microsoft", "MatMulIntegerToFloat", matMulIntegerToFloat);
const RegisterKernel kDynamicQuantizeMatMul("com.microsoft", "DynamicQuantizeMatMul", dynamicQuantizeMatMul);
const RegisterKernel kMatMulNBits("com.microsoft", "MatMulNBits", matMulNBits);

}  // namespace

}  // namespace rota::ref
