// SPDX-License-Identifier: Apache-2.0
// Add: sum of two tensors, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsAdd(InferContext&, std::span<const Size> x) { return x[0] + x[1]; }

Status inferAdd(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsAdd);
  return Status::ok();
}

const Register kRegisterAdd(Definition{
    .domain = "",
    .name = "Add",
    .versions = {7, 13, 14},
    .doc = "Sum of two tensors, which broadcast. Integers wrap.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T"}},
    .infer = inferAdd,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kAdd); },
});

}  // namespace
}  // namespace rota::op
