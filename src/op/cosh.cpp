// SPDX-License-Identifier: Apache-2.0
// Cosh: hyperbolic cosine of every element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterCosh(Definition{
    .domain = "",
    .name = "Cosh",
    .versions = {9, 22},
    .doc = "Hyperbolic cosine of every element.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kCosh); },
});

}  // namespace
}  // namespace rota::op
