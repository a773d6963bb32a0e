// SPDX-License-Identifier: Apache-2.0
// Reference kernels of conversions: Cast, CastLike, BitCast, Identity.
//
// The rules of ordinary conversions are those of core/element_access.h. Two attributes need loops of their own: `saturate` = 0 for 8-bit
// floating point, and `round_mode` for float8e8m0. Equal types are copied, so that NaN payloads survive.
// Tested by src/ref/pointwise_test.cpp, src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include <cstring>

#include "core/float_convert.h"
#include "ref/broadcast.h"

namespace rota::ref {
namespace {

void copyTensorBytes(const TensorView& from, const MutableTensorView& to) {
  if (to.bytes() > 0) std::memcpy(to.data, from.data, to.bytes());
}

using Encode8 = std::uint8_t (*)(double value);

template <FloatFormat F> std::uint8_t encodeUnsaturated(double value) {
  return static_cast<std::uint8_t>(encodeFloat<F>(value, false));
}

template <E8M0Rounding kRounding, bool kSaturate> std::uint8_t encodeE8M0(double value) {
  return float8E8M0FromDouble(value, kRounding, kSaturate);
}

template <bool kSaturate> Encode8 e8m0Encoder(std::string_view roundMode) {
  if (roundMode == "down") return encodeE8M0<E8M0Rounding::kDown, kSaturate>;
  if (roundMode == "nearest") return encodeE8M0<E8M0Rounding::kNearest, kSaturate>;
  return encodeE8M0<E8M0Rounding::kUp, kSaturate>;
}

/// The encoder where attributes ask for other rules than those of element_access, else nullptr.
Encode8 specialEncoder(DType to, bool saturate, std::string_view roundMode) {
  if (to == DType::kFloat8E8M0)
    return saturate ? e8m0Encoder<true>(roundMode) : e8m0Encoder<false>(roundMode);
  if (saturate) return nullptr;
  switch (to) {
    case DType::kFloat8E4M3FN: return encodeUnsaturated<kFloat8E4M3FNFormat>;
    case DType::kFloat8E4M3FNUZ: return encodeUnsaturated<kFloat8E4M3FNUZFormat>;
    case DType::kFloat8E5M2: return encodeUnsaturated<kFloat8E5M2Format>;
    case DType::kFloat8E5M2FNUZ: return encodeUnsaturated<kFloat8E5M2FNUZFormat>;
    default: return nullptr;
  }
}

Status castKernel(KernelContext& ctx) {
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  if (x.dtype == y.dtype) {
    copyTensorBytes(x, y);
    return Status::ok();
  }
  if (!requireReal(ctx)) {
    return Status(ErrorCode::kUnsupportedType, "There is no conversion between these element types")
        .expected("numbers that are not complex")
        .found(std::string(info(x.dtype).name) + " to " + info(y.dtype).name);
  }
  const std::string_view roundMode = ctx.attributes().getString("round_mode", "up");
  if (const Encode8 encode =
          specialEncoder(y.dtype, ctx.attributes().getInt("saturate", 1) != 0, roundMode)) {
    forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
      std::array<double, kBlock> values;
      loadAsDouble(x, begin, n, values.data());
      std::uint8_t* out = y.as<std::uint8_t>() + begin;
      for (std::int64_t i = 0; i < n; ++i) out[i] = encode(values[static_cast<std::size_t>(i)]);
    });
    return Status::ok();
  }
  return byComputeType(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
      std::array<T, kBlock> values;
      loadValues(x, begin, n, values.data());
      storeValues(y, begin, n, values.data());
    });
    return Status::ok();
  });
}
const RegisterKernel kCastKernel("", "Cast", castKernel);
const RegisterKernel kCastLikeKernel("", "CastLike", castKernel);

Status bitCastKernel(KernelContext& ctx) {
  copyTensorBytes(ctx.input(0), ctx.output(0));
  return Status::ok();
}
const RegisterKernel kBitCastKernel("", "BitCast", bitCastKernel);

Status identityKernel(KernelContext& ctx) {
  if (const Sequence* sequence = ctx.inputSequence(0)) {
    *ctx.outputSequence(0) = *sequence;
    return Status::ok();
  }
  auto y = ctx.output(0, ctx.input(0).dims);
  if (!y) return y.status();
  copyTensorBytes(ctx.input(0), *y);
  return Status::ok();
}
const RegisterKernel kIdentityKernel("", "Identity", identityKernel);

}  // namespace
}  // namespace rota::ref
