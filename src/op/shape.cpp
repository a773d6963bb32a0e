// SPDX-License-Identifier: Apache-2.0
// Shape: the sizes of a tensor as a tensor; the source of symbolic contents.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferShape(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) {
    ctx.setOutput(0, DType::kInt64, ir::Shape::of({ctx.dataDependent("rank", {0, kMaxContents})}));
    return Status::ok();
  }
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const auto place = [rank](std::int64_t v) {
    return std::clamp<std::int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const std::int64_t start = place(ctx.attributes().getInt("start", 0));
  const std::int64_t end = std::max(start, place(ctx.attributes().getInt("end", rank)));
  ctx.setOutput(0, DType::kInt64, ir::Shape::of({Size(end - start)}));
  ctx.setContents(0, {shape.dims.begin() + start, shape.dims.begin() + end});
  return Status::ok();
}

const Register kRegisterShape(Definition{
    .name = "Shape",
    .versions = {1, 13, 15, 19, 21, 23, 24, 25},
    .doc = "The sizes of the axes from start to end (all by default) as an int64 vector; negative bounds "
           "count from the last axis and bounds "
           "outside are clamped.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data"}},
    .outputs = {{.name = "shape"}},
    .attributes = {{.name = "start"}, {.name = "end"}},
    .infer = inferShape,
});

}  // namespace
}  // namespace rota::op
