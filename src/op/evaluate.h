// SPDX-License-Identifier: Apache-2.0
// Evaluates nodes and graphs with the reference kernels: constant folder, oracle of tests, judge of accuracy, `ref:MODEL` of `rota compare`.
// Slow and plain by design. Tested by src/op/evaluate_test.cpp.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/thread_pool.h"
#include "ir/graph.h"
#include "ref/kernel.h"

namespace rota::op {

/// A runtime value of the evaluator: a tensor, or a sequence or optional.
struct EvaluatedValue {
  Tensor tensor;
  std::optional<ref::Sequence> sequence;
};

/// Runs one node on given inputs (entry i stands for node.inputs[i]; not-given inputs are empty tensors).
Result<std::vector<EvaluatedValue>> evaluateNode(const ir::Node& node, std::span<const EvaluatedValue> inputs,
                                                 ThreadPool& threads);

/// Called with every value that is computed, in order.
using EvaluationObserver = std::function<void(const ir::Value&, const EvaluatedValue&)>;

/// Runs a graph; `inputs` in the order of graph.inputs().
Result<std::vector<EvaluatedValue>> evaluateGraph(const ir::Graph& graph,
                                                  std::span<const EvaluatedValue> inputs, ThreadPool& threads,
                                                  const EvaluationObserver& observer = {});

}  // namespace rota::op
