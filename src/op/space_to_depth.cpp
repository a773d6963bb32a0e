// SPDX-License-Identifier: Apache-2.0
// SpaceToDepth: blocks of the plane moved into channels.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferSpaceToDepth(InferContext& ctx) {
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
  bool bad = shape.rank() != 4;
  for (std::size_t i = 2; !bad && i < 4; ++i)
    bad = shape.dims[i].isConstant() && *shape.dims[i].constant() % block != 0;
  if (bad) {
    return ctx.error(ErrorCode::kShapeMismatch,
                     "SpaceToDepth needs images whose height and width divide by blocksize",
                     "[N, C, H, W] with multiples of " + std::to_string(block), shapeText(ctx, shape));
  }
  ctx.setOutput(0, ctx.inputDtype(0),
                ir::Shape::of({shape.dims[0], shape.dims[1] * (block * block), floorDiv(shape.dims[2], block),
                               floorDiv(shape.dims[3], block)}));
  return Status::ok();
}

const Register kRegisterSpaceToDepth(Definition{
    .name = "SpaceToDepth",
    .versions = {1, 13, 28},
    .doc = "Moves blocks of the plane into channels, the inverse of DepthToSpace. In mode DCR (all there is "
           "before version 28) the place in the block "
           "varies slowest over the channels, in mode CRD fastest.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "blocksize", .type = AttributeType::kInt, .required = true},
                   {.name = "mode", .type = AttributeType::kString}},
    .infer = inferSpaceToDepth,
});

}  // namespace
}  // namespace rota::op
