// SPDX-License-Identifier: Apache-2.0
// SkipLayerNormalization, SkipSimplifiedLayerNormalization, SimplifiedLayerNormalization and EmbedLayerNormalization. Tested by src/ref/microsoft_test.cpp and tests/test_microsoft_operators.py.
#include <utility>

#include "core/check.h"
#include "op/common.h"

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
