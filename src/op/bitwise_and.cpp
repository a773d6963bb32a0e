// SPDX-License-Identifier: Apache-2.0
// BitwiseAnd: bitwise and of two integer tensors, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterBitwiseAnd(Definition{
    .domain = "",
    .name = "BitwiseAnd",
    .versions = {18},
    .doc = "Bitwise and of two integer tensors, which broadcast.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T"}},
    .infer = inferBroadcast,
});

}  // namespace
}  // namespace rota::op
