// SPDX-License-Identifier: Apache-2.0
// CumProd: running product along the axis given by an input; exclusive leaves out the element itself, reverse starts at the end.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterCumProd(Definition{
    .domain = "",
    .name = "CumProd",
    .versions = {26},
    .doc = "Running product along the axis given by an input; exclusive leaves out the element "
           "itself, reverse starts at the end.",
    .kind = Kind::kScan,
    .inputs = {{.name = "x", .typeVariable = "T"}, {.name = "axis", .typeVariable = "T2"}},
    .outputs = {{.name = "y", .typeVariable = "T"}},
    .attributes = {{.name = "exclusive", .type = AttributeType::kInt},
                   {.name = "reverse", .type = AttributeType::kInt}},
    .infer = inferSameAsFirst,
});

}  // namespace
}  // namespace rota::op
