// SPDX-License-Identifier: Apache-2.0
// LRN: every element divided by (bias + alpha / size * sum of squares over neighbouring channels) to the power beta.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

Status inferLrn(InferContext& ctx) {
  const std::int64_t size = ctx.attributes().getInt("size", 0);
  if (size < 1)
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'size' is not positive", "1 or more",
                     std::to_string(size));
  if (ctx.inputShape(0).known && ctx.inputShape(0).rank() < 2) {
    return ctx.error(ErrorCode::kShapeMismatch, "LRN needs channels", "rank 2 or more",
                     "rank " + std::to_string(ctx.inputShape(0).rank()));
  }
  return inferSameAsFirst(ctx);
}

const Register kRegisterLRN(Definition{
    .domain = "",
    .name = "LRN",
    .versions = {1, 13},
    .doc = "Every element divided by (bias + alpha / size * sum of squares over neighbouring "
           "channels) to the power beta.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat},
                   {.name = "beta", .type = AttributeType::kFloat},
                   {.name = "bias", .type = AttributeType::kFloat},
                   {.name = "size", .type = AttributeType::kInt, .required = true}},
    .infer = inferLrn,
});

}  // namespace
}  // namespace rota::op
