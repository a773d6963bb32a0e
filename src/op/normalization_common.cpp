// SPDX-License-Identifier: Apache-2.0
// Inference that normalisation operators share; see normalization_common.h. Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp.
#include "op/normalization_common.h"

#include <string>

namespace rota::op {

Status requireChannelVector(InferContext& ctx, std::size_t i, std::size_t channelDim) {
  const ir::Shape& shape = ctx.inputShape(i);
  const ir::Shape& data = ctx.inputShape(0);
  if (!shape.known || !data.known) return Status::ok();
  if (shape.rank() != 1) {
    return ctx.error(ErrorCode::kShapeMismatch, "Input " + std::to_string(i) + " is not a vector", "rank 1",
                     "rank " + std::to_string(shape.rank()));
  }
  const Size channels = data.rank() > channelDim ? data.dims[channelDim] : Size(1);
  return ctx.requireEqual(shape.dims[0], channels,
                          "input " + std::to_string(i) + " has one element for each channel");
}

ir::Value* channelOperand(Expansion& e, ir::Value* vector, std::size_t trailing, DType dtype) {
  ir::Value* value = e.cast(vector, dtype);
  if (trailing == 0) return value;
  std::vector<std::int64_t> axes;
  for (std::size_t d = 0; d < trailing; ++d) axes.push_back(static_cast<std::int64_t>(d) + 1);
  return e.add("Unsqueeze", {value, e.ints(std::move(axes))});
}

}  // namespace rota::op
