// SPDX-License-Identifier: Apache-2.0
// See type_check.h.
#include "import/onnx/type_check.h"

#include "ir/walk.h"
#include "op/definition.h"

namespace rota::onnx {

void inferTypes(ir::Graph& graph, Problems& problems) {
  if (problems.empty()) {
    const Status status = op::inferGraph(graph);
    if (status.isOk()) return;
  }
  for (const auto& node : graph.nodes()) {
    bool isReady = true;  // of all that it uses of this graph, in its nested graphs too
    ir::forEachUse(*node, [&](const ir::Value* value) {
      isReady = isReady && (value->owner != &graph || value->type.dtype != DType::kUndefined);
    });
    if (!isReady) continue;
    if (Status status = op::inferNode(*node); status.isOk()) {
      op::learnValues(*node);
    } else {
      problems.add(status, status.detail().node.empty() ? node->name : status.detail().node);
      for (ir::Value* output : node->outputs) {
        if (output != nullptr) output->type = {};
      }
    }
  }
}

void checkDeclaredOutputs(const GraphView& view, const ir::Graph& graph, Problems& problems) {
  for (std::size_t i = 0; i < view.outputs.size() && i < graph.outputs().size(); ++i) {
    const auto declared = readType(view.outputs[i].type);
    const ir::Type& found = graph.outputs()[i]->type;
    if (!declared || declared->dtype == DType::kUndefined || declared->dtype == found.dtype) continue;
    problems.add(
        Status(ErrorCode::kTypeMismatch, "the output has another element type than the model declares")
            .expected(info(declared->dtype).name)
            .found(info(found.dtype).name),
        std::string(view.outputs[i].name));
  }
}

}  // namespace rota::onnx
