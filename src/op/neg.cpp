// SPDX-License-Identifier: Apache-2.0
// Neg: every element with its sign turned.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

std::optional<Size> contentsNeg(InferContext&, Size a) { return Size{} - a; }

Status inferNeg(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferSameAsFirst(ctx));
  propagateUnary(ctx, contentsNeg);
  return Status::ok();
}

const Register kRegisterNeg(Definition{
    .domain = "",
    .name = "Neg",
    .versions = {6, 13},
    .doc = "Every element with its sign turned. The most negative integer stays as it is.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferNeg,
    .expression = [](const ir::Node&) { return unaryExpression(ScalarOp::kNeg); },
});

}  // namespace
}  // namespace rota::op
