// SPDX-License-Identifier: Apache-2.0
// AveragePool. Tested by src/op/window_test.cpp and the node cases of tests/conformance.
#include "op/window_common.h"

namespace rota::op {
namespace {

const Register kRegisterAveragePool(Definition{
    .domain = "",
    .name = "AveragePool",
    .versions = {1, 7, 10, 11, 19, 22},
    .doc = "The mean of each window. Padding counts as zeros when count_include_pad is set and not at all "
           "otherwise; what a last window of "
           "ceil_mode reaches beyond the padding never counts.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = windowAttributes({{.name = "ceil_mode", .type = AttributeType::kInt},
                                    {.name = "count_include_pad", .type = AttributeType::kInt}}),
    .infer = inferPool,
});

}  // namespace
}  // namespace rota::op
