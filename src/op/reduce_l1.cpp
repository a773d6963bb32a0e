// SPDX-License-Identifier: Apache-2.0
// ReduceL1: sum of absolute values along axes.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"
#include "op/reduction_common.h"

namespace rota::op {
namespace {

const Register kRegisterReduceL1(Definition{
    .domain = "",
    .name = "ReduceL1",
    .versions = {1, 11, 13, 18},
    .doc = "Sum of absolute values along axes. Axes are an attribute in older operator sets and an "
           "input later; none given means all, or none with noop_with_empty_axes.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "axes", .option = FormalOption::kOptional}},
    .outputs = {{.name = "reduced", .typeVariable = "T"}},
    .attributes = {{.name = "axes", .type = AttributeType::kInts},
                   {.name = "keepdims", .type = AttributeType::kInt},
                   {.name = "noop_with_empty_axes", .type = AttributeType::kInt}},
    .infer = inferReduction,
});

}  // namespace
}  // namespace rota::op
