// SPDX-License-Identifier: Apache-2.0
// Exp: the exponential of every element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterExp(Definition{
    .domain = "",
    .name = "Exp",
    .versions = {6, 13},
    .doc = "The exponential of every element.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kExp); },
});

}  // namespace
}  // namespace rota::op
