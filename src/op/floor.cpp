// SPDX-License-Identifier: Apache-2.0
// Floor: the largest whole number not above each element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterFloor(Definition{
    .domain = "",
    .name = "Floor",
    .versions = {6, 13},
    .doc = "The largest whole number not above each element.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferRounding,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kFloor); },
});

}  // namespace
}  // namespace rota::op
