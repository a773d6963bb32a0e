// SPDX-License-Identifier: Apache-2.0
// Pointwise operators of com.microsoft: the Gelu family and quantised sums, products and activations. Everything is computed in double and rounded once.
// Tested by src/ref/microsoft_test.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "ref/blocks.h"
#include "ref/broadcast.h"
#include "ref/common.h"
#include "ref/quantized_product.h"

namespace rota::ref {

namespace {

double geluExact(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double geluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

// y = f(x + bias), the bias broadcast to x.
template <typename F> Status biasedMap(KernelContext& ctx, std::size_t biasInput, const F& f) {
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  const bool biased = ctx.hasInput(biasInput);
  if (biased) {
    auto dims = broadcastDims(x.dims, ctx.input(biasInput).dims);
    if (!dims || elementCount(*dims) != x.count()) {
      return Status(ErrorCode::kShapeMismatch, "The bias does not broadcast to the input")
          .expected(dimsText(x.dims))
          .found(dimsText(ctx.input(biasInput).dims));
    }
  }
  const BroadcastReader bias(biased ? ctx.input(biasInput) : x, x.dims);
  ctx.threads().parallelFor(x.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::array<double, kBlock> values;
    std::array<double, kBlock> addend;
    for (std::int64_t b = begin; b < end; b += kBlock) {
      const std::int64_t n = std::min(kBlock, end - b);
      loadBlock(x, b, n, values.data());
      if (biased) bias.load(b, n, addend.data());
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        values[i] = f(biased ? values[i] + addend[i] : values[i]);
      storeBlock(y, b, n, values.data());
    }
  });
  return Status::ok();
}

Status microsoftGelu(KernelContext& ctx) { return biasedMap(ctx, 1, geluExact); }
Status microsoftFastGelu(KernelContext& ctx) { return biasedMap(ctx, 1, geluTanh); }
Status microsoftQuickGelu(KernelContext& ctx) {
  const double alpha = ctx.attributes().getFloat("alpha", 1.702F);
  return biasedMap(ctx, 1, [alpha](double x) { return x / (1 + std::exp(-alpha * x)); });
}

struct ScalarScale {
  double scale = 1;
  double zero = 0;
};
// A scale and its optional zero point, both scalars.
Result<ScalarScale> scalarScale(const KernelContext& ctx, std::size_t scale, std::size_t zero) {
  if (!ctx.hasInput(scale) || ctx.input(scale).count() != 1 ||
      (ctx.hasInput(zero) && ctx.input(zero).count() != 1)) {
    return Status(ErrorCode::kShapeMismatch, "Scale and zero point must be scalars")
        .expected("one element each");
  }
  return ScalarScale{realAt(ctx.input(scale), 0), ctx.hasInput(zero) ? realAt(ctx.input(zero), 0) : 0};
}

// Inputs: A, scale, zero, B, scale, zero, scale of C, zero of C.
template <typename F> Status quantizedBinary(KernelContext& ctx, const F& f) {
  ScalarScale s[3];
  for (std::size_t i = 0; i < 3; ++i) {
    auto one = scalarScale(ctx, i == 2 ? 6 : 3 * i + 1, i == 2 ? 7 : 3 * i + 2);
    if (!one) return one.status();
    s[i] = *one;
  }
  const MutableTensorView y = ctx.output(0);
  const BroadcastReader a(ctx.input(0), y.dims);
  const BroadcastReader b(ctx.input(3), y.dims);
  ctx.threads().parallelFor(y.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::array<double, kBlock> left;
    std::array<double, kBlock> right;
    for (std::int64_t at = begin; at < end; at += kBlock) {
      const std::int64_t n = std::min(kBlock, end - at);
      a.load(at, n, left.data());
      b.load(at, n, right.data());
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        left[i] = requantize(
            f((left[i] - s[0].zero) * s[0].scale, (right[i] - s[1].zero) * s[1].scale) / s[2].scale,
            s[2].zero, y.dtype);
      }
      storeBlock(y, at, n, left.data());
    }
  });
  return Status::ok();
}

Status qLinearAdd(KernelContext& ctx) {
  return quantizedBinary(ctx, [](double a, double b) { return a + b; });
}
Status qLinearMul(KernelContext& ctx) {
  return quantizedBinary(ctx, [](double a, double b) { return a * b; });
}

// Inputs: X, scale, zero, scale of Y, zero of Y.
template <typename F> Status quantizedUnary(KernelContext& ctx, const F& f) {
  auto in = scalarScale(ctx, 1, 2);
  if (!in) return in.status();
  auto out = scalarScale(ctx, 3, 4);
  if (!out) return out.status();
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  ctx.threads().parallelFor(x.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::array<double, kBlock> values;
    for (std::int64_t at = begin; at < end; at += kBlock) {
      const std::int64_t n = std::min(kBlock, end - at);
      loadBlock(x, at, n, values.data());
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        values[i] = requantize(f((values[i] - in->zero) * in->scale) / out->scale, out->zero, y.dtype);
      }
      storeBlock(y, at, n, values.data());
    }
  });
  return Status::ok();
}

