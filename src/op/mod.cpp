// SPDX-License-Identifier: Apache-2.0
// Mod: remainder of a division of two tensors, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsMod(InferContext& ctx, std::span<const Size> x) {
  if (x[1].is(0)) return std::nullopt;
  const bool isTruncated = ctx.attributes().getInt("fmod") != 0;
  if (isTruncated && (ctx.sizes().range(x[0]).lo < 0 || ctx.sizes().range(x[1]).lo < 1)) return std::nullopt;
  return mod(x[0], x[1]);
}

Status inferMod(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsMod);
  return Status::ok();
}

const Register kRegisterMod(Definition{
    .domain = "",
    .name = "Mod",
    .versions = {10, 13, 28},
    .doc = "Remainder of a division of two tensors, which broadcast. With fmod = 0 the result has the "
           "sign of the divisor, with fmod = 1 the sign of the dividend. An integer modulo zero is an "
           "error.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T"}},
    .attributes = {{.name = "fmod", .type = AttributeType::kInt}},
    .infer = inferMod,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      if (node.attributes.getInt("fmod") != 0) return std::nullopt;
      return binaryExpression(ScalarOp::kMod);
    },
});

}  // namespace
}  // namespace rota::op
