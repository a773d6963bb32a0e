// SPDX-License-Identifier: Apache-2.0
// Greater: true where the first tensor is greater than the second; they broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsGreater(InferContext& ctx, std::span<const Size> x) {
  return compareSizes(ctx, x[1], x[0], Relation::kLess);
}

Status inferGreater(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcastBool(ctx));
  propagateElementwise(ctx, contentsGreater);
  return Status::ok();
}

const Register kRegisterGreater(Definition{
    .domain = "",
    .name = "Greater",
    .versions = {7, 9, 13},
    .doc = "True where the first tensor is greater than the second; they broadcast. Comparisons with "
           "NaN are false.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T1"}},
    .infer = inferGreater,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kGreater); },
});

}  // namespace
}  // namespace rota::op
