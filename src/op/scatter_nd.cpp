// SPDX-License-Identifier: Apache-2.0
// ScatterND: slices set at tuples of indices.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/scatter_common.h"

namespace rota::op {
namespace {

Status inferScatterNd(InferContext& ctx) {
  const ir::Shape& data = ctx.inputShape(0);
  const ir::Shape& indices = ctx.inputShape(1);
  const ir::Shape& updates = ctx.inputShape(2);
  ctx.setOutput(0, ctx.inputDtype(0), data);
  if (!data.known || !indices.known) return Status::ok();
  if (indices.rank() == 0)
    return ctx.error(ErrorCode::kShapeMismatch, "Indices are a list of tuples", "rank 1 or more", "rank 0");
  if (!indices.dims.back().isConstant()) return Status::ok();
  const std::int64_t tuple = *indices.dims.back().constant();
  if (tuple > static_cast<std::int64_t>(data.rank())) {
    return ctx.error(ErrorCode::kShapeMismatch, "Index tuples are longer than the data has axes",
                     "at most " + std::to_string(data.rank()), std::to_string(tuple));
  }
  std::vector<Size> expected(indices.dims.begin(), indices.dims.end() - 1);
  expected.insert(expected.end(), data.dims.begin() + static_cast<std::ptrdiff_t>(tuple), data.dims.end());
  if (updates.known) {
    if (updates.rank() != expected.size()) {
      return ctx.error(ErrorCode::kShapeMismatch, "Updates need one slice per index tuple",
                       shapeText(ctx, ir::Shape::of(expected)), shapeText(ctx, updates));
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ROTA_RETURN_IF_ERROR(
          ctx.requireEqual(updates.dims[i], expected[i], "there is one slice of updates per index tuple"));
    }
  }
  scatterContents(ctx);
  return Status::ok();
}

const Register kRegisterScatterNd(Definition{
    .name = "ScatterND",
    .versions = {11, 13, 16, 18},
    .doc = "A copy of the data in which the element or slice that each index tuple names is set to an "
           "update, or combined with it by add, mul, min "
           "or max. Updates come one after the other, so with duplicate indices the last one wins.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"},
               {.name = "indices"},
               {.name = "updates", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "reduction", .type = AttributeType::kString}},
    .infer = inferScatterNd,
});

}  // namespace
}  // namespace rota::op
