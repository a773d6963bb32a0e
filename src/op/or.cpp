// SPDX-License-Identifier: Apache-2.0
// Or: logical or of two boolean tensors, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsOr(InferContext&, std::span<const Size> x) {
  if (x[0].isConstant() && !x[0].is(0)) return Size(1);
  if (x[1].isConstant() && !x[1].is(0)) return Size(1);
  if (x[0].is(0) && x[1].is(0)) return Size{};
  return std::nullopt;
}

Status inferOr(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsOr);
  return Status::ok();
}

const Register kRegisterOr(Definition{
    .domain = "",
    .name = "Or",
    .versions = {7},
    .doc = "Logical or of two boolean tensors, which broadcast.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T1"}},
    .infer = inferOr,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kOr); },
});

}  // namespace
}  // namespace rota::op
