// SPDX-License-Identifier: Apache-2.0
// Max: the largest of all inputs, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsMax(InferContext&, std::span<const Size> x) {
  Size result = x[0];
  for (const Size& size : x.subspan(1)) result = max(result, size);
  return result;
}

Status inferMax(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsMax);
  return Status::ok();
}

const Register kRegisterMax(Definition{
    .domain = "",
    .name = "Max",
    .versions = {6, 8, 12, 13},
    .doc = "The largest of all inputs, which broadcast. A NaN in any input gives NaN.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "data_0", .option = FormalOption::kVariadic, .typeVariable = "T"}},
    .outputs = {{.name = "max", .typeVariable = "T"}},
    .infer = inferMax,
    .expression = [](const ir::Node& node) { return foldExpression(node, ScalarOp::kMax); },
});

}  // namespace
}  // namespace rota::op
