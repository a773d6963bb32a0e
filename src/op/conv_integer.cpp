// SPDX-License-Identifier: Apache-2.0
// ConvInteger. Tested by src/op/window_test.cpp and the node cases of tests/conformance.
#include "op/window_common.h"

namespace rota::op {
namespace {

const Register kRegisterConvInteger(Definition{
    .domain = "",
    .name = "ConvInteger",
    .versions = {10},
    .doc = "The convolution of 8-bit integers minus their zero points, exact in int32. Padding is the zero "
           "point of the image.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "x", .typeVariable = "T1"},
               {.name = "w", .typeVariable = "T2"},
               {.name = "x_zero_point", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "w_zero_point", .option = FormalOption::kOptional, .typeVariable = "T2"}},
    .outputs = {{.name = "y"}},
    .attributes = windowAttributes({{.name = "group", .type = AttributeType::kInt}}),
    .infer = [](InferContext& ctx) -> Status {
      auto shape = convOutputShape(ctx, 0, 1);
      if (!shape) return shape.status();
      ctx.setOutput(0, DType::kInt32, *std::move(shape));
      return Status::ok();
    },
});

}  // namespace
}  // namespace rota::op
