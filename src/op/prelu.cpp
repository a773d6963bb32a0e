// SPDX-License-Identifier: Apache-2.0
// PRelu: slope * x below 0, x elsewhere; the slope is a tensor that broadcasts to x.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

// The slope broadcasts to x, never the other way round.
Status inferPRelu(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireBroadcastTo(ctx, 1, 0));
  return inferSameAsFirst(ctx);
}

const Register kRegisterPRelu(Definition{
    .domain = "",
    .name = "PRelu",
    .versions = {7, 9, 16},
    .doc = "slope * x below 0, x elsewhere; the slope is a tensor that broadcasts to x.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}, {.name = "slope", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferPRelu,
    .expression = [](const ir::Node&) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto leak = e.apply(ScalarOp::kMul, e.input(1), x);
      e.apply(ScalarOp::kSelect, e.apply(ScalarOp::kLess, x, e.constant(0)), leak, x);
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
