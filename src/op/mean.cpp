// SPDX-License-Identifier: Apache-2.0
// Mean: the mean of all inputs, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterMean(Definition{
    .domain = "",
    .name = "Mean",
    .versions = {6, 8, 13},
    .doc = "The mean of all inputs, which broadcast.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "data_0", .option = FormalOption::kVariadic, .typeVariable = "T"}},
    .outputs = {{.name = "mean", .typeVariable = "T"}},
    .infer = inferBroadcast,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      auto sum = e.input(0);
      for (std::size_t i = 1; i < node.inputs.size(); ++i) {
        const auto next = e.input(static_cast<std::uint16_t>(i));
        sum = e.apply(ScalarOp::kAdd, sum, next);
      }
      e.apply(ScalarOp::kDiv, sum, e.constant(static_cast<double>(node.inputs.size())));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
