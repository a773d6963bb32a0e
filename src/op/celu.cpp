// SPDX-License-Identifier: Apache-2.0
// Celu: continuously differentiable exponential linear unit: max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterCelu(Definition{
    .domain = "",
    .name = "Celu",
    .versions = {12, 28},
    .doc = "Continuously differentiable exponential linear unit: max(0, x) + min(0, alpha * (exp(x / "
           "alpha) - 1)).",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto alpha = e.constant(node.attributes.getFloat("alpha", 1.0F));
      const auto zero = e.constant(0);
      const auto one = e.constant(1);
      const auto exponential = e.apply(ScalarOp::kExp, e.apply(ScalarOp::kDiv, x, alpha));
      const auto scaled = e.apply(ScalarOp::kMul, alpha, e.apply(ScalarOp::kSub, exponential, one));
      const auto positive = e.apply(ScalarOp::kMax, zero, x);
      e.apply(ScalarOp::kAdd, positive, e.apply(ScalarOp::kMin, zero, scaled));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
