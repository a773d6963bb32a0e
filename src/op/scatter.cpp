// SPDX-License-Identifier: Apache-2.0
// Scatter: the old name of ScatterElements.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/scatter_common.h"

namespace rota::op {
namespace {

const Register kRegisterScatter(Definition{
    .name = "Scatter",
    .versions = {9, 11},
    .doc = "The name of ScatterElements before version 11; it has no reduction.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"},
               {.name = "indices", .typeVariable = "Tind"},
               {.name = "updates", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis"}},
    .infer = inferScatterElements,
});

}  // namespace
}  // namespace rota::op
