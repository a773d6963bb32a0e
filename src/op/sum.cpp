// SPDX-License-Identifier: Apache-2.0
// Sum: the sum of all inputs, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsSum(InferContext&, std::span<const Size> x) {
  Size result = x[0];
  for (const Size& size : x.subspan(1)) result = result + size;
  return result;
}

Status inferSum(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsSum);
  return Status::ok();
}

const Register kRegisterSum(Definition{
    .domain = "",
    .name = "Sum",
    .versions = {6, 8, 13},
    .doc = "The sum of all inputs, which broadcast.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "data_0", .option = FormalOption::kVariadic, .typeVariable = "T"}},
    .outputs = {{.name = "sum", .typeVariable = "T"}},
    .infer = inferSum,
    .expression = [](const ir::Node& node) { return foldExpression(node, ScalarOp::kAdd); },
});

}  // namespace
}  // namespace rota::op
