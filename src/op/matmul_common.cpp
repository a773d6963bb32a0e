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
  return matMulShapeOf(ctx, shapeA.dims, shapeB.dims, transposeA, transposeB);
}

Result<ir::Shape> matMulShapeOf(InferContext& ctx, const std::vector<Size>& a, const std::vector<Size>& b,
                                bool transposeA, bool transposeB) {
  const std::size_t rankA = a.size();
  const std::size_t rankB = b.size();
  if (rankA == 0 || rankB == 0) {
    return ctx.error(ErrorCode::kShapeMismatch, "A matrix product needs operands of at least one axis",
                     "rank 1 or more", "a scalar");
  }
  const bool swapA = transposeA && rankA > 1;
  const bool swapB = transposeB && rankB > 1;
  const Size depthA = a[swapA ? rankA - 2 : rankA - 1];
  const Size depthB = rankB == 1 ? b[0] : b[swapB ? rankB - 1 : rankB - 2];
  ROTA_RETURN_IF_ERROR(
      ctx.requireEqual(depthA, depthB, "the axes that the product sums over have the same size"));
  const auto leading = [](const std::vector<Size>& dims) {
    const std::size_t count = dims.size() > 2 ? dims.size() - 2 : 0;
    return std::vector<Size>(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(count));
  };
  const std::vector<std::vector<Size>> batches = {leading(a), leading(b)};
  auto dims = ctx.broadcast(batches);
  if (!dims) return dims.status();
  if (rankA > 1) dims->push_back(a[swapA ? rankA - 1 : rankA - 2]);
  if (rankB > 1) dims->push_back(b[swapB ? rankB - 2 : rankB - 1]);
  return ir::Shape::of(*std::move(dims));
}

}  // namespace rota::op
