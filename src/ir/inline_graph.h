// SPDX-License-Identifier: Apache-2.0
// Puts the nodes of a block into another graph, with values in place of the block's inputs: what functions, known branches and operators that
// are a loop around a block need. Nested blocks come along; values of the graphs around the block stay what they are, so the target must be the
// graph around the block or one nested in it. Types are left to inference, since the arguments may have others than the block's inputs had.
// Tested by src/op/early_expansion_test.cpp.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace rota::ir {

/// Copies the nodes of `block` into `graph`, before `before` or at the end; `arguments` stand for the block's inputs. The copies of its outputs.
std::vector<Value*> inlineGraph(const Graph& block, std::span<Value* const> arguments, Graph& graph,
                                const Node* before = nullptr);

}  // namespace rota::ir
