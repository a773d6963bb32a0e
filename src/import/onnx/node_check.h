// SPDX-License-Identifier: Apache-2.0
// A node against the definition of its operator: inputs, outputs and attributes. What only types can tell is found by inference.
// Tested by src/import/onnx/reader_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "import/onnx/model_view.h"
#include "op/definition.h"

namespace rota::onnx {

/// "Conv1 (Conv)", with the scopes around it, is how messages name a node.
std::string nodeName(const NodeView& node);

/// Required inputs, and counts of inputs and outputs.
std::vector<Status> checkArity(const NodeView& node, const op::Definition& definition);
/// Known name and right type of one attribute.
Status checkAttribute(std::string_view name, AttributeKind kind, const op::Definition& definition);
/// Required attributes that are not among `given`.
std::vector<Status> checkRequiredAttributes(const std::vector<std::string_view>& given,
                                            const op::Definition& definition);
/// "Resize" or "com.example.Resize".
std::string operatorName(std::string_view domain, std::string_view opType);

}  // namespace rota::onnx
