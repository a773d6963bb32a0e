// SPDX-License-Identifier: Apache-2.0
// CastLike: every element of the first input converted to the type of the second, as Cast does.
// Tested by src/ref/pointwise_test.cpp, src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/cast_common.h"
#include "op/common.h"

namespace rota::op {
namespace {

Status inferCastLike(InferContext& ctx) { return inferCastTo(ctx, ctx.inputDtype(1)); }

const Register kRegisterCastLike(Definition{
    .domain = "",
    .name = "CastLike",
    .versions = {15, 19, 21, 23, 24, 25},
    .doc = "Every element of the first input converted to the type of the second, as Cast does.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T1"}, {.name = "target_type", .typeVariable = "T2"}},
    .outputs = {{.name = "output", .typeVariable = "T2"}},
    .attributes = {{.name = "round_mode", .type = AttributeType::kString},
                   {.name = "saturate", .type = AttributeType::kInt}},
    .infer = inferCastLike,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      return castExpression(node.input(0)->type.dtype, node.input(1)->type.dtype);
    },
});

}  // namespace
}  // namespace rota::op
