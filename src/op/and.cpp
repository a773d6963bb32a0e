// SPDX-License-Identifier: Apache-2.0
// And: logical and of two boolean tensors, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsAnd(InferContext&, std::span<const Size> x) {
  if (x[0].is(0) || x[1].is(0)) return Size{};
  if (x[0].isConstant() && x[1].isConstant()) return Size(1);
  return std::nullopt;
}

Status inferAnd(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsAnd);
  return Status::ok();
}

const Register kRegisterAnd(Definition{
    .domain = "",
    .name = "And",
    .versions = {7},
    .doc = "Logical and of two boolean tensors, which broadcast.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T1"}},
    .infer = inferAnd,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kAnd); },
});

}  // namespace
}  // namespace rota::op
