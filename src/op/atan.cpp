// SPDX-License-Identifier: Apache-2.0
// Atan: arc tangent of every element, in radians.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterAtan(Definition{
    .domain = "",
    .name = "Atan",
    .versions = {7, 22},
    .doc = "Arc tangent of every element, in radians.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kAtan); },
});

}  // namespace
}  // namespace rota::op
