// SPDX-License-Identifier: Apache-2.0
// ReverseSequence: the first steps of every sequence in reverse order.
// Tested by src/op/select_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferReverseSequence(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (shape.known && shape.rank() < 2) {
    return ctx.error(ErrorCode::kShapeMismatch, "ReverseSequence needs a time and a batch axis",
                     "rank 2 or more", shapeText(ctx, shape));
  }
  if (shape.known && ctx.inputShape(1).known && ctx.inputShape(1).rank() == 1) {
    auto batch = normaliseAxis(ctx, ctx.attributes().getInt("batch_axis", 1), shape.rank());
    if (!batch) return batch.status();
    ROTA_RETURN_IF_ERROR(
        ctx.requireEqual(ctx.inputShape(1).dims[0], shape.dims[*batch], "there is one length per sequence"));
  }
  ctx.setOutput(0, ctx.inputDtype(0), shape);
  return Status::ok();
}

const Register kRegisterReverseSequence(Definition{
    .name = "ReverseSequence",
    .versions = {10, 28},
    .doc = "Reverses, for each sequence of the batch, as many steps from the start as its length says and "
           "leaves the rest. Time and batch are the first "
           "two axes in either order.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T"}, {.name = "sequence_lens"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "batch_axis"}, {.name = "time_axis"}},
    .infer = inferReverseSequence,
});

}  // namespace
}  // namespace rota::op
