// SPDX-License-Identifier: Apache-2.0
// LpPool. Tested by src/op/window_test.cpp and the node cases of tests/conformance.
#include "op/window_common.h"

namespace rota::op {
namespace {

const Register kRegisterLpPool(Definition{
    .domain = "",
    .name = "LpPool",
    .versions = {2, 11, 18, 22},
    .doc = "The p-norm of each window; padding counts as zeros.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = windowAttributes({{.name = "ceil_mode", .type = AttributeType::kInt},
                                    {.name = "p", .type = AttributeType::kInt}}),
    .infer = inferPool,
});

}  // namespace
}  // namespace rota::op
