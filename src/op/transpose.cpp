// SPDX-License-Identifier: Apache-2.0
// Transpose: axes in another order.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferTranspose(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  const auto* given = ctx.attributes().getInts("perm");
  if (!shape.known) {
    if (given == nullptr) return inferUnknownShape(ctx);
    ctx.setOutput(0, ctx.inputDtype(0), foundShape(ctx, "dim", given->size()));
    return Status::ok();
  }
  std::vector<std::size_t> perm;
  if (given != nullptr) {
    if (given->size() != shape.rank()) {
      return ctx.error(ErrorCode::kBadAttribute, "Attribute 'perm' needs one entry per axis",
                       std::to_string(shape.rank()) + " entries", std::to_string(given->size()));
    }
    auto axes = normaliseAxes(ctx, *given, shape.rank());
    if (!axes) return axes.status();
    perm = std::move(*axes);
  } else {
    for (std::size_t i = shape.rank(); i-- > 0;) perm.push_back(i);
  }
  std::vector<Size> dims;
  for (const std::size_t axis : perm) dims.push_back(shape.dims[axis]);
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(dims));
  if (const auto in = staticDims(shape); in && contentsCount(shape)) {
    const auto strides = rowMajorStrides(*in);
    std::vector<std::int64_t> outDims;
    std::vector<std::int64_t> outStrides;
    for (const std::size_t axis : perm) {
      outDims.push_back((*in)[axis]);
      outStrides.push_back(strides[axis]);
    }
    moveContents(ctx, 0, 0, stridedPlaces(outDims, outStrides, 0));
  }
  return Status::ok();
}

const Register kRegisterTranspose(Definition{
    .name = "Transpose",
    .versions = {1, 13, 21, 23, 24, 25},
    .doc = "Permutes the axes: axis i of the result is axis perm[i] of the input. Without perm the order is "
           "reversed.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"}},
    .outputs = {{.name = "transposed", .typeVariable = "T"}},
    .attributes = {{.name = "perm", .type = AttributeType::kInts}},
    .infer = inferTranspose,
});

}  // namespace
}  // namespace rota::op
