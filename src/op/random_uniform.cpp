// SPDX-License-Identifier: Apache-2.0
// RandomUniform: a tensor of the given shape with numbers uniform in [low, high).
// Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"
#include "op/random_common.h"

namespace rota::op {
namespace {

const Register kRegisterRandomUniform(Definition{
    .domain = "",
    .name = "RandomUniform",
    .versions = {1, 22},
    .doc = "A tensor of the given shape with numbers uniform in [low, high). The same seed gives the "
           "same numbers; without one they differ from call to call.",
    .kind = Kind::kOpaque,
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "dtype", .type = AttributeType::kInt},
                   {.name = "high", .type = AttributeType::kFloat},
                   {.name = "low", .type = AttributeType::kFloat},
                   {.name = "seed", .type = AttributeType::kFloat},
                   {.name = "shape", .type = AttributeType::kInts, .required = true}},
    .infer = inferRandomShape,
    .isPure = false,
});

}  // namespace
}  // namespace rota::op
