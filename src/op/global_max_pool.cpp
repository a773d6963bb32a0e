// SPDX-License-Identifier: Apache-2.0
// GlobalMaxPool. Tested by src/op/window_test.cpp and the node cases of tests/conformance.
#include "op/window_common.h"

namespace rota::op {
namespace {

const Register kRegisterGlobalMaxPool(Definition{
    .domain = "",
    .name = "GlobalMaxPool",
    .versions = {1, 22},
    .doc = "The largest element of each channel; the spatial axes become 1.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferGlobalPool,
});

}  // namespace
}  // namespace rota::op
