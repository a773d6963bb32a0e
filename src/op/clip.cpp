// SPDX-License-Identifier: Apache-2.0
// Clip: every element moved into [min, max]; a missing bound does not count, max wins over min, NaN stays NaN.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<ExpressionBuilder::Ref> clipBound(ExpressionBuilder& e, const ir::Node& node, std::size_t input,
                                                std::string_view attribute) {
  if (node.input(input) != nullptr) return e.input(static_cast<std::uint16_t>(input));
  if (node.attributes.has(attribute)) return e.constant(node.attributes.getFloat(attribute));
  return std::nullopt;
}

Status inferClip(InferContext& ctx) {
  for (std::size_t i = 1; i < ctx.inputCount(); ++i) {
    if (ctx.hasInput(i)) ROTA_RETURN_IF_ERROR(requireSingleElement(ctx, i));
  }
  return inferSameAsFirst(ctx);
}

const Register kRegisterClip(Definition{
    .domain = "",
    .name = "Clip",
    .versions = {6, 11, 12, 13},
    .doc = "Every element moved into [min, max]; a missing bound does not count, max wins over min, "
           "NaN stays NaN. Bounds are attributes up to operator set 6 and inputs since 11.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T"},
               {.name = "min", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "max", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "max", .type = AttributeType::kFloat},
                   {.name = "min", .type = AttributeType::kFloat}},
    .infer = inferClip,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      auto result = e.input(0);
      if (const auto lower = clipBound(e, node, 1, "min")) result = e.apply(ScalarOp::kMax, result, *lower);
      if (const auto upper = clipBound(e, node, 2, "max")) result = e.apply(ScalarOp::kMin, result, *upper);
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
