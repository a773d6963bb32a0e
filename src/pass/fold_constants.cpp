// SPDX-License-Identifier: Apache-2.0
// Constant folding through the reference kernels. A node is folded when it is pure, has no nested graph and all its inputs are constants,
// or when shape inference already knows the contents of its result.
//
// A small hostile file must not blow up here: a result may be larger than its inputs only up to a limit, all results together are bounded by
// the constants of the model, and the work of a node by op/work_limit.h. What is beyond stays a node and is computed at run time. The
// bounds are sizes, not times, so equal models fold equally.
#include "pass/fold_constants.h"

#include <algorithm>
#include <optional>

#include "core/check.h"
#include "core/checked.h"
#include "core/file.h"
#include "op/definition.h"
#include "op/evaluate.h"
#include "op/work_limit.h"

namespace rota::pass {
namespace {

const knob::RegisterKnob kRegisterFoldConstants(kPassFoldConstants);

constexpr std::size_t kFreeBytes = std::size_t{1} << 16;  // results up to this size are always folded …
constexpr std::size_t kFreeBytesInAll =
    std::size_t{64} << 20;  // … while all results stay below this and twice the constants of the model

/// The tensor that known contents stand for.
Result<Tensor> tensorOfContents(const ir::Value& value) {
  std::vector<std::int64_t> dims;
  for (Size d : value.type.shape.dims) dims.push_back(*d.constant());
  auto tensor = Tensor::allocate(value.type.dtype, dims);
  if (!tensor) return tensor;
  const auto& contents = *value.contents;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const std::int64_t v = *contents[i].constant();
    switch (value.type.dtype) {
      case DType::kInt64: reinterpret_cast<std::int64_t*>(tensor->mutableData())[i] = v; break;
      case DType::kInt32:
        reinterpret_cast<std::int32_t*>(tensor->mutableData())[i] = static_cast<std::int32_t>(v);
        break;
      default: reinterpret_cast<std::uint8_t*>(tensor->mutableData())[i] = v != 0 ? 1 : 0; break;
    }
  }
  return tensor;
}

bool contentsAreConstant(const ir::Value& value) {
  const DType d = value.type.dtype;
  if (!value.contents || value.type.kind != ir::TypeKind::kTensor || !value.type.shape.isStatic())
    return false;
  if (d != DType::kInt64 && d != DType::kInt32 && d != DType::kBool) return false;
  for (const Size& s : *value.contents)
    if (!s.isConstant()) return false;
  return true;
}

std::string recipeOf(const ir::Node& node) {
  std::string text = node.opType + "(";
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (i > 0) text += ", ";
    text += node.inputs[i] == nullptr        ? "none"
            : node.inputs[i]->recipe.empty() ? node.inputs[i]->name
                                             : node.inputs[i]->recipe;
    if (text.size() > 2000) return node.opType + "(…)";
  }
  return text + ")";
}

void replaceByConstant(ir::Graph& graph, ir::Value* value, Tensor tensor, std::string recipe) {
  ir::Value* constant =
      graph.addConstant(value->name, std::move(tensor), std::move(recipe), value->provenance);
  graph.replaceUses(value, constant);
}

/// What all results together may still add.
struct Budget {
  std::size_t bytes = 0;
};

void countConstants(const ir::Graph& graph, std::size_t& bytes) {
  for (const auto& value : graph.values())
    if (value->isConstant()) bytes += value->constant.bytes();
  for (const auto& node : graph.nodes())
    for (const auto& block : node->blocks) countConstants(*block, bytes);
}

/// Bytes of the results; nothing when they are not tensors, or too large to say. `exact`: false when the kernel finds a size.
std::optional<std::size_t> resultBytes(const ir::Node& node, std::int64_t& elements, bool& exact) {
  std::size_t bytes = 0;
  for (const ir::Value* out : node.outputs) {
    if (out == nullptr) continue;
    if (out->type.kind != ir::TypeKind::kTensor) return std::nullopt;
    if (!out->type.shape.known || !out->type.shape.isStatic()) {
      exact = false;
      continue;
    }
    std::vector<std::int64_t> dims;
    for (Size d : out->type.shape.dims) dims.push_back(*d.constant());
    const auto count = checkedCount(dims);
    const auto size = checkedBytes(out->type.dtype, dims);
    if (!count || !size || *size > kFreeBytesInAll * 1024) return std::nullopt;
    elements += *count;
    bytes += *size;
  }
  return bytes;
}

