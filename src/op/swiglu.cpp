// SPDX-License-Identifier: Apache-2.0
// SwiGLU: gated activation: swish of the gate A with the given alpha, times B.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

Status inferSwiGlu(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireSameShape(ctx, 0, 1));
  return inferSameAsFirst(ctx);
}

const Register kRegisterSwiGLU(Definition{
    .domain = "",
    .name = "SwiGLU",
    .versions = {28},
    .doc = "Gated activation: swish of the gate A with the given alpha, times B. Both inputs have the "
           "same shape.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat}},
    .infer = inferSwiGlu,
    .expression = [](const ir::Node& node) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto gate = e.input(0);
      const auto scaled = e.apply(ScalarOp::kMul, e.constant(node.attributes.getFloat("alpha", 1.0F)), gate);
      const auto swish = e.apply(ScalarOp::kMul, gate, e.apply(ScalarOp::kSigmoid, scaled));
      e.apply(ScalarOp::kMul, swish, e.input(1));
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
