// SPDX-License-Identifier: Apache-2.0
// Asinh: inverse hyperbolic sine of every element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterAsinh(Definition{
    .domain = "",
    .name = "Asinh",
    .versions = {9, 22},
    .doc = "Inverse hyperbolic sine of every element.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kAsinh); },
});

}  // namespace
}  // namespace rota::op
