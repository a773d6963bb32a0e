// SPDX-License-Identifier: Apache-2.0
// Acosh: inverse hyperbolic cosine of every element; NaN below 1.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterAcosh(Definition{
    .domain = "",
    .name = "Acosh",
    .versions = {9, 22},
    .doc = "Inverse hyperbolic cosine of every element; NaN below 1.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kAcosh); },
});

}  // namespace
}  // namespace rota::op
