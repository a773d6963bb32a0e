// SPDX-License-Identifier: Apache-2.0
// IsNaN: true where an element is not a number.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterIsNaN(Definition{
    .domain = "",
    .name = "IsNaN",
    .versions = {9, 13, 20},
    .doc = "True where an element is not a number.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T1"}},
    .outputs = {{.name = "Y", .typeVariable = "T2"}},
    .infer = inferSameShapeBool,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kIsNan); },
});

}  // namespace
}  // namespace rota::op
