// SPDX-License-Identifier: Apache-2.0
// Reference kernels of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
//
// The quotient is rounded to the type of the scale (or to `precision`) before it is rounded to a whole number, because ties depend on it: a double
// quotient rounded to float32 or float16 is the correctly rounded one. Everything else is exact in double.
// Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include <cmath>
#include <limits>

#include "core/float_convert.h"
#include "ref/broadcast.h"

namespace rota::ref {
namespace {

/// Scale or zero point, read in the order of the quantised tensor: one for all, one for each index of an axis, or one for each block along it.
class QuantizationReader {
 public:
  static Result<QuantizationReader> make(const KernelContext& ctx, std::size_t input) {
    const TensorView x = ctx.input(0);
    const TensorView parameter = ctx.input(input);
    QuantizationReader reader;
    reader.view_ = parameter;
    const std::int64_t blockSize = ctx.attributes().getInt("block_size", 0);
    if (blockSize == 0 && parameter.count() == 1) {
      reader.broadcast_ = BroadcastReader(TensorView{parameter.dtype, Dims{}, parameter.data}, x.dims);
      return reader;
    }
    const auto axis = axisOf(ctx.attributes().getInt("axis", 1), x.rank());
    if (!axis) return axis.status();
    reader.split_ = splitAt(x.dims, *axis);
    const std::int64_t blocks = blockSize > 0 ? (reader.split_.axis + blockSize - 1) / blockSize : 1;
    const std::int64_t wanted =
        blockSize > 0 ? reader.split_.outer * blocks * reader.split_.inner : x.dims[*axis];
    if (parameter.count() != wanted) {
      return Status(ErrorCode::kShapeMismatch, "Scale or zero point do not fit the quantised tensor")
          .expected(std::to_string(wanted) + " elements")
          .found(dimsText(parameter.dims));
    }
    if (blockSize > 0) {
      reader.blockSize_ = blockSize;
      reader.blocks_ = blocks;
      return reader;
    }
    DimArray dims;
    for (std::size_t d = 0; d < x.rank(); ++d) dims.push(d == *axis ? x.dims[d] : 1);
    reader.broadcast_ = BroadcastReader(TensorView{parameter.dtype, dims, parameter.data}, x.dims);
    return reader;
  }

  void load(std::int64_t begin, std::int64_t n, double* out) const {
    if (blockSize_ == 0) return broadcast_.load(begin, n, out);
    while (n > 0) {
      const std::int64_t inner = begin % split_.inner;
      const std::int64_t along = begin / split_.inner % split_.axis;
      const std::int64_t outer = begin / split_.inner / split_.axis;
      const std::int64_t offset = (outer * blocks_ + along / blockSize_) * split_.inner + inner;
      std::int64_t run = 0;
      if (split_.inner == 1) {
        run = std::min({n, blockSize_ - along % blockSize_, split_.axis - along});
        std::fill_n(out, run, loadOne<double>(view_, offset));
      } else {
        run = std::min(n, split_.inner - inner);
        loadAsDouble(view_, offset, run, out);
      }
      out += run;
      begin += run;
      n -= run;
    }
  }

