// SPDX-License-Identifier: Apache-2.0
// Col2Im: the columns of sliding blocks added back into an image.
// Tested by src/op/roi_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferCol2Im(InferContext& ctx) {
  const ir::Shape& columns = ctx.inputShape(0);
  const auto image = ctx.contentsOrResolve(1, {});
  const auto block = ctx.contentsOrResolve(2, {1, 1 << 30});
  if (!columns.known || !image) return inferUnknownShape(ctx);
  if (columns.rank() != 3 || (block && block->size() != image->size())) {
    return ctx.error(ErrorCode::kShapeMismatch, "Columns, image and block do not belong together",
                     "[batch, channels * block, blocks] and as many sizes of the block as of the image",
                     shapeText(ctx, columns));
  }
  const Size channels = block ? floorDiv(columns.dims[1], largerOf(ctx, product(*block), 1))
                              : ctx.dataDependent("channels", {});
  std::vector<Size> dims{columns.dims[0], channels};
  dims.insert(dims.end(), image->begin(), image->end());
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterCol2Im(Definition{
    .name = "Col2Im",
    .versions = {18},
    .doc =
        "Puts the columns of sliding blocks back into an image; where blocks overlap the elements are added.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T"}, {.name = "image_shape"}, {.name = "block_shape"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "dilations", .type = AttributeType::kInts},
                   {.name = "pads", .type = AttributeType::kInts},
                   {.name = "strides", .type = AttributeType::kInts}},
    .infer = inferCol2Im,
});

}  // namespace
}  // namespace rota::op
