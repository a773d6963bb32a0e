// SPDX-License-Identifier: Apache-2.0
// LogSoftmax: logarithm of the softmax.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"
#include "op/expansion.h"
#include "op/reduction_common.h"

namespace rota::op {
namespace {

Result<std::vector<ir::Value*>> expandLogSoftmax(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  const SoftmaxParts parts = softmaxParts(e, node);
  return e.finish(
      {e.cast(e.add("Sub", {parts.shifted, e.add("Log", {parts.sum})}), node.inputs[0]->type.dtype)});
}

const Register kRegisterLogSoftmax(Definition{
    .domain = "",
    .name = "LogSoftmax",
    .versions = {1, 11, 13},
    .doc = "Logarithm of the softmax. Up to operator set 12 over all dims from axis on, since 13 over "
           "one axis.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt}},
    .infer = inferSoftmax,
    .expand = expandLogSoftmax,
});

}  // namespace
}  // namespace rota::op
