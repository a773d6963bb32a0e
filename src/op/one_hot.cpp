// SPDX-License-Identifier: Apache-2.0
// OneHot: indices as rows with one marked place.
// Tested by src/op/generate_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Size oneHotDepth(InferContext& ctx) {
  if (const Tensor* constant = ctx.constant(1); constant != nullptr && constant->count() == 1) {
    return Size(static_cast<std::int64_t>(realAt(constant->view(), 0)));
  }
  const auto contents = isInteger(ctx.inputDtype(1)) ? ctx.contentsOrResolve(1, {}) : std::nullopt;
  return contents && contents->size() == 1 ? contents->front() : ctx.dataDependent("depth", {});
}

Status inferOneHot(InferContext& ctx) {
  const ir::Shape& indices = ctx.inputShape(0);
  const DType dtype = ctx.inputDtype(2);
  if (!indices.known) {
    ctx.setOutput(0, dtype, ir::Shape::unknown());
    return Status::ok();
  }
  auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis", -1), indices.rank() + 1);
  if (!axis) return axis.status();
  std::vector<Size> dims = indices.dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(*axis), oneHotDepth(ctx));
  ctx.setOutput(0, dtype, ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterOneHot(Definition{
    .name = "OneHot",
    .versions = {9, 11, 28},
    .doc = "Adds an axis of the given depth on which the place that the index names holds the second of the "
           "two values and all others the first. A "
           "negative index counts from the end; one outside marks nothing.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "indices"}, {.name = "depth"}, {.name = "values", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis"}},
    .infer = inferOneHot,
});

}  // namespace
}  // namespace rota::op
