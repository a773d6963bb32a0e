// SPDX-License-Identifier: Apache-2.0
// Bernoulli: 1 with the probability that the input gives for each element, else 0.
// Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"
#include "op/random_common.h"

namespace rota::op {
namespace {

const Register kRegisterBernoulli(Definition{
    .domain = "",
    .name = "Bernoulli",
    .versions = {15, 22},
    .doc = "1 with the probability that the input gives for each element, else 0. The same seed gives "
           "the same numbers; without one they differ from call to call.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T1"}},
    .outputs = {{.name = "output", .typeVariable = "T2"}},
    .attributes = {{.name = "dtype", .type = AttributeType::kInt},
                   {.name = "seed", .type = AttributeType::kFloat}},
    .infer = inferRandomLike,
    .isPure = false,
});

}  // namespace
}  // namespace rota::op
