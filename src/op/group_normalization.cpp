// SPDX-License-Identifier: Apache-2.0
// GroupNormalization: every group of channels of every instance with mean 0 and variance 1, then scaled and shifted: by group in operator set 18, by channel since 21.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/normalization_common.h"

namespace rota::op {
namespace {

Status inferGroupNormalization(InferContext& ctx) {
  const std::int64_t groups = ctx.attributes().getInt("num_groups", 0);
  if (groups < 1)
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'num_groups' is not positive", "1 or more",
                     std::to_string(groups));
  const ir::Shape& shape = ctx.inputShape(0);
  if (shape.known && shape.rank() > 1) {
    const auto channels = shape.dims[1].constant();
    if (channels && *channels % groups != 0) {
      return ctx.error(ErrorCode::kShapeMismatch, "The channels do not divide into groups",
                       "a multiple of " + std::to_string(groups), std::to_string(*channels));
    }
  }
  if (ctx.version() >= 21) {
    for (std::size_t i = 1; i < 3; ++i) ROTA_RETURN_IF_ERROR(requireChannelVector(ctx, i, 1));
  }
  return inferSameAsFirst(ctx);
}

const Register kRegisterGroupNormalization(Definition{
    .domain = "",
    .name = "GroupNormalization",
    .versions = {18, 21},
    .doc = "Every group of channels of every instance with mean 0 and variance 1, then scaled and "
           "shifted: by group in operator set 18, by channel since 21.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "scale", .typeVariable = "T"},
               {.name = "bias", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "epsilon", .type = AttributeType::kFloat},
                   {.name = "num_groups", .type = AttributeType::kInt, .required = true},
                   {.name = "stash_type", .type = AttributeType::kInt}},
    .infer = inferGroupNormalization,
});

}  // namespace
}  // namespace rota::op
