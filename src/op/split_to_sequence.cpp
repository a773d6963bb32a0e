// SPDX-License-Identifier: Apache-2.0
// SplitToSequence: a tensor cut along an axis into a sequence.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferSplitToSequence(InferContext& ctx) {
  ir::Shape shape = ctx.inputShape(0);
  if (shape.known) {
    auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis"), shape.rank());
    if (!axis) return axis.status();
    const auto at = static_cast<std::ptrdiff_t>(*axis);
    const auto sizes = constantInts(ctx, 1);
    const Size whole = shape.dims[*axis];
    bool isEven = !ctx.hasInput(1);
    Size part = 1;
    if (sizes && !sizes->empty()) {
      part = sizes->front();
      isEven = std::all_of(sizes->begin(), sizes->end(),
                           [&](std::int64_t size) { return size == sizes->front(); });
      const bool isOneSize = ctx.inputShape(1).known && ctx.inputShape(1).rank() == 0;
      isEven = isEven && (!isOneSize || (sizes->front() > 0 && ctx.sizes().divisible(whole, sizes->front())));
    }
    if (!isEven) {
      shape = ir::Shape::unknown();
    } else if (!ctx.hasInput(1) && ctx.attributes().getInt("keepdims", 1) == 0) {
      shape.dims.erase(shape.dims.begin() + at);
    } else {
      shape.dims[*axis] = part;
    }
  }
  ctx.setOutputType(0, sequenceOf(ctx.inputDtype(0), std::move(shape)));
  return Status::ok();
}

const Register kRegisterSplitToSequence(Definition{
    .name = "SplitToSequence",
    .versions = {11, 24},
    .doc = "Cuts a tensor along an axis into parts of the given sizes, of one size (the last part may be "
           "smaller), or of size 1, whose axis is dropped when keepdims is 0.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input"}, {.name = "split", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output_sequence"}},
    .attributes = {{.name = "axis"}, {.name = "keepdims"}},
    .infer = inferSplitToSequence,
});

}  // namespace
}  // namespace rota::op
