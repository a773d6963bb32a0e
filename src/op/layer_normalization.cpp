// SPDX-License-Identifier: Apache-2.0
// LayerNormalization: mean 0 and variance 1 over the dims from axis on, then scaled and shifted by tensors that broadcast.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/expansion.h"
#include "op/normalization_common.h"

namespace rota::op {
namespace {

Status inferLayerNormalization(InferContext& ctx) {
  for (std::size_t i = 1; i < 3; ++i) {
    if (ctx.hasInput(i)) ROTA_RETURN_IF_ERROR(requireBroadcastTo(ctx, i, 0));
  }
  ctx.setOutput(0, ctx.inputDtype(0), ctx.inputShape(0));
  auto stash = dtypeAttribute(ctx, "stash_type", DType::kFloat32);
  if (!stash) return stash.status();
  ir::Shape statistics = ctx.inputShape(0);
  if (statistics.known) {
    const auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis", -1), statistics.rank());
    if (!axis) return axis.status();
    for (std::size_t d = *axis; d < statistics.rank(); ++d) statistics.dims[d] = 1;
  }
  for (std::size_t i = 1; i < 3; ++i) {
    if (ctx.hasOutput(i)) ctx.setOutput(i, *stash, statistics);
  }
  return Status::ok();
}

Result<std::vector<ir::Value*>> expandLayerNormalization(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  const DType dtype = node.inputs[0]->type.dtype;
  ir::Value* x = e.cast(node.inputs[0], Expansion::sumType(dtype));
  const auto axes = e.axesFrom(x, node.attributes.getInt("axis", -1));
  const Standardised s = standardise(e, x, axes, node.attributes.getFloat("epsilon", 1e-5F));
  ir::Value* y = e.add("Mul", {e.cast(s.value, dtype), node.inputs[1]});
  if (node.input(2) != nullptr) y = e.add("Add", {y, node.inputs[2]});
  ir::Value* mean = s.mean;
  ir::Value* inverse = s.inverseDeviation;
  if (node.output(1) != nullptr) mean = e.cast(mean, node.output(1)->type.dtype);
  if (node.output(2) != nullptr) inverse = e.cast(inverse, node.output(2)->type.dtype);
  return e.finish({y, mean, inverse});
}

const Register kRegisterLayerNormalization(Definition{
    .domain = "",
    .name = "LayerNormalization",
    .versions = {17},
    .doc = "Mean 0 and variance 1 over the dims from axis on, then scaled and shifted by tensors that "
           "broadcast. Mean and inverse deviation are further outputs, in the type that stash_type "
           "names.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "Scale", .typeVariable = "T"},
               {.name = "B", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"},
                {.name = "Mean", .option = FormalOption::kOptional, .typeVariable = "U"},
                {.name = "InvStdDev", .option = FormalOption::kOptional, .typeVariable = "U"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt},
                   {.name = "epsilon", .type = AttributeType::kFloat},
                   {.name = "stash_type", .type = AttributeType::kInt}},
    .infer = inferLayerNormalization,
    .expand = expandLayerNormalization,
});

}  // namespace
}  // namespace rota::op
