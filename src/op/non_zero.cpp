// SPDX-License-Identifier: Apache-2.0
// NonZero: the coordinates of the elements that are not zero.
// Tested by src/op/select_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferNonZero(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) {
    ctx.setOutput(0, DType::kInt64, foundShape(ctx, "dim", 2));
    return Status::ok();
  }
  const Size found = foundSize(ctx, "found", product(shape.dims));
  ctx.setOutput(0, DType::kInt64, ir::Shape::of({Size(static_cast<std::int64_t>(shape.rank())), found}));
  return Status::ok();
}

const Register kRegisterNonZero(Definition{
    .name = "NonZero",
    .versions = {9, 13},
    .doc = "The coordinates of all elements that are not zero, in row-major order: one row per axis, one "
           "column per element. Only the data knows the "
           "number of columns.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X"}},
    .outputs = {{.name = "Y"}},
    .infer = inferNonZero,
});

}  // namespace
}  // namespace rota::op
