// SPDX-License-Identifier: Apache-2.0
// Sub: difference of two tensors, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsSub(InferContext&, std::span<const Size> x) { return x[0] - x[1]; }

Status inferSub(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsSub);
  return Status::ok();
}

const Register kRegisterSub(Definition{
    .domain = "",
    .name = "Sub",
    .versions = {7, 13, 14},
    .doc = "Difference of two tensors, which broadcast. Integers wrap.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T"}},
    .infer = inferSub,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kSub); },
});

}  // namespace
}  // namespace rota::op
