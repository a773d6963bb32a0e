// SPDX-License-Identifier: Apache-2.0
// MatMul. Tested by src/op/product_test.cpp and the node cases of tests/conformance.
#include "op/matmul_common.h"

namespace rota::op {
namespace {

Status inferMatMul(InferContext& ctx) {
  auto shape = matMulShape(ctx, 0, 1);
  if (!shape) return shape.status();
  ctx.setOutput(0, ctx.inputDtype(0), *std::move(shape));
  return Status::ok();
}

const Register kRegisterMatMul(Definition{
    .domain = "",
    .name = "MatMul",
    .versions = {1, 9, 13},
    .doc = "The matrix product over the last two axes; the axes before them broadcast. A vector on the left "
           "is a row, on the right a "
           "column, and its axis disappears from the result.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferMatMul,
});

}  // namespace
}  // namespace rota::op
