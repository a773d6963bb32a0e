// SPDX-License-Identifier: Apache-2.0
// Erf: the Gauss error function of every element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterErf(Definition{
    .domain = "",
    .name = "Erf",
    .versions = {9, 13},
    .doc = "The Gauss error function of every element.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kErf); },
});

}  // namespace
}  // namespace rota::op
