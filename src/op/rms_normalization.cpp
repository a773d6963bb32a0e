// SPDX-License-Identifier: Apache-2.0
// RMSNormalization: divided by the root mean square over the dims from axis on, then scaled by a tensor that broadcasts.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/expansion.h"
#include "op/normalization_common.h"

namespace rota::op {
namespace {

Status inferRmsNormalization(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireBroadcastTo(ctx, 1, 0));
  if (ctx.inputShape(0).known) {
    const auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis", -1), ctx.inputShape(0).rank());
    if (!axis) return axis.status();
  }
  ctx.setOutput(0, ctx.inputDtype(1), ctx.inputShape(0));
  return Status::ok();
}

Result<std::vector<ir::Value*>> expandRmsNormalization(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  const DType dtype = node.inputs[0]->type.dtype;
  const DType sumType = Expansion::sumType(dtype);
  ir::Value* x = e.cast(node.inputs[0], sumType);
  const auto axes = e.axesFrom(x, node.attributes.getInt("axis", -1));
  ir::Value* mean = e.add("ReduceMean", {e.add("Mul", {x, x})}, {{"axes", axes}});
  ir::Value* root =
      e.add("Sqrt", {e.add("Add", {mean, e.scalar(node.attributes.getFloat("epsilon", 1e-5F), sumType)})});
  ir::Value* normalised = e.cast(e.add("Div", {x, root}), node.inputs[1]->type.dtype);
  return e.finish({e.add("Mul", {normalised, node.inputs[1]})});
}

const Register kRegisterRMSNormalization(Definition{
    .domain = "",
    .name = "RMSNormalization",
    .versions = {23},
    .doc = "Divided by the root mean square over the dims from axis on, then scaled by a tensor that "
           "broadcasts.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"}, {.name = "scale", .typeVariable = "V"}},
    .outputs = {{.name = "Y", .typeVariable = "V"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt},
                   {.name = "epsilon", .type = AttributeType::kFloat},
                   {.name = "stash_type", .type = AttributeType::kInt}},
    .infer = inferRmsNormalization,
    .expand = expandRmsNormalization,
});

}  // namespace
}  // namespace rota::op
