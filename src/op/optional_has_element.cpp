// SPDX-License-Identifier: Apache-2.0
// OptionalHasElement: whether an optional holds a value.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferOptionalHasElement(InferContext& ctx) {
  ctx.setOutput(0, DType::kBool, ir::Shape::of({}));
  const bool isCertain = !ctx.hasInput(0) || ctx.inputType(0).kind != ir::TypeKind::kOptional;
  if (isCertain) ctx.setContents(0, {Size(std::int64_t{ctx.hasInput(0) ? 1 : 0})});
  return Status::ok();
}

const Register kRegisterOptionalHasElement(Definition{
    .name = "OptionalHasElement",
    .versions = {15, 18, 28},
    .doc = "Whether an optional holds a value; a tensor or a sequence always does, an input that is left out "
           "does not.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output"}},
    .infer = inferOptionalHasElement,
});

}  // namespace
}  // namespace rota::op