 private:
  TensorView view_;
  BroadcastReader broadcast_;
  AxisSplit split_;
  std::int64_t blockSize_ = 0;
  std::int64_t blocks_ = 0;
};

/// The value rounded to the precision in which the standard divides.
using RoundQuotient = double (*)(double);

RoundQuotient quotientRounding(DType precision) {
  switch (precision) {
    case DType::kFloat64: return [](double q) { return q; };
    case DType::kFloat16: return [](double q) { return float16ToDouble(float16FromDouble(q)); };
    case DType::kBFloat16:
      return [](double q) { return static_cast<double>(bfloat16ToFloat(bfloat16FromDouble(q))); };
    default: return [](double q) { return static_cast<double>(static_cast<float>(q)); };
  }
}

/// Ends of the range of an integer type; nothing is cut off for floating point, whose stores saturate.
struct ValueRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
};
ValueRange rangeOfInteger(DType dtype) {
  const DTypeInfo& row = info(dtype);
  if (row.dtypeClass == DTypeClass::kUnsigned) return {0, std::ldexp(1.0, row.bits) - 1};
  if (row.dtypeClass == DTypeClass::kSigned)
    return {-std::ldexp(1.0, row.bits - 1), std::ldexp(1.0, row.bits - 1) - 1};
  return {};
}

/// Stores values as 8-bit floats that overflow to NaN or infinity.
void storeUnsaturated(const MutableTensorView& y, std::int64_t begin, std::int64_t n, const double* values) {
  std::uint32_t (*encode)(double, bool) = nullptr;
  switch (y.dtype) {
    case DType::kFloat8E4M3FN: encode = encodeFloat<kFloat8E4M3FNFormat>; break;
    case DType::kFloat8E4M3FNUZ: encode = encodeFloat<kFloat8E4M3FNUZFormat>; break;
    case DType::kFloat8E5M2: encode = encodeFloat<kFloat8E5M2Format>; break;
    case DType::kFloat8E5M2FNUZ: encode = encodeFloat<kFloat8E5M2FNUZFormat>; break;
    default: return storeFromDouble(y, begin, n, values);
  }
  std::uint8_t* out = y.as<std::uint8_t>() + begin;
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(encode(values[i], false));
}

/// An integer code: NaN becomes the zero point.
double quantizeToInteger(double quotient, double zeroPoint, const ValueRange& range) {
  if (std::isnan(quotient)) return zeroPoint;
  return std::min(std::max(std::nearbyint(quotient) + zeroPoint, range.lo), range.hi);
}

Status quantizeLinearKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  auto scales = QuantizationReader::make(ctx, 1);
  if (!scales) return scales.status();
  QuantizationReader zeroPoints;
  if (ctx.hasInput(2)) {
    auto made = QuantizationReader::make(ctx, 2);
    if (!made) return made.status();
    zeroPoints = *made;
  }
  const std::int64_t named = ctx.attributes().getInt("precision", 0);
  const RoundQuotient round =
      quotientRounding(named != 0 ? dtypeFromOnnx(static_cast<int>(named)) : ctx.input(1).dtype);
  const bool saturates = ctx.attributes().getInt("saturate", 1) != 0;
  const bool isIntegerType = isInteger(y.dtype);
  const ValueRange range = rangeOfInteger(y.dtype);
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<double, kBlock> values;
    std::array<double, kBlock> scale;
    std::array<double, kBlock> zero{};
    loadAsDouble(x, begin, n, values.data());
    scales->load(begin, n, scale.data());
    if (ctx.hasInput(2)) zeroPoints.load(begin, n, zero.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      const double quotient = round(values[i] / scale[i]);
      values[i] = isIntegerType ? quantizeToInteger(quotient, zero[i], range) : quotient + zero[i];
    }
    if (saturates) {
      storeFromDouble(y, begin, n, values.data());
    } else {
      storeUnsaturated(y, begin, n, values.data());
    }
  });
  return Status::ok();
}
const RegisterKernel kQuantizeLinearKernel("", "QuantizeLinear", quantizeLinearKernel);

Status dequantizeLinearKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  auto scales = QuantizationReader::make(ctx, 1);
  if (!scales) return scales.status();
  QuantizationReader zeroPoints;
  if (ctx.hasInput(2)) {
    auto made = QuantizationReader::make(ctx, 2);
    if (!made) return made.status();
    zeroPoints = *made;
  }
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<double, kBlock> values;
    std::array<double, kBlock> operand;
    loadAsDouble(x, begin, n, values.data());
    if (ctx.hasInput(2)) {
      zeroPoints.load(begin, n, operand.data());
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) values[i] -= operand[i];
    }
    scales->load(begin, n, operand.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) values[i] *= operand[i];
    storeFromDouble(y, begin, n, values.data());
  });
  return Status::ok();
}
const RegisterKernel kDequantizeLinearKernel("", "DequantizeLinear", dequantizeLinearKernel);

/// The range of x, made to include 0; NaN is left out.
ValueRange rangeWithZero(const TensorView& x) {
  ValueRange range{0, 0};
  std::array<double, kBlock> values;
  for (std::int64_t b = 0; b < x.count(); b += kBlock) {
    const std::int64_t n = std::min(kBlock, x.count() - b);
    loadAsDouble(x, b, n, values.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      range.lo = std::min(range.lo, values[i]);
      range.hi = std::max(range.hi, values[i]);
    }
  }
  return range;
}

Status dynamicQuantizeLinearKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const ValueRange range = rangeWithZero(x);
  const RoundQuotient round = quotientRounding(DType::kFloat32);
  const double scale = round(round(range.hi - range.lo) / 255.0);
  const double zeroPoint =
      scale == 0 ? 0 : std::nearbyint(std::min(std::max(round(-range.lo / scale), 0.0), 255.0));
  if (ctx.hasOutput(1)) storeOne(ctx.output(1), 0, scale);
  if (ctx.hasOutput(2)) storeOne(ctx.output(2), 0, zeroPoint);
  if (!ctx.hasOutput(0)) return Status::ok();
  const MutableTensorView y = ctx.output(0);
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<double, kBlock> values;
    loadAsDouble(x, begin, n, values.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      values[i] = quantizeToInteger(round(values[i] / scale), zeroPoint, {0, 255});
    }
    storeFromDouble(y, begin, n, values.data());
  });
  return Status::ok();
}
const RegisterKernel kDynamicQuantizeLinearKernel("", "DynamicQuantizeLinear", dynamicQuantizeLinearKernel);

}  // namespace
}  // namespace rota::ref
