// SPDX-License-Identifier: Apache-2.0
// QLinearConv. Tested by src/op/window_test.cpp and the node cases of tests/conformance.
#include "op/window_common.h"

namespace rota::op {
namespace {

const Register kRegisterQLinearConv(Definition{
    .domain = "",
    .name = "QLinearConv",
    .versions = {10},
    .doc = "The convolution of quantised tensors, quantised again: the exact sum plus the int32 bias, times "
           "x_scale * w_scale / y_scale, rounded to even, plus "
           "y_zero_point, cut to the range of the type.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "x", .typeVariable = "T1"},
               {.name = "x_scale"},
               {.name = "x_zero_point", .typeVariable = "T1"},
               {.name = "w", .typeVariable = "T2"},
               {.name = "w_scale"},
               {.name = "w_zero_point", .typeVariable = "T2"},
               {.name = "y_scale"},
               {.name = "y_zero_point", .typeVariable = "T3"},
               {.name = "B", .option = FormalOption::kOptional}},
    .outputs = {{.name = "y", .typeVariable = "T3"}},
    .attributes = windowAttributes({{.name = "group", .type = AttributeType::kInt}}),
    .infer = [](InferContext& ctx) -> Status {
      auto shape = convOutputShape(ctx, 0, 3);
      if (!shape) return shape.status();
      ctx.setOutput(0, ctx.inputDtype(7), *std::move(shape));
      return Status::ok();
    },
});

}  // namespace
}  // namespace rota::op
