// SPDX-License-Identifier: Apache-2.0
// CumSum: running sum along the axis given by an input; exclusive leaves out the element itself, reverse starts at the end.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterCumSum(Definition{
    .domain = "",
    .name = "CumSum",
    .versions = {11, 14},
    .doc = "Running sum along the axis given by an input; exclusive leaves out the element itself, "
           "reverse starts at the end.",
    .kind = Kind::kScan,
    .inputs = {{.name = "x", .typeVariable = "T"}, {.name = "axis", .typeVariable = "T2"}},
    .outputs = {{.name = "y", .typeVariable = "T"}},
    .attributes = {{.name = "exclusive", .type = AttributeType::kInt},
                   {.name = "reverse", .type = AttributeType::kInt}},
    .infer = inferSameAsFirst,
});

}  // namespace
}  // namespace rota::op
