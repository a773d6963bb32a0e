// SPDX-License-Identifier: Apache-2.0
// Hardmax: 1 at the first largest element, 0 elsewhere.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"
#include "op/reduction_common.h"

namespace rota::op {
namespace {

const Register kRegisterHardmax(Definition{
    .domain = "",
    .name = "Hardmax",
    .versions = {1, 11, 13},
    .doc = "1 at the first largest element, 0 elsewhere. Up to operator set 12 over all dims from "
           "axis on, since 13 over one axis.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt}},
    .infer = inferSoftmax,
});

}  // namespace
}  // namespace rota::op
