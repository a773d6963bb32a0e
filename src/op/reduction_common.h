// SPDX-License-Identifier: Apache-2.0
// Inference of operators that fold axes, and of softmax and its kin. Tested by src/op/reduction_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "op/definition.h"
#include "op/expansion.h"

namespace rota::op {

/// Reduce operators: axes from attribute or input. Axes that only the data knows give dims that the kernel finds.
Status inferReduction(InferContext& ctx);
/// ArgMax and ArgMin.
Status inferArgReduction(InferContext& ctx);
/// Softmax, LogSoftmax and Hardmax: same shape, axis checked.
Status inferSoftmax(InferContext& ctx);
/// The axes over which a softmax node runs.
std::vector<std::int64_t> softmaxAxes(Expansion& e, const ir::Node& node);
/// What softmax and its logarithm are made of, in the type of sums: x minus the largest element, its exponential, and the sum of that.
struct SoftmaxParts {
  ir::Value* shifted = nullptr;
  ir::Value* exponential = nullptr;
  ir::Value* sum = nullptr;
};
SoftmaxParts softmaxParts(Expansion& e, const ir::Node& node);
/// ArgMax or ArgMin; ReduceMax or ReduceMin.
Definition argReductionDefinition(std::string name, std::string doc);
Definition extremeDefinition(std::string name, std::string doc, InferFunction infer);
/// Contents of output 0 when a vector with known contents is folded whole.
void propagateReduction(InferContext& ctx, Size (*f)(Size a, Size b));

}  // namespace rota::op
