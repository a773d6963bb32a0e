// SPDX-License-Identifier: Apache-2.0
// Sign: -1, 0 or 1 by the sign of every element; NaN stays NaN.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterSign(Definition{
    .domain = "",
    .name = "Sign",
    .versions = {9, 13},
    .doc = "-1, 0 or 1 by the sign of every element; NaN stays NaN.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kSign); },
});

}  // namespace
}  // namespace rota::op
