// SPDX-License-Identifier: Apache-2.0
// Round: every element rounded to the nearest whole number, halves to the even one.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterRound(Definition{
    .domain = "",
    .name = "Round",
    .versions = {11, 22},
    .doc = "Every element rounded to the nearest whole number, halves to the even one.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferRounding,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kRound); },
});

}  // namespace
}  // namespace rota::op
