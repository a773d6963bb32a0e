// SPDX-License-Identifier: Apache-2.0
// Images whose channels and blocks of the plane change places: DepthToSpace and SpaceToDepth. Tested by src/op/movement_test.cpp.
#pragma once

#include "op/movement_common.h"

namespace rota::op {

/// Checks attribute 'blocksize' and the rank; `dims` gives the dims of the result, or nothing where those of the image do not divide, which
/// is an error that says what `needs` and `expected` name.
inline Status inferBlockImage(InferContext& ctx, const char* needs, const char* expected,
                              std::optional<std::vector<Size>> (*dims)(const std::vector<Size>& image,
                                                                       std::int64_t block)) {
  const ir::Shape& shape = ctx.inputShape(0);
  const std::int64_t block = ctx.attributes().getInt("blocksize");
  if (block < 1 || block > 32768) {
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'blocksize' is out of range", "1 or more",
                     std::to_string(block));
  }
  if (!shape.known) {
    ctx.setOutput(0, ctx.inputDtype(0), foundShape(ctx, "dim", 4));
    return Status::ok();
  }
  auto result = shape.rank() == 4 ? dims(shape.dims, block) : std::nullopt;
  if (!result) {
    return ctx.error(ErrorCode::kShapeMismatch, needs, expected,
                     shapeText(ctx, shape) + " with blocksize " + std::to_string(block));
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(*result)));
  return Status::ok();
}

/// False when `dim` is known not to be a multiple.
inline bool mayDivide(Size dim, std::int64_t divisor) {
  return !dim.isConstant() || *dim.constant() % divisor == 0;
}

}  // namespace rota::op
