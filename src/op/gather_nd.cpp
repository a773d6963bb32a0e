// SPDX-License-Identifier: Apache-2.0
// GatherND: slices picked by tuples of indices.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferGatherNd(InferContext& ctx) {
  const ir::Shape& data = ctx.inputShape(0);
  const ir::Shape& indices = ctx.inputShape(1);
  if (!data.known || !indices.known || indices.rank() == 0 || !indices.dims.back().isConstant()) {
    if (indices.known && indices.rank() == 0) {
      return ctx.error(ErrorCode::kShapeMismatch, "Indices are a list of tuples", "rank 1 or more", "rank 0");
    }
    return inferUnknownShape(ctx);
  }
  const std::int64_t batch = ctx.attributes().getInt("batch_dims");
  const std::int64_t tuple = *indices.dims.back().constant();
  const auto rank = static_cast<std::int64_t>(data.rank());
  if (batch < 0 || batch >= rank || batch >= static_cast<std::int64_t>(indices.rank()) || tuple < 1 ||
      batch + tuple > rank) {
    return ctx.error(ErrorCode::kShapeMismatch,
                     "Batch axes and indices of a tuple exceed the axes of the data",
                     "at most " + std::to_string(rank) + " together",
                     std::to_string(batch) + " batch axes and tuples of " + std::to_string(tuple));
  }
  std::vector<Size> dims;
  for (std::size_t i = 0; i + 1 < indices.rank(); ++i) {
    if (i < static_cast<std::size_t>(batch)) {
      ROTA_RETURN_IF_ERROR(ctx.requireEqual(data.dims[i], indices.dims[i],
                                            "batch axis " + std::to_string(i) + " of data and indices"));
    }
    dims.push_back(indices.dims[i]);
  }
  dims.insert(dims.end(), data.dims.begin() + static_cast<std::ptrdiff_t>(batch + tuple), data.dims.end());
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterGatherNd(Definition{
    .name = "GatherND",
    .versions = {11, 12, 13},
    .doc = "The last axis of the indices holds tuples that name places on the axes of the data after the "
           "batch axes; each tuple picks the "
           "element or slice there. A negative index counts from the end, one outside is an error.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "indices"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "batch_dims"}},
    .infer = inferGatherNd,
});

}  // namespace
}  // namespace rota::op
