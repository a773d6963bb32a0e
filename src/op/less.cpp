// SPDX-License-Identifier: Apache-2.0
// Less: true where the first tensor is less than the second; they broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsLess(InferContext& ctx, std::span<const Size> x) {
  return compareSizes(ctx, x[0], x[1], Relation::kLess);
}

Status inferLess(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcastBool(ctx));
  propagateElementwise(ctx, contentsLess);
  return Status::ok();
}

const Register kRegisterLess(Definition{
    .domain = "",
    .name = "Less",
    .versions = {7, 9, 13},
    .doc = "True where the first tensor is less than the second; they broadcast. Comparisons with NaN "
           "are false.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T1"}},
    .infer = inferLess,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kLess); },
});

}  // namespace
}  // namespace rota::op
