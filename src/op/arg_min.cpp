// SPDX-License-Identifier: Apache-2.0
// ArgMin: index of the smallest element along one axis: the first of equals, or the last with select_last_index.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"
#include "op/reduction_common.h"

namespace rota::op {
namespace {

const Register kRegisterArgMin(Definition{
    .domain = "",
    .name = "ArgMin",
    .versions = {1, 11, 12, 13},
    .doc = "Index of the smallest element along one axis: the first of equals, or the last with "
           "select_last_index. NaN counts as beyond all numbers.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "data", .typeVariable = "T"}},
    .outputs = {{.name = "reduced"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt},
                   {.name = "keepdims", .type = AttributeType::kInt},
                   {.name = "select_last_index", .type = AttributeType::kInt}},
    .infer = inferArgReduction,
});

}  // namespace
}  // namespace rota::op
