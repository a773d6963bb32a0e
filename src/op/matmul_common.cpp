// SPDX-License-Identifier: Apache-2.0
// The shape of a matrix product; see matmul_common.h. Tested by src/op/product_test.cpp.
#include "op/matmul_common.h"

#include <utility>

#include "core/check.h"

namespace rota::op {

Result<ir::Shape> matMulShape(InferContext& ctx, std::size_t a, std::size_t b, bool transposeA,
                              bool transposeB) {
  const ir::Shape& shapeA = ctx.inputShape(a);
  const ir::Shape& shapeB = ctx.inputShape(b);
  if (!shapeA.known || !shapeB.known) return ir::Shape::unknown();
  const std::size_t rankA = shapeA.rank();
  const std::size_t rankB = shapeB.rank();
  if (rankA == 0 || rankB == 0) {
    return ctx.error(ErrorCode::kShapeMismatch, "A matrix product needs operands of at least one axis",
                     "rank 1 or more", "a scalar");
  }
  const bool swapA = transposeA && rankA > 1;
  const bool swapB = transposeB && rankB > 1;
  const Size depthA = shapeA.dims[swapA ? rankA - 2 : rankA - 1];
  const Size depthB = rankB == 1 ? shapeB.dims[0] : shapeB.dims[swapB ? rankB - 1 : rankB - 2];
  ROTA_RETURN_IF_ERROR(
      ctx.requireEqual(depthA, depthB, "the axes that the product sums over have the same size"));
  const auto leading = [](const ir::Shape& shape) {
    const std::size_t count = shape.rank() > 2 ? shape.rank() - 2 : 0;
    return std::vector<Size>(shape.dims.begin(), shape.dims.begin() + static_cast<std::ptrdiff_t>(count));
  };
  const std::vector<std::vector<Size>> batches = {leading(shapeA), leading(shapeB)};
  auto dims = ctx.broadcast(batches);
  if (!dims) return dims.status();
  if (rankA > 1) dims->push_back(shapeA.dims[swapA ? rankA - 1 : rankA - 2]);
  if (rankB > 1) dims->push_back(shapeB.dims[swapB ? rankB - 2 : rankB - 1]);
  return ir::Shape::of(*std::move(dims));
}

}  // namespace rota::op
