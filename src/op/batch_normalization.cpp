// SPDX-License-Identifier: Apache-2.0
// BatchNormalization: scales and shifts every channel (dim 1) by given statistics: (x - mean) / sqrt(var + epsilon) * scale + bias.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/expansion.h"
#include "op/normalization_common.h"

namespace rota::op {
namespace {

Status inferBatchNormalization(InferContext& ctx) {
  if (ctx.attributes().getInt("spatial", 1) == 0) {
    return ctx.error(ErrorCode::kUnsupportedVersion, "BatchNormalization with statistics for every element",
                     "spatial = 1", "spatial = 0");
  }
  const bool isTraining = ctx.attributes().getInt("training_mode", 0) != 0;
  if (!isTraining && ctx.hasOutput(1)) {
    return ctx.error(ErrorCode::kBadAttribute,
                     "BatchNormalization gives running statistics only in training mode",
                     "one output, or training_mode = 1", "more than one output");
  }
  for (std::size_t i = 1; i < 5; ++i) ROTA_RETURN_IF_ERROR(requireChannelVector(ctx, i, 1));
  ctx.setOutput(0, ctx.inputDtype(0), ctx.inputShape(0));
  for (std::size_t i = 1; i < 3; ++i) {
    if (ctx.hasOutput(i)) ctx.setOutput(i, ctx.inputDtype(2 + i), ctx.inputShape(2 + i));
  }
  return Status::ok();
}

Result<std::vector<ir::Value*>> expandBatchNormalization(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  if (node.attributes.getInt("training_mode", 0) != 0) {
    e.fail(Status(ErrorCode::kUnsupportedOperator, "The training form of BatchNormalization has no expansion")
               .at(node.name));
  }
  const DType dtype = node.inputs[0]->type.dtype;
  const DType sumType = Expansion::sumType(dtype);
  ir::Value* x = e.cast(node.inputs[0], sumType);
  const std::size_t inner = e.axesFrom(x, 2).size();
  ir::Value* epsilon = e.scalar(node.attributes.getFloat("epsilon", 1e-5F), sumType);
  ir::Value* variance = e.add("Add", {channelOperand(e, node.inputs[4], inner, sumType), epsilon});
  ir::Value* factor =
      e.add("Div", {channelOperand(e, node.inputs[1], inner, sumType), e.add("Sqrt", {variance})});
  ir::Value* centred = e.add("Sub", {x, channelOperand(e, node.inputs[3], inner, sumType)});
  ir::Value* scaled = e.add("Mul", {centred, factor});
  ir::Value* y = e.add("Add", {scaled, channelOperand(e, node.inputs[2], inner, sumType)});
  return e.finish({e.cast(y, dtype)});
}

const Register kRegisterBatchNormalization(Definition{
    .domain = "",
    .name = "BatchNormalization",
    .versions = {7, 9, 14, 15},
    .doc = "Scales and shifts every channel (dim 1) by given statistics: (x - mean) / sqrt(var + "
           "epsilon) * scale + bias. In training mode it uses the statistics of the batch and gives "
           "the running ones.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "scale", .typeVariable = "T1"},
               {.name = "B", .typeVariable = "T1"},
               {.name = "input_mean", .typeVariable = "T2"},
               {.name = "input_var", .typeVariable = "T2"}},
    .outputs = {{.name = "Y", .typeVariable = "T"},
                {.name = "mean", .option = FormalOption::kOptional, .typeVariable = "T"},
                {.name = "var", .option = FormalOption::kOptional, .typeVariable = "T"},
                {.name = "saved_mean", .option = FormalOption::kOptional, .typeVariable = "T"},
                {.name = "saved_var", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .attributes = {{.name = "epsilon", .type = AttributeType::kFloat},
                   {.name = "momentum", .type = AttributeType::kFloat},
                   {.name = "spatial", .type = AttributeType::kInt},
                   {.name = "training_mode", .type = AttributeType::kInt}},
    .infer = inferBatchNormalization,
    .expand = expandBatchNormalization,
});

}  // namespace
}  // namespace rota::op
