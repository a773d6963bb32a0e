// SPDX-License-Identifier: Apache-2.0
// Inference of operators that draw random numbers; see random_common.h. Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp.
#include "op/random_common.h"

#include "op/common.h"

namespace rota::op {

Status inferRandomShape(InferContext& ctx) {
  auto dtype = dtypeAttribute(ctx, "dtype", DType::kFloat32);
  if (!dtype) return dtype.status();
  std::vector<Size> dims;
  if (const auto* shape = ctx.attributes().getInts("shape")) {
    for (const std::int64_t dim : *shape) {
      if (dim < 0)
        return ctx.error(ErrorCode::kBadAttribute, "Attribute 'shape' has a negative dim", "0 or more",
                         std::to_string(dim));
      dims.emplace_back(dim);
    }
  }
  ctx.setOutput(0, *dtype, ir::Shape::of(std::move(dims)));
  return Status::ok();
}

Status inferRandomLike(InferContext& ctx) {
  auto dtype = dtypeAttribute(ctx, "dtype", ctx.inputDtype(0));
  if (!dtype) return dtype.status();
  ctx.setOutput(0, *dtype, ctx.inputShape(0));
  return Status::ok();
}

}  // namespace rota::op
