// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/compile/epilogue.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rota::tactic {
namespace {

/// A unary node as a post-operation, or false.
bool readUnary(const ir::Node& node, PostOperation& op) {
  const Attributes& a = node.attributes;
  if (!node.domain.empty()) return false;
  const std::string& type = node.opType;
  if (type == "Relu") {
    op.name = "relu";
  } else if (type == "LeakyRelu") {
    op.name = "relu";
    op.alpha = a.getFloat("alpha", 0.01F);
  } else if (type == "Sigmoid") {
    op.name = "sigmoid";
  } else if (type == "Tanh") {
    op.name = "tanh";
  } else if (type == "Elu") {
    op.name = "elu";
    op.alpha = a.getFloat("alpha", 1.0F);
  } else if (type == "Gelu") {
    op.name = a.getString("approximate", "none") == "tanh" ? "gelu_tanh" : "gelu_erf";
  } else if (type == "HardSwish") {
    op.name = "hardswish";
  } else if (type == "Clip") {
    op.name = "clip";
    const auto bound = [&](std::size_t input, const char* attribute, float fallback, float& to) {
      if (node.input(input) != nullptr) {
        if (!node.input(input)->isConstant() || node.input(input)->constant.count() != 1) return false;
        to = static_cast<float>(realAt(node.input(input)->constant.view(), 0));
        return true;
      }
      to = a.getFloat(attribute, fallback);
      return true;
    };
    constexpr float kMax = std::numeric_limits<float>::max();
    return bound(1, "min", -kMax, op.alpha) && bound(2, "max", kMax, op.beta) && op.alpha <= op.beta;
  } else {
    return false;
  }
  return true;
}

bool readBinary(const ir::Node& node, const ir::Value* running, PostOperation& op) {
  if (!node.domain.empty() || node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return false;
  const bool left = node.inputs[0] == running;
  if (node.opType == "Add") {
    op.name = "add";
  } else if (node.opType == "Mul") {
    op.name = "mul";
  } else if (node.opType == "Sub" && left) {
    op.name = "sub";
  } else {
    return false;
  }
  op.operand = node.inputs[left ? 1 : 0];
  return op.operand->type.dtype == DType::kFloat32 && op.operand->type.shape.known;
}

}  // namespace

Epilogue readEpilogue(const Region& region) {
  Epilogue epilogue;
  const ir::Value* running = region.root->outputs[0];
  for (std::size_t i = 1; i < region.nodes.size(); ++i) {
    const ir::Node& node = *region.nodes[i];
    PostOperation op;
    // x * sigmoid(x): two nodes, one operation.
    if (node.opType == "Sigmoid" && i + 1 < region.nodes.size() && node.inputs[0] == running) {
      const ir::Node& next = *region.nodes[i + 1];
      const ir::Value* gate = node.outputs[0];
      if (next.opType == "Mul" && next.inputs.size() == 2 &&
          ((next.inputs[0] == running && next.inputs[1] == gate) ||
           (next.inputs[1] == running && next.inputs[0] == gate))) {
        epilogue.operations.push_back({.name = "swish", .alpha = 1.0F});
        running = next.outputs[0];
        ++i;
        continue;
      }
    }
    const bool takesRunning = std::count(node.inputs.begin(), node.inputs.end(), running) == 1;
    if (!takesRunning || !(readUnary(node, op) || readBinary(node, running, op))) {
      epilogue.reason = "'" + node.name + "' (" + node.opType + ") is no post-operation of the library";
      return epilogue;
    }
    epilogue.operations.push_back(std::move(op));
    running = node.outputs[0];
  }
  if (region.outputs.size() != 1 || region.outputs[0] != running) {
    epilogue.reason = "a value in the middle is used elsewhere";
    return epilogue;
  }
  epilogue.supported = true;
  return epilogue;
}

void setPostParameters(const std::vector<PostOperation>& operations, Attributes& parameters) {
  if (operations.empty()) return;
  std::vector<std::string> names;
  std::vector<float> alphas, betas;
  for (const PostOperation& op : operations) {
    names.push_back(op.name);
    alphas.push_back(op.alpha);
    betas.push_back(op.beta);
  }
  parameters.set("post", std::move(names));
  parameters.set("post_alpha", std::move(alphas));
  parameters.set("post_beta", std::move(betas));
}

}  // namespace rota::tactic
