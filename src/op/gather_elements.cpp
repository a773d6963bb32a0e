// SPDX-License-Identifier: Apache-2.0
// GatherElements: one index per element of the result.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferGatherElements(InferContext& ctx) {
  const ir::Shape& data = ctx.inputShape(0);
  const ir::Shape& indices = ctx.inputShape(1);
  if (data.known && indices.known && data.rank() != indices.rank()) {
    return ctx.error(ErrorCode::kShapeMismatch, "Data and indices differ in rank",
                     "rank " + std::to_string(data.rank()), "rank " + std::to_string(indices.rank()));
  }
  if (data.known) {
    auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis"), data.rank());
    if (!axis) return axis.status();
    const auto values = constantInts(ctx, 1);
    if (values && data.rank() == 1 && contentsCount(data)) {
      const std::int64_t size = *data.dims[0].constant();
      std::vector<std::int64_t> places;
      for (const std::int64_t index : *values) {
        if (index < -size || index >= size) {
          places.clear();
          break;
        }
        places.push_back(index < 0 ? index + size : index);
      }
      ctx.setOutput(0, ctx.inputDtype(0), indices);
      if (places.size() == values->size()) moveContents(ctx, 0, 0, places);
      return Status::ok();
    }
  }
  ctx.setOutput(0, ctx.inputDtype(0), indices);
  return Status::ok();
}

const Register kRegisterGatherElements(Definition{
    .name = "GatherElements",
    .versions = {11, 13},
    .doc = "For every element of the indices, takes the element of the data at the same place with the "
           "coordinate on one axis replaced by the "
           "index; a negative index counts from the end, one outside the axis is an error.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "indices", .typeVariable = "Tind"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis"}},
    .infer = inferGatherElements,
});

}  // namespace
}  // namespace rota::op
