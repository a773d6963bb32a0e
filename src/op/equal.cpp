// SPDX-License-Identifier: Apache-2.0
// Equal: true where the first tensor is equal to the second; they broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsEqual(InferContext& ctx, std::span<const Size> x) {
  return compareSizes(ctx, x[0], x[1], Relation::kEqual);
}

Status inferEqual(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcastBool(ctx));
  propagateElementwise(ctx, contentsEqual);
  return Status::ok();
}

const Register kRegisterEqual(Definition{
    .domain = "",
    .name = "Equal",
    .versions = {7, 11, 13, 19},
    .doc = "True where the first tensor is equal to the second; they broadcast. Comparisons with NaN "
           "are false.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T1"}},
    .infer = inferEqual,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kEqual); },
});

}  // namespace
}  // namespace rota::op
