// SPDX-License-Identifier: Apache-2.0
// LessOrEqual: true where the first tensor is not greater than the second; they broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsLessOrEqual(InferContext& ctx, std::span<const Size> x) {
  return compareSizes(ctx, x[0], x[1], Relation::kLessEqual);
}

Status inferLessOrEqual(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcastBool(ctx));
  propagateElementwise(ctx, contentsLessOrEqual);
  return Status::ok();
}

const Register kRegisterLessOrEqual(Definition{
    .domain = "",
    .name = "LessOrEqual",
    .versions = {12, 16},
    .doc = "True where the first tensor is not greater than the second; they broadcast. Comparisons "
           "with NaN are false.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T1"}},
    .infer = inferLessOrEqual,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kLessEqual); },
});

}  // namespace
}  // namespace rota::op
