// SPDX-License-Identifier: Apache-2.0
// SkipLayerNormalization, SkipSimplifiedLayerNormalization, SimplifiedLayerNormalization and EmbedLayerNormalization. Tested by src/ref/microsoft_test.cpp and tests/test_microsoft_operators.py.
#include <utility>

#include "core/check.h"
#include "op/common.h"
#include "op/describe.h"
#include "op/expansion.h"

namespace rota::op {
namespace {

// Mean and deviation have one element a row and float32.
ir::Shape rowStatisticsShape(const ir::Shape& shape, std::size_t axis) {
  if (!shape.known) return ir::Shape::unknown();
  ir::Shape rows = shape;
  for (std::size_t d = axis; d < rows.rank(); ++d) rows.dims[d] = 1;
  return rows;
}

Status inferSkipNormalization(InferContext& ctx) {
  const ir::Shape& x = ctx.inputShape(0);
  if (x.known && x.rank() < 1)
    return ctx.error(ErrorCode::kShapeMismatch, "The input needs at least one axis", "rank 1 or more",
                     "a scalar");
  for (const std::size_t i : {1, 2}) {
    if (ctx.hasOutput(i))
      ctx.setOutput(i, DType::kFloat32, rowStatisticsShape(x, x.known ? x.rank() - 1 : 0));
  }
  if (ctx.hasOutput(3)) ctx.setOutput(3, ctx.inputDtype(0), x);
  return inferSameAsFirst(ctx);
}

Status inferSimplifiedNormalization(InferContext& ctx) {
  const ir::Shape& x = ctx.inputShape(0);
  std::size_t axis = 0;
  if (x.known) {
    auto named = normaliseAxis(ctx, ctx.attributes().getInt("axis", -1), x.rank());
    if (!named) return named.status();
    axis = *named;
  }
  if (ctx.hasOutput(1)) ctx.setOutput(1, DType::kFloat32, rowStatisticsShape(x, axis));
  ctx.setOutput(0, ctx.inputDtype(1), x);
  return Status::ok();
}

Status inferEmbedNormalization(InferContext& ctx) {
  const ir::Shape& ids = ctx.inputShape(0);
  const ir::Shape& word = ctx.inputShape(2);
  const bool known = ids.known && word.known;
  if (known && (ids.rank() != 2 || word.rank() != 2)) {
    return ctx.error(ErrorCode::kShapeMismatch, "Ids and embedding table must be matrices", "rank 2",
                     "ranks " + std::to_string(ids.rank()) + " and " + std::to_string(word.rank()));
  }
  const ir::Shape shape =
      known ? ir::Shape::of({ids.dims[0], ids.dims[1], word.dims[1]}) : ir::Shape::unknown();
  ctx.setOutput(0, ctx.inputDtype(2), shape);
  if (ctx.hasOutput(1))
    ctx.setOutput(1, DType::kInt32, known ? ir::Shape::of({ids.dims[0]}) : ir::Shape::unknown());
  if (ctx.hasOutput(2)) ctx.setOutput(2, ctx.inputDtype(2), shape);
  return Status::ok();
}

/// The sum of input, skip and bias, in the type of sums.
ir::Value* skipSum(Expansion& e, const ir::Node& node, std::size_t biasInput) {
  const DType sumType = Expansion::sumType(node.inputs[0]->type.dtype);
  ir::Value* sum = e.add("Add", {e.cast(node.inputs[0], sumType), e.cast(node.inputs[1], sumType)});
  return node.input(biasInput) == nullptr ? sum
                                          : e.add("Add", {sum, e.cast(node.inputs[biasInput], sumType)});
}

Result<std::vector<ir::Value*>> expandSkipLayerNormalization(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  const DType dtype = node.inputs[0]->type.dtype;
  const DType sumType = Expansion::sumType(dtype);
  ir::Value* sum = skipSum(e, node, 4);
  const double epsilon = static_cast<double>(node.attributes.getFloat("epsilon", 1e-12F));
  const Standardised s = standardise(e, sum, e.axesFrom(sum, -1), epsilon);
  ir::Value* y = e.add("Mul", {s.value, e.cast(node.inputs[2], sumType)});
  if (node.input(3) != nullptr) y = e.add("Add", {y, e.cast(node.inputs[3], sumType)});
  return e.finish({e.cast(y, dtype), e.cast(s.mean, DType::kFloat32),
                   e.cast(s.inverseDeviation, DType::kFloat32), e.cast(sum, dtype)});
}

/// x over the root of its mean square over `axes`, and one over that root.
std::pair<ir::Value*, ir::Value*> overRootMeanSquare(Expansion& e, ir::Value* x,
                                                     const std::vector<std::int64_t>& axes, double epsilon) {
  ir::Value* mean = e.add("ReduceMean", {e.add("Mul", {x, x})}, {{"axes", axes}});
  ir::Value* shifted =
      e.add("Add", {mean, e.scalar(epsilon, x == nullptr ? DType::kFloat32 : x->type.dtype)});
  ir::Value* inverse = e.add("Reciprocal", {e.add("Sqrt", {shifted})});
  return {e.add("Mul", {x, inverse}), inverse};
}

Result<std::vector<ir::Value*>> expandSkipSimplifiedNormalization(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  const DType dtype = node.inputs[0]->type.dtype;
  ir::Value* sum = skipSum(e, node, 3);
  const double epsilon = static_cast<double>(node.attributes.getFloat("epsilon", 1e-12F));
  const auto [normalised, inverse] = overRootMeanSquare(e, sum, e.axesFrom(sum, -1), epsilon);
  ir::Value* y = e.add("Mul", {normalised, e.cast(node.inputs[2], Expansion::sumType(dtype))});
  if (node.output(1) != nullptr) {
    return Status(ErrorCode::kBadGraph, "A mean that is always zero is not expanded")
        .at(describeNode(node))
        .expected("no use of output 'mean'");
  }
  return e.finish({e.cast(y, dtype), nullptr, e.cast(inverse, DType::kFloat32), e.cast(sum, dtype)});
}

Result<std::vector<ir::Value*>> expandSimplifiedNormalization(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  const DType sumType = Expansion::sumType(node.inputs[0]->type.dtype);
  ir::Value* x = e.cast(node.inputs[0], sumType);
  const double epsilon = static_cast<double>(node.attributes.getFloat("epsilon", 1e-5F));
  const auto [normalised, inverse] =
      overRootMeanSquare(e, x, e.axesFrom(x, node.attributes.getInt("axis", -1)), epsilon);
  ir::Value* y = e.add("Mul", {normalised, e.cast(node.inputs[1], sumType)});
  return e.finish({e.cast(y, node.inputs[1]->type.dtype), e.cast(inverse, DType::kFloat32)});
}

const Register kRegisterMicrosoftSkipLayerNormalization(Definition{
    .domain = "com.microsoft",
    .name = "SkipLayerNormalization",
    .versions = {1},
    .doc = "LayerNormalization over the last axis of the sum of input, skip and bias; the sum is the last "
           "output.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T"},
               {.name = "skip", .typeVariable = "T"},
               {.name = "gamma", .typeVariable = "T"},
               {.name = "beta", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "bias", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"},
                {.name = "mean", .option = FormalOption::kOptional},
                {.name = "inv_std_var", .option = FormalOption::kOptional},
                {.name = "input_skip_bias_sum", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .attributes = {{.name = "epsilon", .type = AttributeType::kFloat}},
    .infer = inferSkipNormalization,
    .expand = expandSkipLayerNormalization,
});

const Register kRegisterMicrosoftSkipSimplifiedLayerNormalization(Definition{
    .domain = "com.microsoft",
    .name = "SkipSimplifiedLayerNormalization",
    .versions = {1},
    .doc = "Normalisation by the root of the mean square over the last axis of the sum of input, skip and "
           "bias; the sum is the last output.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T"},
               {.name = "skip", .typeVariable = "T"},
               {.name = "gamma", .typeVariable = "T"},
               {.name = "bias", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"},
                {.name = "mean", .option = FormalOption::kOptional},
                {.name = "inv_std_var", .option = FormalOption::kOptional},
                {.name = "input_skip_bias_sum", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .attributes = {{.name = "epsilon", .type = AttributeType::kFloat}},
    .infer = inferSkipNormalization,
    .expand = expandSkipSimplifiedNormalization,
});

const Register kRegisterSimplifiedLayerNormalization(Definition{
    .domain = "",
    .name = "SimplifiedLayerNormalization",
    .versions = {1},
    .doc = "Normalisation by the root of the mean square over the axes from `axis` on, as some exporters "
           "write RMSNormalization.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"}, {.name = "scale", .typeVariable = "V"}},
    .outputs = {{.name = "Y", .typeVariable = "V"},
                {.name = "inv_std_var", .option = FormalOption::kOptional}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt},
                   {.name = "epsilon", .type = AttributeType::kFloat},
                   {.name = "stash_type", .type = AttributeType::kInt}},
    .infer = inferSimplifiedNormalization,
    .expand = expandSimplifiedNormalization,
});

const Register kRegisterMicrosoftEmbedLayerNormalization(Definition{
    .domain = "com.microsoft",
    .name = "EmbedLayerNormalization",
    .versions = {1},
    .doc = "The sum of word, position and segment embeddings, normalised over the last axis; the second "
           "output counts the tokens that the mask keeps.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input_ids", .typeVariable = "T1"},
               {.name = "segment_ids", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "word_embedding", .typeVariable = "T"},
               {.name = "position_embedding", .typeVariable = "T"},
               {.name = "segment_embedding", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "gamma", .typeVariable = "T"},
               {.name = "beta", .typeVariable = "T"},
               {.name = "mask", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "position_ids", .option = FormalOption::kOptional, .typeVariable = "T1"}},
    .outputs = {{.name = "output", .typeVariable = "T"},
                {.name = "mask_index", .option = FormalOption::kOptional},
                {.name = "embedding_sum", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .attributes = {{.name = "epsilon", .type = AttributeType::kFloat},
                   {.name = "mask_index_type", .type = AttributeType::kInt}},
    .infer = inferEmbedNormalization,
});

}  // namespace
}  // namespace rota::op
