// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization: every channel of every instance with mean 0 and variance 1, then scaled and shifted by channel.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/normalization_common.h"

namespace rota::op {
namespace {

Status inferInstanceNormalization(InferContext& ctx) {
  for (std::size_t i = 1; i < 3; ++i) ROTA_RETURN_IF_ERROR(requireChannelVector(ctx, i, 1));
  return inferSameAsFirst(ctx);
}

const Register kRegisterInstanceNormalization(Definition{
    .domain = "",
    .name = "InstanceNormalization",
    .versions = {6, 22},
    .doc = "Every channel of every instance with mean 0 and variance 1, then scaled and shifted by "
           "channel.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "input", .typeVariable = "T"},
               {.name = "scale", .typeVariable = "T"},
               {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "epsilon", .type = AttributeType::kFloat}},
    .infer = inferInstanceNormalization,
});

}  // namespace
}  // namespace rota::op
