// SPDX-License-Identifier: Apache-2.0
// RMSNormalization: divided by the root mean square over the dims from axis on, then scaled by a tensor that broadcasts.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/normalization_common.h"

namespace rota::op {
namespace {

Status inferRmsNormalization(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireBroadcastTo(ctx, 1, 0));
  if (ctx.inputShape(0).known) {
    const auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis", -1), ctx.inputShape(0).rank());
    if (!axis) return axis.status();
  }
  ctx.setOutput(0, ctx.inputDtype(1), ctx.inputShape(0));
  return Status::ok();
}

const Register kRegisterRMSNormalization(Definition{
    .domain = "",
    .name = "RMSNormalization",
    .versions = {23},
    .doc = "Divided by the root mean square over the dims from axis on, then scaled by a tensor that "
           "broadcasts.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"}, {.name = "scale", .typeVariable = "V"}},
    .outputs = {{.name = "Y", .typeVariable = "V"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt},
                   {.name = "epsilon", .type = AttributeType::kFloat},
                   {.name = "stash_type", .type = AttributeType::kInt}},
    .infer = inferRmsNormalization,
});

}  // namespace
}  // namespace rota::op
