// SPDX-License-Identifier: Apache-2.0
#include "plan/input_bounds.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace rota::plan {
namespace {

constexpr std::string_view kMoving[] = {"Cast", "Concat",    "Expand",   "Flatten", "Identity",
                                        "Pad",  "Reshape",   "Slice",    "Split",   "Squeeze",
                                        "Tile", "Transpose", "Unsqueeze"};

std::optional<std::int64_t> dimOf(const ir::Value* table, std::int64_t axis) {
  if (table == nullptr || !table->type.shape.known) return std::nullopt;
  const auto& dims = table->type.shape.dims;
  if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size())) return std::nullopt;
  return dims[static_cast<std::size_t>(axis)].constant();
}

/// The size of the table that input `i` of `node` indexes.
std::optional<std::int64_t> tableSize(const ir::Node& node, std::size_t i) {
  const bool standard = node.domain.empty() || node.domain == "ai.onnx";
  if (standard && i == 1 && (node.opType == "Gather" || node.opType == "GatherElements"))
    return dimOf(node.input(0), node.attributes.getInt("axis", 0));
  if (standard && i == 0 && node.opType == "OneHot") {
    const ir::Value* depth = node.input(1);
    if (depth != nullptr && depth->isConstant() && depth->constant.count() == 1)
      return static_cast<std::int64_t>(realAt(depth->constant.view(), 0));
  }
  if (node.domain == "com.microsoft" && node.opType == "EmbedLayerNormalization") {
    if (i == 0) return dimOf(node.input(2), 0);
    if (i == 1) return dimOf(node.input(4), 0);
    if (i == 8) return dimOf(node.input(3), 0);
  }
  return std::nullopt;
}

void follow(const ir::Graph& graph, const ir::Value* value, std::set<const ir::Value*>& seen,
            std::optional<std::int64_t>& smallest) {
  if (!seen.insert(value).second) return;
  for (const ir::Node* node : graph.usersOf(value)) {
    const bool moves = std::find(std::begin(kMoving), std::end(kMoving), node->opType) != std::end(kMoving);
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      if (node->inputs[i] != value) continue;
      if (const auto size = tableSize(*node, i); size && *size > 0)
        smallest = std::min(smallest.value_or(*size), *size);
      if (!moves || (i > 0 && node->opType != "Concat")) continue;
      for (const ir::Value* out : node->outputs)
        if (out != nullptr) follow(*node->owner, out, seen, smallest);
    }
  }
}

}  // namespace

std::map<std::string, std::int64_t> inputBounds(const ir::Graph& graph) {
  std::map<std::string, std::int64_t> bounds;
  for (const ir::Value* input : graph.inputs()) {
    if (!isInteger(input->type.dtype)) continue;
    std::set<const ir::Value*> seen;
    std::optional<std::int64_t> smallest;
    follow(graph, input, seen, smallest);
    if (smallest) bounds[input->name] = *smallest;
  }
  return bounds;
}

}  // namespace rota::plan
