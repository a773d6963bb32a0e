// SPDX-License-Identifier: Apache-2.0
// ScatterElements: one index per update.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/scatter_common.h"

namespace rota::op {

void scatterContents(InferContext& ctx) {
  const auto count = contentsCount(ctx.inputShape(0));
  const auto indices = constantInts(ctx, 1);
  if (!count || !indices || ctx.inputShape(0).rank() != 1 ||
      ctx.attributes().getString("reduction", "none") != "none")
    return;
  auto data = ctx.contents(0);
  const auto updates = ctx.contents(2);
  if (!data || !updates || updates->size() != indices->size()) return;
  for (std::size_t i = 0; i < indices->size(); ++i) {
    const std::int64_t index = (*indices)[i] < 0 ? (*indices)[i] + *count : (*indices)[i];
    if (index < 0 || index >= *count) return;
    (*data)[static_cast<std::size_t>(index)] = (*updates)[i];
  }
  ctx.setContents(0, std::move(*data));
}

Status inferScatterElements(InferContext& ctx) {
  const ir::Shape& data = ctx.inputShape(0);
  const ir::Shape& indices = ctx.inputShape(1);
  const ir::Shape& updates = ctx.inputShape(2);
  ctx.setOutput(0, ctx.inputDtype(0), data);
  if (!data.known) return Status::ok();
  auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis"), data.rank());
  if (!axis) return axis.status();
  if ((indices.known && indices.rank() != data.rank()) || (updates.known && updates.rank() != data.rank())) {
    return ctx.error(ErrorCode::kShapeMismatch, "Data, indices and updates differ in rank",
                     "rank " + std::to_string(data.rank()),
                     shapeText(ctx, indices) + " and " + shapeText(ctx, updates));
  }
  for (std::size_t i = 0; indices.known && updates.known && i < data.rank(); ++i) {
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(indices.dims[i], updates.dims[i], "there is one update per index"));
  }
  scatterContents(ctx);
  return Status::ok();
}

namespace {

const Register kRegisterScatterElements(Definition{
    .name = "ScatterElements",
    .versions = {11, 13, 16, 18},
    .doc = "A copy of the data in which, for every element of the updates, the element at the same place "
           "with the coordinate on one axis replaced "
           "by the index is set to the update, or combined with it by add, mul, min or max. Updates come one "
           "after the other, so with "
           "duplicate indices the last one wins.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"},
               {.name = "indices", .typeVariable = "Tind"},
               {.name = "updates", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis"}, {.name = "reduction", .type = AttributeType::kString}},
    .infer = inferScatterElements,
});

}  // namespace
}  // namespace rota::op
