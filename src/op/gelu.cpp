// SPDX-License-Identifier: Apache-2.0
// Gelu: gaussian error linear unit: x / 2 * (1 + erf(x / sqrt 2)), or its tanh approximation.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterGelu(Definition{
    .domain = "",
    .name = "Gelu",
    .versions = {20},
    .doc = "Gaussian error linear unit: x / 2 * (1 + erf(x / sqrt 2)), or its tanh approximation.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "approximate", .type = AttributeType::kString}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto one = e.constant(1);
      const auto half = e.apply(ScalarOp::kMul, e.constant(0.5), x);
      ExpressionBuilder::Ref bell = 0;
      if (node.attributes.getString("approximate", "none") == "tanh") {
        const auto cube = e.apply(ScalarOp::kMul, x, e.apply(ScalarOp::kMul, x, x));
        const auto inner = e.apply(ScalarOp::kAdd, x, e.apply(ScalarOp::kMul, e.constant(0.044715), cube));
        bell = e.apply(ScalarOp::kTanh, e.apply(ScalarOp::kMul, e.constant(0.7978845608028654), inner));
      } else {
        bell = e.apply(ScalarOp::kErf, e.apply(ScalarOp::kMul, x, e.constant(0.7071067811865476)));
      }
      e.apply(ScalarOp::kMul, half, e.apply(ScalarOp::kAdd, one, bell));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
