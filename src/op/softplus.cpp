// SPDX-License-Identifier: Apache-2.0
// Softplus: log(1 + exp(x)) of every element, without overflow for large x.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterSoftplus(Definition{
    .domain = "",
    .name = "Softplus",
    .versions = {1, 22},
    .doc = "log(1 + exp(x)) of every element, without overflow for large x.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kSoftplus); },
});

}  // namespace
}  // namespace rota::op