bool mayFold(const ir::Node& node, const Budget& budget) {
  if (node.definition == nullptr || !node.definition->isPure || !node.blocks.empty() || node.outputs.empty())
    return false;
  std::size_t inputBytes = 0;
  std::vector<std::int64_t> inputElements;
  for (const ir::Value* in : node.inputs) {
    if (in == nullptr) continue;
    if (!in->isConstant()) return false;
    inputBytes += in->constant.bytes();
    inputElements.push_back(in->constant.count());
  }
  std::int64_t outputElements = 0;
  bool exact = true;
  const auto outputBytes = resultBytes(node, outputElements, exact);
  if (!outputBytes || *outputBytes > std::max(kFreeBytes, 2 * inputBytes) || *outputBytes > budget.bytes)
    return false;
  // What a kernel finds is at most 64 numbers (a place with all its coordinates) for each byte that it reads.
  if (!exact && inputBytes > std::min(kFreeBytes, budget.bytes / 512)) return false;
  return op::isCheapToCompute(node, inputElements, outputElements);
}

Status foldNode(ir::Graph& graph, ir::Node& node, const PassContext& context, Budget& budget, bool& changed) {
  std::vector<op::EvaluatedValue> inputs(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != nullptr) inputs[i].tensor = node.inputs[i]->constant;
  }
  auto results = op::evaluateNode(node, inputs, context.threads);
  // A node that fails on its constants (a bad index, say) stays: the error belongs to the run, and the node may never be reached.
  if (!results) return Status::ok();
  for (const op::EvaluatedValue& in : inputs) releaseMapped(in.tensor.data(), in.tensor.bytes());
  const std::string recipe = recipeOf(node);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == nullptr || (*results)[i].sequence) continue;
    budget.bytes -= std::min(budget.bytes, (*results)[i].tensor.bytes());
    replaceByConstant(graph, node.outputs[i], std::move((*results)[i].tensor),
                      node.outputs.size() == 1 ? recipe : recipe + "[" + std::to_string(i) + "]");
  }
  changed = true;
  return Status::ok();
}

Status foldGraph(ir::Graph& graph, const PassContext& context, Budget& budget, bool& changed) {
  std::vector<ir::Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  std::vector<ir::Node*> dead;
  for (ir::Node* node : nodes) {
    for (const auto& block : node->blocks) ROTA_RETURN_IF_ERROR(foldGraph(*block, context, budget, changed));
    bool known = !node->outputs.empty() && node->blocks.empty() && node->definition != nullptr &&
                 node->definition->isPure;
    for (const ir::Value* out : node->outputs) known = known && (out == nullptr || contentsAreConstant(*out));
    if (known) {
      for (ir::Value* out : node->outputs) {
        if (out == nullptr) continue;
        auto tensor = tensorOfContents(*out);
        if (!tensor) return tensor.status();
        replaceByConstant(graph, out, std::move(*tensor), "shape of the model");
      }
      changed = true;
      dead.push_back(node);
    } else if (mayFold(*node, budget)) {
      bool folded = false;
      ROTA_RETURN_IF_ERROR(foldNode(graph, *node, context, budget, folded));
      if (folded) dead.push_back(node);
      changed = changed || folded;
    }
  }
  for (ir::Node* node : dead) graph.eraseNode(node);
  return Status::ok();
}

}  // namespace

Status foldConstants(ir::Graph& graph, const PassContext& context, bool& changed) {
  // The runner comes to nested graphs by itself; here they share one budget, so the outermost graph takes them along.
  if (graph.parent() != nullptr) return Status::ok();
  std::size_t constants = 0;
  countConstants(graph, constants);
  Budget budget{kFreeBytesInAll + 2 * constants};
  return foldGraph(graph, context, budget, changed);
}

}  // namespace rota::pass
