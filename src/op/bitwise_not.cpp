// SPDX-License-Identifier: Apache-2.0
// BitwiseNot: every bit of every integer element inverted.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterBitwiseNot(Definition{
    .domain = "",
    .name = "BitwiseNot",
    .versions = {18},
    .doc = "Every bit of every integer element inverted.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
});

}  // namespace
}  // namespace rota::op
