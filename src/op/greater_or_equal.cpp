// SPDX-License-Identifier: Apache-2.0
// GreaterOrEqual: true where the first tensor is not less than the second; they broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsGreaterOrEqual(InferContext& ctx, std::span<const Size> x) {
  return compareSizes(ctx, x[1], x[0], Relation::kLessEqual);
}

Status inferGreaterOrEqual(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcastBool(ctx));
  propagateElementwise(ctx, contentsGreaterOrEqual);
  return Status::ok();
}

const Register kRegisterGreaterOrEqual(Definition{
    .domain = "",
    .name = "GreaterOrEqual",
    .versions = {12, 16},
    .doc = "True where the first tensor is not less than the second; they broadcast. Comparisons with "
           "NaN are false.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T1"}},
    .infer = inferGreaterOrEqual,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kGreaterEqual); },
});

}  // namespace
}  // namespace rota::op
