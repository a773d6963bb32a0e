// SPDX-License-Identifier: Apache-2.0
// Sigmoid: the logistic function 1 / (1 + exp(-x)) of every element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterSigmoid(Definition{
    .domain = "",
    .name = "Sigmoid",
    .versions = {6, 13},
    .doc = "The logistic function 1 / (1 + exp(-x)) of every element.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kSigmoid); },
});

}  // namespace
}  // namespace rota::op
