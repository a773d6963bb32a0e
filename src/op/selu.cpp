// SPDX-License-Identifier: Apache-2.0
// Selu: scaled exponential linear unit: gamma * x above 0, gamma * alpha * (exp(x) - 1) elsewhere.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterSelu(Definition{
    .domain = "",
    .name = "Selu",
    .versions = {6, 22},
    .doc = "Scaled exponential linear unit: gamma * x above 0, gamma * alpha * (exp(x) - 1) "
           "elsewhere.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat},
                   {.name = "gamma", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto alpha = e.constant(node.attributes.getFloat("alpha", 1.67326319217681884765625F));
      const auto gamma = e.constant(node.attributes.getFloat("gamma", 1.05070102214813232421875F));
      const auto zero = e.constant(0);
      const auto one = e.constant(1);
      const auto scaled =
          e.apply(ScalarOp::kMul, alpha, e.apply(ScalarOp::kSub, e.apply(ScalarOp::kExp, x), one));
      const auto unit = e.apply(ScalarOp::kSelect, e.apply(ScalarOp::kLessEqual, x, zero), scaled, x);
      e.apply(ScalarOp::kMul, gamma, unit);
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
