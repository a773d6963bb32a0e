// SPDX-License-Identifier: Apache-2.0
// Mul: product of two tensors, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsMul(InferContext&, std::span<const Size> x) { return x[0] * x[1]; }

Status inferMul(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsMul);
  return Status::ok();
}

const Register kRegisterMul(Definition{
    .domain = "",
    .name = "Mul",
    .versions = {7, 13, 14},
    .doc = "Product of two tensors, which broadcast. Integers wrap.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T"}},
    .infer = inferMul,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kMul); },
});

}  // namespace
}  // namespace rota::op
