// SPDX-License-Identifier: Apache-2.0
// Atanh: inverse hyperbolic tangent of every element; NaN outside [-1, 1].
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterAtanh(Definition{
    .domain = "",
    .name = "Atanh",
    .versions = {9, 22},
    .doc = "Inverse hyperbolic tangent of every element; NaN outside [-1, 1].",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kAtanh); },
});

}  // namespace
}  // namespace rota::op
