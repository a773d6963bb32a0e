// SPDX-License-Identifier: Apache-2.0
// IsInf: true where an element is plus or minus infinity; attributes choose which of the two counts.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterIsInf(Definition{
    .domain = "",
    .name = "IsInf",
    .versions = {10, 20},
    .doc = "True where an element is plus or minus infinity; attributes choose which of the two "
           "counts.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T1"}},
    .outputs = {{.name = "Y", .typeVariable = "T2"}},
    .attributes = {{.name = "detect_negative", .type = AttributeType::kInt},
                   {.name = "detect_positive", .type = AttributeType::kInt}},
    .infer = inferSameShapeBool,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      const bool positive = node.attributes.getInt("detect_positive", 1) != 0;
      const bool negative = node.attributes.getInt("detect_negative", 1) != 0;
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto isInf = e.apply(ScalarOp::kIsInf, x);
      if (positive && negative) return e.take();
      if (!positive && !negative) {
        e.apply(ScalarOp::kAnd, isInf, e.apply(ScalarOp::kNot, isInf));
        return e.take();
      }
      const auto zero = e.constant(0);
      e.apply(ScalarOp::kAnd, isInf, e.apply(positive ? ScalarOp::kGreater : ScalarOp::kLess, x, zero));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
