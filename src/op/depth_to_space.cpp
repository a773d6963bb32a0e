// SPDX-License-Identifier: Apache-2.0
// DepthToSpace: channels moved into blocks of the plane.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferDepthToSpace(InferContext& ctx) {
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
  const bool bad =
      shape.rank() != 4 || (shape.dims[1].isConstant() && *shape.dims[1].constant() % (block * block) != 0);
  if (bad) {
    return ctx.error(
        ErrorCode::kShapeMismatch, "DepthToSpace needs images whose channels divide by blocksize squared",
        "[N, C, H, W] with C a multiple of " + std::to_string(block * block), shapeText(ctx, shape));
  }
  ctx.setOutput(0, ctx.inputDtype(0),
                ir::Shape::of({shape.dims[0], floorDiv(shape.dims[1], block * block), shape.dims[2] * block,
                               shape.dims[3] * block}));
  return Status::ok();
}

const Register kRegisterDepthToSpace(Definition{
    .name = "DepthToSpace",
    .versions = {1, 11, 13, 28},
    .doc = "Moves groups of blocksize squared channels into blocks of the plane. In mode DCR the place in "
           "the block varies slowest over the channels, in "
           "mode CRD fastest.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "blocksize", .type = AttributeType::kInt, .required = true},
                   {.name = "mode", .type = AttributeType::kString}},
    .infer = inferDepthToSpace,
});

}  // namespace
}  // namespace rota::op
