// SPDX-License-Identifier: Apache-2.0
// Tanh: hyperbolic tangent of every element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterTanh(Definition{
    .domain = "",
    .name = "Tanh",
    .versions = {6, 13},
    .doc = "Hyperbolic tangent of every element.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kTanh); },
});

}  // namespace
}  // namespace rota::op
