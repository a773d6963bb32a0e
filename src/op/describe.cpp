// SPDX-License-Identifier: Apache-2.0
// Names of nodes and types in messages. Tested by src/op/infer_test.cpp.
#include "op/describe.h"

namespace rota::op {

std::string describeNode(const ir::Node& node) {
  const std::string sources =
      node.owner == nullptr ? std::string() : node.owner->sources().describe(node.provenance);
  return sources.empty() ? node.name + " (" + node.opType + ")" : sources;
}

std::string describeShape(const ir::Shape& shape, const SizeContext& sizes) {
  if (!shape.known) return "[?]";
  std::string text = "[";
  for (std::size_t i = 0; i < shape.dims.size(); ++i)
    text += (i == 0 ? "" : ", ") + sizes.toString(shape.dims[i]);
  return text + "]";
}

std::string describeType(const ir::Type& type, const SizeContext& sizes) {
  if (type.dtype == DType::kUndefined) return "a value without a type";
  std::string element = info(type.dtype).name + describeShape(type.shape, sizes);
  switch (type.kind) {
    case ir::TypeKind::kTensor: return element;
    case ir::TypeKind::kSequence: return "sequence(" + element + ")";
    case ir::TypeKind::kOptional:
      return type.elementIsSequence ? "optional(sequence(" + element + "))" : "optional(" + element + ")";
    case ir::TypeKind::kState: return "state(" + element + ")";
  }
  return element;
}

}  // namespace rota::op
