// SPDX-License-Identifier: Apache-2.0
// MatMulInteger. Tested by src/op/product_test.cpp and the node cases of tests/conformance.
#include "op/matmul_common.h"

namespace rota::op {
namespace {

const Register kRegisterMatMulInteger(Definition{
    .domain = "",
    .name = "MatMulInteger",
    .versions = {10},
    .doc = "The matrix product of 8-bit integers minus their zero points, exact in int32. Zero points are "
           "one for the tensor, or one for each row of A "
           "and each column of B.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "A", .typeVariable = "T1"},
               {.name = "B", .typeVariable = "T2"},
               {.name = "a_zero_point", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "b_zero_point", .option = FormalOption::kOptional, .typeVariable = "T2"}},
    .outputs = {{.name = "Y"}},
    .infer = [](InferContext& ctx) -> Status {
      auto shape = matMulShape(ctx, 0, 1);
      if (!shape) return shape.status();
      ctx.setOutput(0, DType::kInt32, *std::move(shape));
      return Status::ok();
    },
});

}  // namespace
}  // namespace rota::op
