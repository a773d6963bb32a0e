// SPDX-License-Identifier: Apache-2.0
// Where: elements of X where the condition is true and of Y elsewhere; all three broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsWhere(InferContext&, std::span<const Size> x) {
  if (const auto condition = x[0].constant()) return *condition != 0 ? x[1] : x[2];
  if (x[1] == x[2]) return x[1];
  return std::nullopt;
}

Status inferWhere(InferContext& ctx) {
  auto shape = broadcastShape(ctx);
  if (!shape) return shape.status();
  ctx.setOutput(0, ctx.inputDtype(1), std::move(*shape));
  propagateElementwise(ctx, contentsWhere);
  return Status::ok();
}

const Register kRegisterWhere(Definition{
    .domain = "",
    .name = "Where",
    .versions = {9, 16},
    .doc = "Elements of X where the condition is true and of Y elsewhere; all three broadcast.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "condition", .typeVariable = "B"},
               {.name = "X", .typeVariable = "T"},
               {.name = "Y", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferWhere,
    .expression = [](const ir::Node&) -> std::optional<ScalarExpression> {
      ExpressionBuilder e;
      const auto condition = e.input(0);
      const auto x = e.input(1);
      const auto y = e.input(2);
      e.apply(ScalarOp::kSelect, condition, x, y);
      return e.take();
    },
});

}  // namespace
}  // namespace rota::op
