// SPDX-License-Identifier: Apache-2.0
// HardSwish: x times the hard sigmoid x / 6 + 1/2 cut off at 0 and 1.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterHardSwish(Definition{
    .domain = "",
    .name = "HardSwish",
    .versions = {14, 22},
    .doc = "x times the hard sigmoid x / 6 + 1/2 cut off at 0 and 1.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto x = e.input(0);
      const auto slope = e.apply(ScalarOp::kMul, x, e.constant(1.0 / 6.0));
      const auto line = e.apply(ScalarOp::kAdd, slope, e.constant(0.5));
      const auto below = e.apply(ScalarOp::kMin, line, e.constant(1));
      const auto gate = e.apply(ScalarOp::kMax, below, e.constant(0));
      e.apply(ScalarOp::kMul, x, gate);
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
