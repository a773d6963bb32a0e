// SPDX-License-Identifier: Apache-2.0
// Types of a freshly built graph: inference that goes on after an error, and the types that the model promises for its outputs.
// Tested by src/import/onnx/reader_test.cpp.
#pragma once

#include "import/onnx/model_view.h"
#include "import/onnx/problems.h"
#include "ir/graph.h"

namespace rota::onnx {

/// Infers all nodes. After an error the nodes that do not depend on it are inferred too, so that every conflict is found.
void inferTypes(ir::Graph& graph, Problems& problems);

/// The element types that the model declares for its outputs must be what inference found; declared shapes are only hints.
void checkDeclaredOutputs(const GraphView& view, const ir::Graph& graph, Problems& problems);

}  // namespace rota::onnx
