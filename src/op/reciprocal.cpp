// SPDX-License-Identifier: Apache-2.0
// Reciprocal: 1 divided by every element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterReciprocal(Definition{
    .domain = "",
    .name = "Reciprocal",
    .versions = {6, 13},
    .doc = "1 divided by every element.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kReciprocal); },
});

}  // namespace
}  // namespace rota::op
