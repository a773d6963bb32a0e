// SPDX-License-Identifier: Apache-2.0
// Size: the number of elements of a tensor.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferSize(InferContext& ctx) {
  ctx.setOutput(0, DType::kInt64, ir::Shape::of({}));
  if (ctx.inputShape(0).known) ctx.setContents(0, {product(ctx.inputShape(0).dims)});
  return Status::ok();
}

const Register kRegisterSize(Definition{
    .name = "Size",
    .versions = {1, 13, 19, 21, 23, 24, 25},
    .doc = "The number of elements of a tensor as an int64 scalar.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data"}},
    .outputs = {{.name = "size"}},
    .infer = inferSize,
});

}  // namespace
}  // namespace rota::op
