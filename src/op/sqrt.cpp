// SPDX-License-Identifier: Apache-2.0
// Sqrt: square root of every element; NaN below 0.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterSqrt(Definition{
    .domain = "",
    .name = "Sqrt",
    .versions = {6, 13},
    .doc = "Square root of every element; NaN below 0.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kSqrt); },
});

}  // namespace
}  // namespace rota::op
