// SPDX-License-Identifier: Apache-2.0
// QLinearMatMul. Tested by src/op/product_test.cpp and the node cases of tests/conformance.
#include "op/matmul_common.h"

namespace rota::op {
namespace {

const Register kRegisterQLinearMatMul(Definition{
    .domain = "",
    .name = "QLinearMatMul",
    .versions = {10, 21},
    .doc = "The matrix product of quantised tensors, quantised again: the exact sum times a_scale * b_scale "
           "/ y_scale, rounded to even, plus y_zero_point, "
           "cut to the range of the type.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "a", .typeVariable = "T1"},
               {.name = "a_scale"},
               {.name = "a_zero_point", .typeVariable = "T1"},
               {.name = "b", .typeVariable = "T2"},
               {.name = "b_scale"},
               {.name = "b_zero_point", .typeVariable = "T2"},
               {.name = "y_scale"},
               {.name = "y_zero_point", .typeVariable = "T3"}},
    .outputs = {{.name = "y", .typeVariable = "T3"}},
    .infer = [](InferContext& ctx) -> Status {
      auto shape = matMulShape(ctx, 0, 3);
      if (!shape) return shape.status();
      ctx.setOutput(0, ctx.inputDtype(7), *std::move(shape));
      return Status::ok();
    },
});

}  // namespace
}  // namespace rota::op
