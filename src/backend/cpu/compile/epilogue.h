// SPDX-License-Identifier: Apache-2.0
// Reads the pointwise nodes after a product or convolution as a chain of post-operations that libraries know.
//
// Every node must take the running value once (or be the two nodes of x * sigmoid(x)) with other operands from outside the region. What is not a
// known post-operation makes the whole chain unsupported, with the node named in the reason. Tested by src/backend/cpu/compile/epilogue_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "tactic/tactic.h"

namespace rota::tactic {

struct PostOperation {
  std::string name;  ///< "relu", "clip", "add" …
  float alpha = 0;
  float beta = 0;
  ir::Value* operand = nullptr;  ///< Second operand of a binary operation.
};

struct Epilogue {
  bool supported = false;
  std::string reason;
  std::vector<PostOperation> operations;
};

/// The chain after the root of `region`.
Epilogue readEpilogue(const Region& region);

/// Writes "post", "post_alpha", "post_beta" of a step.
void setPostParameters(const std::vector<PostOperation>& operations, Attributes& parameters);

}  // namespace rota::tactic
