// SPDX-License-Identifier: Apache-2.0
// Det. Tested by src/ref/linear_attention_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

Status inferDet(InferContext& ctx) {
  ir::Shape shape = ctx.inputShape(0);
  if (shape.known) {
    if (shape.rank() < 2) {
      return ctx.error(ErrorCode::kShapeMismatch, "A determinant needs square matrices", "[…, M, M]",
                       "rank " + std::to_string(shape.rank()));
    }
    ROTA_RETURN_IF_ERROR(
        ctx.requireEqual(shape.dims[shape.rank() - 2], shape.dims.back(), "the matrices are square"));
    shape.dims.resize(shape.rank() - 2);
  }
  ctx.setOutput(0, ctx.inputDtype(0), std::move(shape));
  return Status::ok();
}

const Register kRegisterDet(Definition{
    .domain = "",
    .name = "Det",
    .versions = {11, 22},
    .doc = "The determinants of square matrices in the last two axes.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferDet,
});

}  // namespace
}  // namespace rota::op
