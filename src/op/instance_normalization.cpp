// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization: every channel of every instance with mean 0 and variance 1, then scaled and shifted by channel.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/expansion.h"
#include "op/normalization_common.h"

namespace rota::op {
namespace {

Status inferInstanceNormalization(InferContext& ctx) {
  for (std::size_t i = 1; i < 3; ++i) ROTA_RETURN_IF_ERROR(requireChannelVector(ctx, i, 1));
  return inferSameAsFirst(ctx);
}

Result<std::vector<ir::Value*>> expandInstanceNormalization(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  const DType dtype = node.inputs[0]->type.dtype;
  const DType sumType = Expansion::sumType(dtype);
  ir::Value* x = e.cast(node.inputs[0], sumType);
  const auto axes = e.axesFrom(x, 2);
  const Standardised s = standardise(e, x, axes, node.attributes.getFloat("epsilon", 1e-5F));
  ir::Value* scaled = e.add("Mul", {s.value, channelOperand(e, node.inputs[1], axes.size(), sumType)});
  ir::Value* y = e.add("Add", {scaled, channelOperand(e, node.inputs[2], axes.size(), sumType)});
  return e.finish({e.cast(y, dtype)});
}

const Register kRegisterInstanceNormalization(Definition{
    .domain = "",
    .name = "InstanceNormalization",
    .versions = {6, 22},
    .doc = "Every channel of every instance with mean 0 and variance 1, then scaled and shifted by "
           "channel.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "input", .typeVariable = "T"},
               {.name = "scale", .typeVariable = "T"},
               {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "epsilon", .type = AttributeType::kFloat}},
    .infer = inferInstanceNormalization,
    .expand = expandInstanceNormalization,
});

}  // namespace
}  // namespace rota::op
