// SPDX-License-Identifier: Apache-2.0
// Mish: x * tanh(softplus(x)).
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterMish(Definition{
    .domain = "",
    .name = "Mish",
    .versions = {18, 22},
    .doc = "x * tanh(softplus(x)).",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      e.apply(ScalarOp::kMul, x, e.apply(ScalarOp::kTanh, e.apply(ScalarOp::kSoftplus, x)));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
