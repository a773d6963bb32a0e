// SPDX-License-Identifier: Apache-2.0
// Elu: exponential linear unit: alpha * (exp(x) - 1) below 0, x elsewhere.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterElu(Definition{
    .domain = "",
    .name = "Elu",
    .versions = {6, 22},
    .doc = "Exponential linear unit: alpha * (exp(x) - 1) below 0, x elsewhere.",
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
      const auto scaled =
          e.apply(ScalarOp::kMul, alpha, e.apply(ScalarOp::kSub, e.apply(ScalarOp::kExp, x), one));
      e.apply(ScalarOp::kSelect, e.apply(ScalarOp::kLess, x, zero), scaled, x);
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
