// SPDX-License-Identifier: Apache-2.0
// Sizes that a model computes from constants through operators without symbolic contents (a Ceil of a float, a maximum): small results that
// depend on nothing else are computed while shapes are inferred, by the reference kernels. Floats are kept in `Value::known`, integers become
// contents. A node that fails here is left to the run, which may never reach it. Tested by src/import/onnx/reader_test.cpp.
#include <algorithm>

#include "core/element_access.h"
#include "op/definition.h"
#include "op/evaluate.h"
#include "op/work_limit.h"

namespace rota::op {
namespace {

/// Inputs may be larger than results: a reduction of a table, say.
constexpr std::int64_t kMaxKnownInput = 1024;

/// The tensor that the constant contents of `value` stand for.
std::optional<Tensor> tensorOfContents(const ir::Value& value) {
  const ComputeType compute = info(value.type.dtype).compute;
  const bool isReal = compute != ComputeType::kNone && compute != ComputeType::kComplex;
  if (!value.contents || !isReal || !value.type.shape.isStatic()) return std::nullopt;
  std::vector<std::int64_t> elements;
  for (Size element : *value.contents) {
    if (!element.isConstant()) return std::nullopt;
    elements.push_back(*element.constant());
  }
  std::vector<std::int64_t> dims;
  for (Size dim : value.type.shape.dims) dims.push_back(*dim.constant());
  auto tensor = Tensor::allocate(value.type.dtype, std::move(dims));
  if (!tensor || tensor->count() != static_cast<std::int64_t>(elements.size())) return std::nullopt;
  if (compute == ComputeType::kDouble) {
    const std::vector<double> reals(elements.begin(), elements.end());
    storeFromDouble(tensor->mutableView(), 0, tensor->count(), reals.data());
  } else {
    storeFromInt64(tensor->mutableView(), 0, tensor->count(), elements.data());
  }
  return std::move(*tensor);
}

std::optional<Tensor> knownTensor(const ir::Value& value) {
  if (value.type.kind != ir::TypeKind::kTensor) return std::nullopt;
  if (value.isConstant())
    return value.constant.count() <= kMaxKnownInput ? std::optional(value.constant) : std::nullopt;
  if (value.known.isGiven()) return value.known;
  return tensorOfContents(value);
}

/// A small tensor of static shape whose elements inference has not found.
bool isWorthKnowing(const ir::Value& value) {
  if (value.type.kind != ir::TypeKind::kTensor || !value.type.shape.isStatic() || !value.resolvedHere.empty())
    return false;
  const auto count = product(value.type.shape.dims).constant();
  if (!count || *count > ir::kMaxContents) return false;
  return !value.contents ||
         std::any_of(value.contents->begin(), value.contents->end(), [](Size s) { return !s.isValid(); });
}

}  // namespace

void learnValues(ir::Node& node) {
  bool isWorth = false;
  for (ir::Value* output : node.outputs) {
    if (output == nullptr) continue;
    output->known = {};
    isWorth = isWorth || isWorthKnowing(*output);
  }
  if (!isWorth) return;
  if (node.definition == nullptr || !node.definition->isPure || !node.blocks.empty()) return;
  std::vector<EvaluatedValue> inputs(node.inputs.size());
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == nullptr) continue;
    auto tensor = knownTensor(*node.inputs[i]);
    if (!tensor) return;
    counts.push_back(tensor->count());
    inputs[i].tensor = std::move(*tensor);
  }
  if (!isCheapToCompute(node, counts, ir::kMaxContents)) return;
  ThreadPool threads(1);
  auto results = evaluateNode(node, inputs, threads);
  if (!results) return;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    ir::Value* output = node.outputs[i];
    const Tensor& result = (*results)[i].tensor;
    if (output == nullptr || !isWorthKnowing(*output) || result.dtype() != output->type.dtype) continue;
    if (!isFloat(result.dtype())) output->contents = ir::constantContents(result);
    output->known = result;
  }
}

}  // namespace rota::op
