// SPDX-License-Identifier: Apache-2.0
// Sinh: hyperbolic sine of every element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterSinh(Definition{
    .domain = "",
    .name = "Sinh",
    .versions = {9, 22},
    .doc = "Hyperbolic sine of every element.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kSinh); },
});

}  // namespace
}  // namespace rota::op
