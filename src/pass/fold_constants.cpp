// SPDX-License-Identifier: Apache-2.0
// Constant folding through the reference kernels. A node is folded when it is pure, has no nested graph and all its inputs are constants,
// or when shape inference already knows the contents of its result. A result may be larger than its inputs only up to a limit, so that a
// small hostile file cannot blow up here; what is too large stays a node and is computed at run time.
#include "pass/fold_constants.h"

#include "core/check.h"
#include "op/definition.h"
#include "op/evaluate.h"

namespace rota::pass {
namespace {

const knob::RegisterKnob kRegisterFoldConstants(kPassFoldConstants);

constexpr std::size_t kFreeBytes = std::size_t{1} << 16;  // results up to this size are always folded

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

bool mayFold(const ir::Node& node) {
  if (node.definition == nullptr || !node.definition->isPure || !node.blocks.empty() || node.outputs.empty())
    return false;
  std::size_t inputBytes = 0;
  for (const ir::Value* in : node.inputs) {
    if (in == nullptr) continue;
    if (!in->isConstant()) return false;
    inputBytes += in->constant.bytes();
  }
  std::size_t outputBytes = 0;
  for (const ir::Value* out : node.outputs) {
    if (out == nullptr) continue;
    if (out->type.kind != ir::TypeKind::kTensor) return false;
    if (!out->type.shape.known || !out->type.shape.isStatic()) {
      outputBytes += inputBytes;  // found by the kernel, from its inputs
      continue;
    }
    std::size_t bytes = 1;
    for (Size d : out->type.shape.dims) {
      if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(*d.constant()), &bytes)) return false;
    }
    outputBytes += bytes * static_cast<std::size_t>(info(out->type.dtype).bits) / 8;
  }
  return outputBytes <= std::max(kFreeBytes, 2 * inputBytes);
}

Status foldNode(ir::Graph& graph, ir::Node& node, const PassContext& context, bool& changed) {
  std::vector<op::EvaluatedValue> inputs(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != nullptr) inputs[i].tensor = node.inputs[i]->constant;
  }
  auto results = op::evaluateNode(node, inputs, context.threads);
  // A node that fails on its constants (a bad index, say) stays: the error belongs to the run, and the node may never be reached.
  if (!results) return Status::ok();
  const std::string recipe = recipeOf(node);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == nullptr || (*results)[i].sequence) continue;
    replaceByConstant(graph, node.outputs[i], std::move((*results)[i].tensor),
                      node.outputs.size() == 1 ? recipe : recipe + "[" + std::to_string(i) + "]");
  }
  changed = true;
  return Status::ok();
}

}  // namespace

Status foldConstants(ir::Graph& graph, const PassContext& context, bool& changed) {
  std::vector<ir::Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  std::vector<ir::Node*> dead;
  for (ir::Node* node : nodes) {
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
    } else if (mayFold(*node)) {
      bool folded = false;
      ROTA_RETURN_IF_ERROR(foldNode(graph, *node, context, folded));
      if (folded) dead.push_back(node);
      changed = changed || folded;
    }
  }
  for (ir::Node* node : dead) graph.eraseNode(node);
  return Status::ok();
}

}  // namespace rota::pass
