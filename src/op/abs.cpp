// SPDX-License-Identifier: Apache-2.0
// Abs: absolute value of every element.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsAbs(InferContext& ctx, Size a) {
  const SizeRange range = ctx.sizes().range(a);
  if (range.lo >= 0) return a;
  if (range.hi <= 0) return Size{} - a;
  return std::nullopt;
}

Status inferAbs(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferSameAsFirst(ctx));
  propagateUnary(ctx, contentsAbs);
  return Status::ok();
}

const Register kRegisterAbs(Definition{
    .domain = "",
    .name = "Abs",
    .versions = {6, 13},
    .doc = "Absolute value of every element. The most negative integer stays as it is.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferAbs,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kAbs); },
});

}  // namespace
}  // namespace rota::op
