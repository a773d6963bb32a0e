// SPDX-License-Identifier: Apache-2.0
// Xor: logical exclusive or of two boolean tensors, which broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsXor(InferContext&, std::span<const Size> x) {
  if (!x[0].isConstant() || !x[1].isConstant()) return std::nullopt;
  return Size(x[0].is(0) != x[1].is(0) ? 1 : 0);
}

Status inferXor(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferBroadcast(ctx));
  propagateElementwise(ctx, contentsXor);
  return Status::ok();
}

const Register kRegisterXor(Definition{
    .domain = "",
    .name = "Xor",
    .versions = {7},
    .doc = "Logical exclusive or of two boolean tensors, which broadcast.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T1"}},
    .infer = inferXor,
    .expression = [](const ir::Node&) { return binaryExpression(ScalarOp::kXor); },
});

}  // namespace
}  // namespace rota::op
