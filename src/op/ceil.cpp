// SPDX-License-Identifier: Apache-2.0
// Ceil: the smallest whole number not below each element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterCeil(Definition{
    .domain = "",
    .name = "Ceil",
    .versions = {6, 13},
    .doc = "The smallest whole number not below each element.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferRounding,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kCeil); },
});

}  // namespace
}  // namespace rota::op
