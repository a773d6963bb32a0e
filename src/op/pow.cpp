// SPDX-License-Identifier: Apache-2.0
// Pow: the first tensor to the power of the second; they broadcast, and the result has the type of the first.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterPow(Definition{
    .domain = "",
    .name = "Pow",
    .versions = {7, 12, 13, 15},
    .doc = "The first tensor to the power of the second; they broadcast, and the result has the type "
           "of the first.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}, {.name = "Y", .typeVariable = "T1"}},
    .outputs = {{.name = "Z", .typeVariable = "T"}},
    .infer = inferBroadcast,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kPow); },
});

}  // namespace
}  // namespace rota::op
