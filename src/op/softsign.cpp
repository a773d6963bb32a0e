// SPDX-License-Identifier: Apache-2.0
// Softsign: x / (1 + |x|).
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterSoftsign(Definition{
    .domain = "",
    .name = "Softsign",
    .versions = {1, 22},
    .doc = "x / (1 + |x|).",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto one = e.constant(1);
      e.apply(ScalarOp::kDiv, x, e.apply(ScalarOp::kAdd, one, e.apply(ScalarOp::kAbs, x)));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