Status qLinearSigmoid(KernelContext& ctx) {
  return quantizedUnary(ctx, [](double x) { return 1 / (1 + std::exp(-x)); });
}
Status qLinearLeakyRelu(KernelContext& ctx) {
  const double alpha = ctx.attributes().getFloat("alpha", 0.01F);
  return quantizedUnary(ctx, [alpha](double x) { return x >= 0 ? x : alpha * x; });
}

// Inputs: scale of Y, zero of Y, then tensor, scale, zero of each part.
Status qLinearConcat(KernelContext& ctx) {
  auto out = scalarScale(ctx, 0, 1);
  if (!out) return out.status();
  const MutableTensorView y = ctx.output(0);
  auto axis = axisOf(ctx.attributes().getInt("axis"), y.rank());
  if (!axis) return axis.status();
  const AxisSplit whole = splitAt(y.dims, *axis);
  std::int64_t first = 0;
  for (std::size_t i = 2; i + 2 < ctx.inputCount(); i += 3) {
    auto in = scalarScale(ctx, i + 1, i + 2);
    if (!in) return in.status();
    const TensorView x = ctx.input(i);
    const std::int64_t run = x.dims[*axis] * whole.inner;
    if (x.rank() != y.rank() || first + x.dims[*axis] > whole.axis || x.count() != whole.outer * run) {
      return Status(ErrorCode::kShapeMismatch, "The parts do not fit the joined tensor")
          .expected(dimsText(y.dims))
          .found(dimsText(x.dims));
    }
    for (std::int64_t o = 0; o < whole.outer; ++o) {
      for (std::int64_t k = 0; k < run; ++k) {
        double value = 0;
        loadBlock(x, o * run + k, 1, &value);
        value = requantize((value - in->zero) * in->scale / out->scale, out->zero, y.dtype);
        storeBlock(y, (o * whole.axis + first) * whole.inner + k, 1, &value);
      }
    }
    first += x.dims[*axis];
  }
  return Status::ok();
}

Status qLinearSoftmax(KernelContext& ctx) {
  auto in = scalarScale(ctx, 1, 2);
  if (!in) return in.status();
  auto out = scalarScale(ctx, 3, 4);
  if (!out) return out.status();
  const TensorView x = ctx.input(0);
  auto axis = axisOf(ctx.attributes().getInt("axis", -1), x.rank());
  if (!axis) return axis.status();
  AxisSplit s = splitAt(x.dims, *axis);
  if (ctx.attributes().getInt("opset", 13) < 13) {  // all axes from `axis` on are one
    s.axis *= s.inner;
    s.inner = 1;
  }
  auto values = loadAll(ctx, x);
  if (!values) return values.status();
  for (std::int64_t line = 0; line < s.outer * s.inner; ++line) {
    double* row = *values + line / s.inner * s.axis * s.inner + line % s.inner;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < s.axis; ++k) largest = std::max(largest, row[k * s.inner]);
    double sum = 0;
    for (std::int64_t k = 0; k < s.axis; ++k)
      sum += row[k * s.inner] = std::exp((row[k * s.inner] - largest) * in->scale);
    for (std::int64_t k = 0; k < s.axis; ++k)
      row[k * s.inner] = requantize(row[k * s.inner] / sum / out->scale, out->zero, ctx.output(0).dtype);
  }
  storeBlock(ctx.output(0), 0, x.count(), *values);
  return Status::ok();
}

// The com.microsoft forms of QuantizeLinear and DequantizeLinear mean the same as those of the default domain.
Status microsoftQuantizeLinear(KernelContext& ctx) { return findKernel("", "QuantizeLinear")(ctx); }
Status microsoftDequantizeLinear(KernelContext& ctx) { return findKernel("", "DequantizeLinear")(ctx); }

const RegisterKernel kMicrosoftGelu("com.microsoft", "Gelu", microsoftGelu);
const RegisterKernel kMicrosoftFastGelu("com.microsoft", "FastGelu", microsoftFastGelu);
const RegisterKernel kMicrosoftBiasGelu("com.microsoft", "BiasGelu", microsoftGelu);
const RegisterKernel kMicrosoftQuickGelu("com.microsoft", "QuickGelu", microsoftQuickGelu);
const RegisterKernel kQLinearAdd("com.microsoft", "QLinearAdd", qLinearAdd);
const RegisterKernel kQLinearMul("com.microsoft", "QLinearMul", qLinearMul);
const RegisterKernel kQLinearSigmoid("com.microsoft", "QLinearSigmoid", qLinearSigmoid);
const RegisterKernel kQLinearLeakyRelu("com.microsoft", "QLinearLeakyRelu", qLinearLeakyRelu);
const RegisterKernel kQLinearConcat("com.microsoft", "QLinearConcat", qLinearConcat);
const RegisterKernel kQLinearSoftmax("com.microsoft", "QLinearSoftmax", qLinearSoftmax);
const RegisterKernel kMicrosoftQuantizeLinear("com.microsoft", "QuantizeLinear", microsoftQuantizeLinear);
const RegisterKernel kMicrosoftDequantizeLinear("com.microsoft", "DequantizeLinear",
                                                microsoftDequantizeLinear);

}  // namespace

}  // namespace rota::ref
