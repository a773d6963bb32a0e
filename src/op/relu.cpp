// SPDX-License-Identifier: Apache-2.0
// Relu: max(x, 0) of every element; NaN stays NaN.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterRelu(Definition{
    .domain = "",
    .name = "Relu",
    .versions = {6, 13, 14},
    .doc = "max(x, 0) of every element; NaN stays NaN.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      e.apply(ScalarOp::kMax, x, e.constant(0));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
