// SPDX-License-Identifier: Apache-2.0
// Tan: tangent of every element, in radians.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterTan(Definition{
    .domain = "",
    .name = "Tan",
    .versions = {7, 22},
    .doc = "Tangent of every element, in radians.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kTan); },
});

}  // namespace
}  // namespace rota::op
