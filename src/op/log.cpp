// SPDX-License-Identifier: Apache-2.0
// Log: natural logarithm of every element; minus infinity at 0, NaN below.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterLog(Definition{
    .domain = "",
    .name = "Log",
    .versions = {6, 13},
    .doc = "Natural logarithm of every element; minus infinity at 0, NaN below.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kLog); },
});

}  // namespace
}  // namespace rota::op
