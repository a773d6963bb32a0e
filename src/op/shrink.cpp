// SPDX-License-Identifier: Apache-2.0
// Shrink: x + bias below -lambd, x - bias above lambd, 0 between.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterShrink(Definition{
    .domain = "",
    .name = "Shrink",
    .versions = {9},
    .doc = "x + bias below -lambd, x - bias above lambd, 0 between.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "bias", .type = AttributeType::kFloat},
                   {.name = "lambd", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const double lambda = node.attributes.getFloat("lambd", 0.5F);
      const auto bias = e.constant(node.attributes.getFloat("bias", 0.0F));
      const auto isBelow = e.apply(ScalarOp::kLess, x, e.constant(-lambda));
      const auto isAbove = e.apply(ScalarOp::kGreater, x, e.constant(lambda));
      const auto zero = e.constant(0);
      const auto above = e.apply(ScalarOp::kSelect, isAbove, e.apply(ScalarOp::kSub, x, bias), zero);
      e.apply(ScalarOp::kSelect, isBelow, e.apply(ScalarOp::kAdd, x, bias), above);
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
