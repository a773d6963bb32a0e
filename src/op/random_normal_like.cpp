// SPDX-License-Identifier: Apache-2.0
// RandomNormalLike: normally distributed numbers in the shape of the input.
// Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"
#include "op/random_common.h"

namespace rota::op {
namespace {

const Register kRegisterRandomNormalLike(Definition{
    .domain = "",
    .name = "RandomNormalLike",
    .versions = {1, 22},
    .doc = "Normally distributed numbers in the shape of the input. The same seed gives the same "
           "numbers; without one they differ from call to call.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T1"}},
    .outputs = {{.name = "output", .typeVariable = "T2"}},
    .attributes = {{.name = "dtype", .type = AttributeType::kInt},
                   {.name = "mean", .type = AttributeType::kFloat},
                   {.name = "scale", .type = AttributeType::kFloat},
                   {.name = "seed", .type = AttributeType::kFloat}},
    .infer = inferRandomLike,
    .isPure = false,
});

}  // namespace
}  // namespace rota::op
