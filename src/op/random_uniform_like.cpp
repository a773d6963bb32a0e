// SPDX-License-Identifier: Apache-2.0
// RandomUniformLike: numbers uniform in [low, high) in the shape of the input.
// Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"
#include "op/random_common.h"

namespace rota::op {
namespace {

const Register kRegisterRandomUniformLike(Definition{
    .domain = "",
    .name = "RandomUniformLike",
    .versions = {1, 22},
    .doc = "Numbers uniform in [low, high) in the shape of the input. The same seed gives the same "
           "numbers; without one they differ from call to call.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T1"}},
    .outputs = {{.name = "output", .typeVariable = "T2"}},
    .attributes = {{.name = "dtype", .type = AttributeType::kInt},
                   {.name = "high", .type = AttributeType::kFloat},
                   {.name = "low", .type = AttributeType::kFloat},
                   {.name = "seed", .type = AttributeType::kFloat}},
    .infer = inferRandomLike,
    .isPure = false,
});

}  // namespace
}  // namespace rota::op
