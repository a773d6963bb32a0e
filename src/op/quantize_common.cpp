// SPDX-License-Identifier: Apache-2.0
// Inference that QuantizeLinear and DequantizeLinear share; see quantize_common.h. Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp.
#include "op/quantize_common.h"

#include "core/check.h"
#include "op/common.h"

namespace rota::op {

namespace {

Status requireBlocks(InferContext& ctx, std::size_t axis, std::int64_t blockSize) {
  const ir::Shape data = ctx.inputShape(0);
  const ir::Shape scale = ctx.inputShape(1);
  if (scale.rank() != data.rank()) {
    return ctx.error(ErrorCode::kShapeMismatch, "The scales of blocks have another rank than the input",
                     "rank " + std::to_string(data.rank()), "rank " + std::to_string(scale.rank()));
  }
  for (std::size_t d = 0; d < data.rank(); ++d) {
    const Size wanted = d == axis ? ceilDiv(data.dims[d], blockSize) : data.dims[d];
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(scale.dims[d], wanted, "the scale has one element for each block"));
  }
  return Status::ok();
}

bool hasOneElement(const ir::Shape& shape) { return shape.known && product(shape.dims).is(1); }

}  // namespace

Status requireScaleShape(InferContext& ctx) {
  // A scalar and a vector of one element go together.
  if (ctx.hasInput(2) && !(hasOneElement(ctx.inputShape(1)) && hasOneElement(ctx.inputShape(2)))) {
    ROTA_RETURN_IF_ERROR(requireSameShape(ctx, 1, 2));
  }
  const std::int64_t blockSize = ctx.attributes().getInt("block_size", 0);
  if (blockSize < 0) {
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'block_size' is negative", "0 or more",
                     std::to_string(blockSize));
  }
  const ir::Shape& data = ctx.inputShape(0);
  const ir::Shape& scale = ctx.inputShape(1);
  if (!data.known || !scale.known || scale.rank() == 0) return Status::ok();
  if (blockSize == 0 && scale.rank() == 1 && scale.dims[0].is(1)) return Status::ok();
  const auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis", 1), data.rank());
  if (!axis) return axis.status();
  if (blockSize > 0) return requireBlocks(ctx, *axis, blockSize);
  if (scale.rank() != 1) {
    return ctx.error(ErrorCode::kShapeMismatch, "The scale is neither a scalar nor a vector",
                     "rank 0 or 1, or a block_size", "rank " + std::to_string(scale.rank()));
  }
  return ctx.requireEqual(scale.dims[0], data.dims[*axis],
                          "the scale has one element for each index of the axis");
}

}  // namespace rota::op
