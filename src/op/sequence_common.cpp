// SPDX-License-Identifier: Apache-2.0
// Types of sequences and optionals; see sequence_common.h.
#include "op/sequence_common.h"

namespace rota::op {

ir::Type sequenceOf(DType dtype, ir::Shape element) {
  return {.kind = ir::TypeKind::kSequence, .dtype = dtype, .shape = std::move(element)};
}

ir::Shape commonElementShape(const ir::Shape& a, const ir::Shape& b) {
  return a == b ? a : ir::Shape::unknown();
}

Status requireSequence(InferContext& ctx, std::size_t i) {
  if (ctx.inputType(i).kind == ir::TypeKind::kSequence) return Status::ok();
  return ctx.error(ErrorCode::kTypeMismatch, "Input " + std::to_string(i) + " must be a sequence",
                   "a sequence", ctx.inputType(i).kind == ir::TypeKind::kTensor ? "a tensor" : "an optional");
}

Result<ir::Type> typeFromText(InferContext& ctx, std::string_view text) {
  ir::Type type;
  std::string_view rest = text;
  const auto strip = [&rest](std::string_view prefix) {
    if (!rest.starts_with(prefix) || !rest.ends_with(')')) return false;
    rest = rest.substr(prefix.size(), rest.size() - prefix.size() - 1);
    return true;
  };
  if (strip("optional(")) type.kind = ir::TypeKind::kOptional;
  if (strip("sequence(")) {
    type.elementIsSequence = type.kind == ir::TypeKind::kOptional;
    if (type.kind == ir::TypeKind::kTensor) type.kind = ir::TypeKind::kSequence;
  }
  type.dtype = dtypeFromName(rest.substr(0, rest.find('[')));
  if (type.dtype == DType::kUndefined) {
    return ctx.error(ErrorCode::kBadAttribute, "A type attribute names no type",
                     "such as float32 or sequence(float32)", std::string(text));
  }
  return type;
}

}  // namespace rota::op
