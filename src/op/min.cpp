// SPDX-License-Identifier: Apache-2.0
// Min: the smallest of all inputs, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsMin(InferContext&, std::span<const Size> x) {
  Size result = x[0];
  for (const Size& size : x.subspan(1)) result = min(result, size);
  return result;
}

Status inferMin(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsMin);
  return Status::ok();
}

const Register kRegisterMin(Definition{
    .domain = "",
    .name = "Min",
    .versions = {6, 8, 12, 13},
    .doc = "The smallest of all inputs, which broadcast. A NaN in any input gives NaN.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "data_0", .option = FormalOption::kVariadic, .typeVariable = "T"}},
    .outputs = {{.name = "min", .typeVariable = "T"}},
    .infer = inferMin,
    .expression = [](const ir::Node& node) { return foldExpression(node, ScalarOp::kMin); },
});

}  // namespace
}  // namespace rota::op
