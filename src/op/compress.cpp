// SPDX-License-Identifier: Apache-2.0
// Compress: the slices that a condition keeps.
// Tested by src/op/select_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "op/movement_common.h"

namespace rota::op {
namespace {

Size keptSize(InferContext& ctx, Size bound) {
  if (const auto condition = constantInts(ctx, 1)) {
    return Size(static_cast<std::int64_t>(
        std::count_if(condition->begin(), condition->end(), [](std::int64_t v) { return v != 0; })));
  }
  return foundSize(ctx, "kept", bound);
}

Status inferCompress(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (!ctx.attributes().has("axis")) {
    ctx.setOutput(
        0, ctx.inputDtype(0),
        ir::Shape::of({shape.known ? keptSize(ctx, product(shape.dims)) : ctx.dataDependent("kept", {})}));
    return Status::ok();
  }
  if (!shape.known) return inferUnknownShape(ctx);
  auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis"), shape.rank());
  if (!axis) return axis.status();
  std::vector<Size> dims = shape.dims;
  dims[*axis] = keptSize(ctx, shape.dims[*axis]);
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterCompress(Definition{
    .name = "Compress",
    .versions = {9, 11, 28},
    .doc = "Keeps the slices along an axis (the elements, without an axis) for which the condition is true; "
           "what the condition does not reach is "
           "dropped.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T"}, {.name = "condition"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis"}},
    .infer = inferCompress,
});

}  // namespace
}  // namespace rota::op
