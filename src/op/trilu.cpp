// SPDX-License-Identifier: Apache-2.0
// Trilu: the upper or lower triangle of matrices.
// Tested by src/op/generate_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferTrilu(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (shape.known && shape.rank() < 2) {
    return ctx.error(ErrorCode::kShapeMismatch, "Trilu works on matrices", "rank 2 or more",
                     shapeText(ctx, shape));
  }
  ctx.setOutput(0, ctx.inputDtype(0), shape);
  return Status::ok();
}

const Register kRegisterTrilu(Definition{
    .name = "Trilu",
    .versions = {14},
    .doc = "Keeps the upper (or lower) triangle of the last two axes, diagonal k included, and sets the rest "
           "to zero.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T"}, {.name = "k", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "upper"}},
    .infer = inferTrilu,
});

}  // namespace
}  // namespace rota::op
