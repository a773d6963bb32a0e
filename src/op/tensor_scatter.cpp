// SPDX-License-Identifier: Apache-2.0
// TensorScatter: an update written into a cache.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferTensorScatter(InferContext& ctx) {
  const ir::Shape& cache = ctx.inputShape(0);
  const ir::Shape& update = ctx.inputShape(1);
  ctx.setOutput(0, ctx.inputDtype(0), cache);
  if (!cache.known || !update.known) return Status::ok();
  auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis", -2), cache.rank());
  if (!axis) return axis.status();
  if (*axis == 0 || update.rank() != cache.rank()) {
    return ctx.error(ErrorCode::kShapeMismatch, "The update does not fit into the cache",
                     "the same rank and a sequence axis other than 0",
                     shapeText(ctx, update) + " into " + shapeText(ctx, cache));
  }
  for (std::size_t i = 0; i < cache.rank(); ++i) {
    if (i == *axis) continue;
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(cache.dims[i], update.dims[i],
                                          "axis " + std::to_string(i) + " of cache and update"));
  }
  return Status::ok();
}

const Register kRegisterTensorScatter(Definition{
    .name = "TensorScatter",
    .versions = {24},
    .doc = "A copy of a cache in which the update is written along the sequence axis from a place per "
           "sample; in mode circular it wraps around at "
           "the end, in mode linear it must fit.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "past_cache", .typeVariable = "T"},
               {.name = "update", .typeVariable = "T"},
               {.name = "write_indices", .option = FormalOption::kOptional}},
    .outputs = {{.name = "present_cache", .typeVariable = "T"}},
    .attributes = {{.name = "axis"}, {.name = "mode", .type = AttributeType::kString}},
    .infer = inferTensorScatter,
});

}  // namespace
}  // namespace rota::op
