// SPDX-License-Identifier: Apache-2.0
// LpNormalization: divided by the 1-norm or 2-norm along one axis; 0 where the norm is 0.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/normalization_common.h"

namespace rota::op {
namespace {

Status inferLpNormalization(InferContext& ctx) {
  const std::int64_t p = ctx.attributes().getInt("p", 2);
  if (p != 1 && p != 2)
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'p' is not a known norm", "1 or 2",
                     std::to_string(p));
  if (ctx.inputShape(0).known) {
    const auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis", -1), ctx.inputShape(0).rank());
    if (!axis) return axis.status();
  }
  return inferSameAsFirst(ctx);
}

const Register kRegisterLpNormalization(Definition{
    .domain = "",
    .name = "LpNormalization",
    .versions = {1, 22},
    .doc = "Divided by the 1-norm or 2-norm along one axis; 0 where the norm is 0.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt}, {.name = "p", .type = AttributeType::kInt}},
    .infer = inferLpNormalization,
});

}  // namespace
}  // namespace rota::op
