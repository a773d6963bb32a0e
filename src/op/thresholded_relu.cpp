// SPDX-License-Identifier: Apache-2.0
// ThresholdedRelu: x above alpha, 0 elsewhere.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterThresholdedRelu(Definition{
    .domain = "",
    .name = "ThresholdedRelu",
    .versions = {10, 22},
    .doc = "x above alpha, 0 elsewhere.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto isAbove =
          e.apply(ScalarOp::kGreater, x, e.constant(node.attributes.getFloat("alpha", 1.0F)));
      e.apply(ScalarOp::kSelect, isAbove, x, e.constant(0));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
