// SPDX-License-Identifier: Apache-2.0
// Acos: arc cosine of every element, in radians; NaN outside [-1, 1].
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterAcos(Definition{
    .domain = "",
    .name = "Acos",
    .versions = {7, 22},
    .doc = "Arc cosine of every element, in radians; NaN outside [-1, 1].",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kAcos); },
});

}  // namespace
}  // namespace rota::op
