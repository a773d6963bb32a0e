// SPDX-License-Identifier: Apache-2.0
// Optional: a value, or nothing, as an optional.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferOptional(InferContext& ctx) {
  ir::Type type;
  if (ctx.hasInput(0)) {
    type = ctx.inputType(0);
  } else {
    auto named = typeFromText(ctx, ctx.attributes().getString("type"));
    if (!named) return named.status();
    type = std::move(*named);
  }
  if (type.kind != ir::TypeKind::kOptional) type.elementIsSequence = type.kind == ir::TypeKind::kSequence;
  type.kind = ir::TypeKind::kOptional;
  ctx.setOutputType(0, std::move(type));
  return Status::ok();
}

const Register kRegisterOptional(Definition{
    .name = "Optional",
    .versions = {15, 28},
    .doc = "An optional that holds the input, or an empty one of the type that attribute type names.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output"}},
    .attributes = {{.name = "type", .type = AttributeType::kTypeProto}},
    .infer = inferOptional,
});

}  // namespace
}  // namespace rota::op
