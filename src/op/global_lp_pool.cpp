// SPDX-License-Identifier: Apache-2.0
// GlobalLpPool. Tested by src/op/window_test.cpp and the node cases of tests/conformance.
#include "op/window_common.h"

namespace rota::op {
namespace {

const Register kRegisterGlobalLpPool(Definition{
    .domain = "",
    .name = "GlobalLpPool",
    .versions = {2, 22},
    .doc = "The p-norm of each channel; the spatial axes become 1.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "p", .type = AttributeType::kInt}},
    .infer = inferGlobalPool,
});

}  // namespace
}  // namespace rota::op
