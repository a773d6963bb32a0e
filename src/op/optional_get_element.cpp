// SPDX-License-Identifier: Apache-2.0
// OptionalGetElement: the value that an optional holds.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferOptionalGetElement(InferContext& ctx) {
  ir::Type type = ctx.inputType(0);
  if (type.kind == ir::TypeKind::kOptional) {
    type.kind = type.elementIsSequence ? ir::TypeKind::kSequence : ir::TypeKind::kTensor;
    type.elementIsSequence = false;
  }
  ctx.setOutputType(0, std::move(type));
  return Status::ok();
}

const Register kRegisterOptionalGetElement(Definition{
    .name = "OptionalGetElement",
    .versions = {15, 18, 28},
    .doc = "The value that an optional holds; an empty one is an error. A tensor or a sequence is passed on.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input"}},
    .outputs = {{.name = "output"}},
    .infer = inferOptionalGetElement,
});

}  // namespace
}  // namespace rota::op
