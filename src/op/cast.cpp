// SPDX-License-Identifier: Apache-2.0
// Cast: every element converted to another type.
// Tested by src/ref/pointwise_test.cpp, src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/cast_common.h"
#include "op/common.h"

namespace rota::op {
namespace {

Status inferCast(InferContext& ctx) {
  auto dtype = dtypeAttribute(ctx, "to", DType::kUndefined);
  if (!dtype) return dtype.status();
  return inferCastTo(ctx, *dtype);
}

const Register kRegisterCast(Definition{
    .domain = "",
    .name = "Cast",
    .versions = {6, 9, 13, 19, 21, 23, 24, 25, 28},
    .doc = "Every element converted to another type. Numbers that do not fit: floating point becomes "
           "infinity, or the largest value of an 8-bit type with saturate; integers keep their low "
           "bits; floating point to integer saturates, and NaN becomes 0.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "input", .typeVariable = "T1"}},
    .outputs = {{.name = "output", .typeVariable = "T2"}},
    .attributes = {{.name = "round_mode", .type = AttributeType::kString},
                   {.name = "saturate", .type = AttributeType::kInt},
                   {.name = "to", .type = AttributeType::kInt, .required = true}},
    .infer = inferCast,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      return castExpression(node.input(0)->type.dtype, node.output(0)->type.dtype);
    },
});

}  // namespace
}  // namespace rota::op
