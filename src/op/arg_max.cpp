// SPDX-License-Identifier: Apache-2.0
// ArgMax: index of the largest element along one axis: the first of equals, or the last with select_last_index.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"
#include "op/reduction_common.h"

namespace rota::op {
namespace {

const Register kRegisterArgMax(argReductionDefinition(
    "ArgMax",
    "Index of the largest element along one axis: the first of equals, or the last with "
    "select_last_index. NaN counts as beyond all numbers."));

}  // namespace
}  // namespace rota::op
