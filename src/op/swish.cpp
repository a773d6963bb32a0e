// SPDX-License-Identifier: Apache-2.0
// Swish: x * sigmoid(alpha * x).
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterSwish(Definition{
    .domain = "",
    .name = "Swish",
    .versions = {24},
    .doc = "x * sigmoid(alpha * x).",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto scaled = e.apply(ScalarOp::kMul, e.constant(node.attributes.getFloat("alpha", 1.0F)), x);
      e.apply(ScalarOp::kMul, x, e.apply(ScalarOp::kSigmoid, scaled));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
