// SPDX-License-Identifier: Apache-2.0
// MaxPool. Tested by src/op/window_test.cpp and the node cases of tests/conformance.
#include "op/window_common.h"

namespace rota::op {
namespace {

Status inferMaxPool(InferContext& ctx) {
  auto shape = poolOutputShape(ctx);
  if (!shape) return shape.status();
  if (ctx.hasOutput(1)) ctx.setOutput(1, DType::kInt64, *shape);
  ctx.setOutput(0, ctx.inputDtype(0), *std::move(shape));
  return Status::ok();
}

const Register kRegisterMaxPool(Definition{
    .domain = "",
    .name = "MaxPool",
    .versions = {1, 8, 10, 11, 12, 22},
    .doc = "The largest element of each window; padding never wins. The second output numbers the chosen "
           "elements in the input, by rows or, with "
           "storage_order 1, by columns.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}, {.name = "Indices", .option = FormalOption::kOptional}},
    .attributes = windowAttributes({{.name = "ceil_mode", .type = AttributeType::kInt},
                                    {.name = "storage_order", .type = AttributeType::kInt}}),
    .infer = inferMaxPool,
});

}  // namespace
}  // namespace rota::op
