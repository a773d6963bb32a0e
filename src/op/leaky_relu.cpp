// SPDX-License-Identifier: Apache-2.0
// LeakyRelu: alpha * x below 0, x elsewhere.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterLeakyRelu(Definition{
    .domain = "",
    .name = "LeakyRelu",
    .versions = {6, 16},
    .doc = "alpha * x below 0, x elsewhere.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto leak = e.apply(ScalarOp::kMul, e.constant(node.attributes.getFloat("alpha", 0.01F)), x);
      e.apply(ScalarOp::kSelect, e.apply(ScalarOp::kLess, x, e.constant(0)), leak, x);
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
