// SPDX-License-Identifier: Apache-2.0
// EyeLike: ones on a diagonal.
// Tested by src/op/generate_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferEyeLike(InferContext& ctx) {
  auto dtype = dtypeAttribute(ctx, "dtype", ctx.inputDtype(0));
  if (!dtype) return dtype.status();
  const ir::Shape& shape = ctx.inputShape(0);
  if (shape.known && shape.rank() != 2) {
    return ctx.error(ErrorCode::kShapeMismatch, "EyeLike makes matrices", "an input of rank 2",
                     shapeText(ctx, shape));
  }
  ctx.setOutput(0, *dtype, shape);
  return Status::ok();
}

const Register kRegisterEyeLike(Definition{
    .name = "EyeLike",
    .versions = {9, 22},
    .doc = "A matrix of the shape of the input with ones on diagonal k (0 the main one, positive ones above "
           "it) and zeros elsewhere.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input"}},
    .outputs = {{.name = "output"}},
    .attributes = {{.name = "dtype"}, {.name = "k"}},
    .infer = inferEyeLike,
});

}  // namespace
}  // namespace rota::op
