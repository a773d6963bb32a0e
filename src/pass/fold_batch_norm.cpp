// SPDX-License-Identifier: Apache-2.0
// y = (conv(x, w) + b - mean) * s + shift with s = scale / sqrt(var + epsilon) is conv(x, w*s) + (b - mean)*s + shift, per output channel,
// computed in double and rounded once. Only where the convolution has constant weights and no other user.
#include "pass/fold_batch_norm.h"

#include <cmath>

#include "core/check.h"
#include "op/definition.h"

namespace rota::pass {
namespace {

const knob::RegisterKnob kRegisterFoldBatchNorm(kPassFoldBatchNorm);

bool isFloatConstant(const ir::Value* v) {
  return v != nullptr && v->isConstant() && v->constant.dtype() == DType::kFloat32;
}

bool foldable(const ir::Graph& graph, const ir::Node& norm, const ir::Node*& conv) {
  if (norm.opType != "BatchNormalization" || !norm.domain.empty() || norm.inputs.size() < 5 ||
      norm.input(0) == nullptr)
    return false;
  if (norm.attributes.getInt("training_mode", 0) != 0) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (!isFloatConstant(norm.input(i))) return false;
  for (std::size_t i = 1; i < norm.outputs.size(); ++i)
    if (norm.outputs[i] != nullptr) return false;
  conv = norm.inputs[0]->producer;
  if (conv == nullptr || conv->owner != &graph || conv->opType != "Conv" || !conv->domain.empty())
    return false;
  if (!isFloatConstant(conv->input(1)) || (conv->input(2) != nullptr && !isFloatConstant(conv->input(2))))
    return false;
  return graph.usersOf(norm.inputs[0]).size() == 1 && !graph.isGraphOutput(norm.inputs[0]);
}

}  // namespace

Status foldBatchNorm(ir::Graph& graph, const PassContext&, bool& changed) {
  std::vector<ir::Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  for (ir::Node* norm : nodes) {
    const ir::Node* found = nullptr;
    if (!foldable(graph, *norm, found)) continue;
    ir::Node* conv = norm->inputs[0]->producer;
    const Tensor& weights = conv->input(1)->constant;
    const std::int64_t channels = weights.dims()[0];
    const auto at = [&](std::size_t input, std::int64_t c) {
      return realAt(norm->inputs[input]->constant.view(), c);
    };
    if (norm->inputs[1]->constant.count() != channels || channels == 0) continue;
    const std::int64_t perChannel = weights.count() / channels;
    const double epsilon = static_cast<double>(norm->attributes.getFloat("epsilon", 1e-5F));

    auto newWeights = Tensor::allocate(DType::kFloat32, weights.dims());
    if (!newWeights) return newWeights.status();
    auto newBias = Tensor::allocate(DType::kFloat32, {channels});
    if (!newBias) return newBias.status();
    const auto* from = reinterpret_cast<const float*>(weights.data());
    auto* to = reinterpret_cast<float*>(newWeights->mutableData());
    auto* bias = reinterpret_cast<float*>(newBias->mutableData());
    for (std::int64_t c = 0; c < channels; ++c) {
      const double s = at(1, c) / std::sqrt(at(4, c) + epsilon);
      for (std::int64_t i = 0; i < perChannel; ++i)
        to[c * perChannel + i] = static_cast<float>(static_cast<double>(from[c * perChannel + i]) * s);
      const double b = conv->input(2) != nullptr ? realAt(conv->input(2)->constant.view(), c) : 0.0;
      bias[c] = static_cast<float>((b - at(3, c)) * s + at(2, c));
    }
    const std::string normName = "batch_norm(" + norm->inputs[1]->name + ", " + norm->inputs[2]->name + ", " +
                                 norm->inputs[3]->name + ", " + norm->inputs[4]->name + ")";
    ir::Value* w = graph.addConstant(conv->input(1)->name, std::move(*newWeights),
                                     conv->input(1)->recipe + " | fold " + normName, norm->provenance);
    ir::Value* b = graph.addConstant(
        norm->inputs[2]->name, std::move(*newBias),
        (conv->input(2) != nullptr ? conv->input(2)->recipe : std::string("zero")) + " | fold " + normName,
        norm->provenance);
    std::vector<ir::Value*> inputs = {conv->inputs[0], w, b};
    // A new convolution at the place of the normalisation: its output keeps the user's name.
    ir::Provenance provenance = conv->provenance;
    provenance.merge(norm->provenance);
    ir::Node* folded = graph.addNode(conv->name, conv->domain, conv->opType, conv->version, inputs,
                                     {norm->outputs[0]->name}, provenance, norm);
    folded->definition = conv->definition;
    folded->attributes = conv->attributes;
    graph.replaceUses(norm->outputs[0], folded->outputs[0]);
    graph.eraseNode(norm);
    graph.eraseNode(conv);
    changed = true;
  }
  return Status::ok();
}

}  // namespace rota::pass
