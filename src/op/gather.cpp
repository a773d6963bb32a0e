// SPDX-License-Identifier: Apache-2.0
// Gather: slices of one axis picked by an index tensor.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

/// Contents for constant indices. An index outside is left for the kernel to report.
void gatherContents(InferContext& ctx, std::size_t axis) {
  const auto data = staticDims(ctx.inputShape(0));
  const auto indices = constantInts(ctx, 1);
  if (!data || !contentsCount(ctx.inputShape(0)) || !indices) return;
  const auto strides = rowMajorStrides(*data);
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= (*data)[i];
  const std::int64_t size = (*data)[axis];
  std::vector<std::int64_t> places;
  if (outer * static_cast<std::int64_t>(indices->size()) * strides[axis] > kMaxContents) return;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const std::int64_t index : *indices) {
      if (index < -size || index >= size) return;
      const std::int64_t at = (o * size + (index < 0 ? index + size : index)) * strides[axis];
      for (std::int64_t i = 0; i < strides[axis]; ++i) places.push_back(at + i);
    }
  }
  moveContents(ctx, 0, 0, places);
}

Status inferGather(InferContext& ctx) {
  const ir::Shape& data = ctx.inputShape(0);
  const ir::Shape& indices = ctx.inputShape(1);
  if (!data.known || !indices.known) return inferUnknownShape(ctx);
  auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis"), data.rank());
  if (!axis) return axis.status();
  std::vector<Size> dims(data.dims.begin(), data.dims.begin() + static_cast<std::ptrdiff_t>(*axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), data.dims.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data.dims.end());
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  gatherContents(ctx, *axis);
  return Status::ok();
}

const Register kRegisterGather(Definition{
    .name = "Gather",
    .versions = {1, 11, 13},
    .doc = "Replaces one axis of the data by the axes of the indices: each index picks the slice at that "
           "place, a negative one from the end. An "
           "index outside the axis is an error.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "indices", .typeVariable = "Tind"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis"}},
    .infer = inferGather,
});

}  // namespace
}  // namespace rota::op
