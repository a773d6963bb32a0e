// SPDX-License-Identifier: Apache-2.0
// Div: quotient of two tensors, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsDiv(InferContext& ctx, std::span<const Size> x) {
  if (x[1].is(0)) return std::nullopt;
  const auto a = x[0].constant();
  const auto b = x[1].constant();
  if (a && b && !isFloat(ctx.inputDtype(0))) return *b == -1 ? Size{} - x[0] : Size(*a / *b);
  if (isFloat(ctx.inputDtype(0))) {
    // A quotient of floating-point numbers is a size only where nothing is left over.
    if (!b || *b < 1 || !ctx.sizes().divisible(x[0], *b)) return std::nullopt;
    return floorDiv(x[0], x[1]);
  }
  // Rounding to zero and to minus infinity agree where nothing is negative.
  if (ctx.sizes().range(x[0]).lo < 0 || ctx.sizes().range(x[1]).lo < 1) return std::nullopt;
  return floorDiv(x[0], x[1]);
}

Status inferDiv(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsDiv);
  return Status::ok();
}

const Register kRegisterDiv(Definition{
    .domain = "",
    .name = "Div",
    .versions = {7, 13, 14},
    .doc = "Quotient of two tensors, which broadcast. Integers round towards zero; dividing an "
           "integer by zero is an error.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T"}},
    .infer = inferDiv,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kDiv); },
});

}  // namespace
}  // namespace rota::op
