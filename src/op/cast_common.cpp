// SPDX-License-Identifier: Apache-2.0
// Shared parts of Cast and CastLike; see cast_common.h. Tested by src/ref/pointwise_test.cpp, src/op/pointwise_test.cpp.
#include "op/cast_common.h"

#include "op/common.h"

namespace rota::op {

namespace {

/// Values of `dtype` within which contents pass a cast unchanged.
std::optional<SizeRange> exactContentsRange(DType dtype) {
  const DTypeInfo& row = info(dtype);
  if (dtype == DType::kFloat32) return SizeRange{-(std::int64_t{1} << 24), std::int64_t{1} << 24};
  if (dtype == DType::kFloat64) return SizeRange{-(std::int64_t{1} << 53), std::int64_t{1} << 53};
  if (row.dtypeClass != DTypeClass::kSigned && row.dtypeClass != DTypeClass::kUnsigned) return std::nullopt;
  if (row.bits >= 64)
    return SizeRange{row.dtypeClass == DTypeClass::kUnsigned ? 0 : std::numeric_limits<std::int64_t>::min()};
  if (row.dtypeClass == DTypeClass::kUnsigned) return SizeRange{0, (std::int64_t{1} << row.bits) - 1};
  const std::int64_t half = std::int64_t{1} << (row.bits - 1);
  return SizeRange{-half, half - 1};
}

bool hasPlainStore(DType dtype) {
  const DTypeInfo& row = info(dtype);
  if (row.dtypeClass == DTypeClass::kFloat) return row.bits >= 16;
  return row.bits >= 8 && (isInteger(dtype) || dtype == DType::kBool);
}

}  // namespace

Status inferCastTo(InferContext& ctx, DType dtype) {
  ctx.setOutput(0, dtype, ctx.inputShape(0));
  auto contents = ctx.contents(0);
  if (!contents) return Status::ok();
  if (dtype == DType::kBool) {
    for (Size& size : *contents) {
      const SizeRange range = ctx.sizes().range(size);
      if (size.is(0)) continue;
      if (range.lo <= 0 && range.hi >= 0) return Status::ok();
      size = Size(1);
    }
    ctx.setContents(0, std::move(*contents));
    return Status::ok();
  }
  const auto exact = exactContentsRange(dtype);
  if (!exact) return Status::ok();
  for (const Size& size : *contents) {
    // Sizes without a known bound are taken to fit 32-bit types, as the model does when it casts them.
    const SizeRange range = ctx.sizes().range(size);
    const bool isUnbounded = range.hi == std::numeric_limits<std::int64_t>::max();
    if (range.lo < exact->lo || (range.hi > exact->hi && !(isUnbounded && info(dtype).bits >= 32)))
      return Status::ok();
  }
  ctx.setContents(0, std::move(*contents));
  return Status::ok();
}

std::optional<ScalarExpression> castExpression(DType from, DType to) {
  if (!hasPlainStore(from) || !hasPlainStore(to)) return std::nullopt;
  ExpressionBuilder e;
  const auto x = e.input(0);
  if (to == DType::kBool && from != DType::kBool) {
    const auto isZero = e.apply(ScalarOp::kEqual, x, e.constant(0));
    e.apply(ScalarOp::kNot, isZero);
  }
  return e.take();
}

}  // namespace rota::op
