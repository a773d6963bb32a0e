// SPDX-License-Identifier: Apache-2.0
// HardSigmoid: a straight line alpha * x + beta cut off at 0 and 1.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterHardSigmoid(Definition{
    .domain = "",
    .name = "HardSigmoid",
    .versions = {6, 22},
    .doc = "A straight line alpha * x + beta cut off at 0 and 1.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat},
                   {.name = "beta", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto slope = e.apply(ScalarOp::kMul, e.constant(node.attributes.getFloat("alpha", 0.2F)), x);
      const auto line = e.apply(ScalarOp::kAdd, slope, e.constant(node.attributes.getFloat("beta", 0.5F)));
      const auto below = e.apply(ScalarOp::kMin, line, e.constant(1));
      e.apply(ScalarOp::kMax, below, e.constant(0));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
