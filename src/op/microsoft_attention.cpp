// SPDX-License-Identifier: Apache-2.0
// Attention, QAttention, MultiHeadAttention and GroupQueryAttention of com.microsoft. Tested by src/ref/microsoft_test.cpp and tests/test_microsoft_operators.py.
#include <utility>

#include "core/check.h"
#include "op/common.h"
#include "op/signal_common.h"

namespace rota::op {
namespace {

Result<std::int64_t> headCount(const InferContext& ctx, std::string_view name) {
  const std::int64_t heads = ctx.attributes().getInt(name);
  if (heads >= 1) return heads;
  return ctx.error(ErrorCode::kBadAttribute, "Attribute '" + std::string(name) + "' is too small",
                   "at least 1", std::to_string(heads));
}

void setUnknown(InferContext& ctx, DType dtype) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (ctx.hasOutput(i)) ctx.setOutput(i, dtype, ir::Shape::unknown());
  }
}

/// What `rota check` says about forms that exist for the sake of one runtime's buffers.
Status refuseForm(const InferContext& ctx, const std::string& found, std::string fix) {
  return ctx
      .error(ErrorCode::kUnsupportedOperator, "This form of " + ctx.node().opType + " is not supported", {},
             found)
      .fix(std::move(fix));
}

Status requireOff(const InferContext& ctx, std::string_view attribute, std::string fix) {
  const std::int64_t value = ctx.attributes().getInt(attribute);
  if (value == 0) return Status::ok();
  return refuseForm(ctx, std::string(attribute) + " = " + std::to_string(value), std::move(fix));
}

Status requireAbsent(const InferContext& ctx, std::initializer_list<std::size_t> inputs, std::string fix) {
  for (const std::size_t i : inputs) {
    if (ctx.hasInput(i))
      return refuseForm(ctx, "input '" + ctx.node().definition->inputs[i].name + "'", std::move(fix));
  }
  return Status::ok();
}

constexpr const char* kNoSharedBuffer =
    "export the model with a past and a present of their own instead of one shared buffer";

// Attention with its own projection: past in input `past`, the result in the type of input `like`.
Status inferProjectedAttention(InferContext& ctx, std::size_t past, std::size_t like) {
  auto heads = headCount(ctx, "num_heads");
  if (!heads) return heads.status();
  ROTA_RETURN_IF_ERROR(requireOff(ctx, "do_rotary", "export the rotary embedding as a node of its own"));
  ROTA_RETURN_IF_ERROR(requireOff(ctx, "past_present_share_buffer", kNoSharedBuffer));
  const ir::Shape& x = ctx.inputShape(0);
  const ir::Shape& w = ctx.inputShape(1);
  const DType dtype = ctx.inputDtype(like);
  if (!x.known || !w.known || (ctx.hasInput(past) && !ctx.inputShape(past).known)) {
    setUnknown(ctx, dtype);
    return Status::ok();
  }
  if (x.rank() != 3 || w.rank() != 2 || (ctx.hasInput(past) && ctx.inputShape(past).rank() != 5)) {
    return ctx.error(ErrorCode::kShapeMismatch,
                     "The attention needs input [B, S, I], weights [I, O] and past [2, B, heads, P, size]",
                     "ranks 3, 2 and 5",
                     "ranks " + std::to_string(x.rank()) + " and " + std::to_string(w.rank()));
  }
  ROTA_RETURN_IF_ERROR(
      ctx.requireEqual(x.dims[2], w.dims[0], "the weights have a row for each input feature"));
  const auto* sizes = ctx.attributes().getInts("qkv_hidden_sizes");
  const Size hidden = sizes != nullptr && sizes->size() == 3 ? Size((*sizes)[2]) : floorDiv(w.dims[1], 3);
  ctx.setOutput(0, dtype, ir::Shape::of({x.dims[0], x.dims[1], hidden}));
  if (ctx.hasOutput(1)) {
    const Size keys = ctx.hasInput(past) ? ctx.inputShape(past).dims[3] + x.dims[1] : x.dims[1];
    ctx.setOutput(1, dtype, ir::Shape::of({2, x.dims[0], *heads, keys, floorDiv(hidden, *heads)}));
  }
  return Status::ok();
}

Status inferMultiHeadAttention(InferContext& ctx) {
  auto heads = headCount(ctx, "num_heads");
  if (!heads) return heads.status();
  ROTA_RETURN_IF_ERROR(requireAbsent(ctx, {8, 9}, kNoSharedBuffer));
  if (ctx.hasOutput(3))
    return refuseForm(ctx, "output 'qk'", "export the attention without its scores as an output");
  if (ctx.hasInput(6) != ctx.hasInput(7)) {
    return ctx.error(ErrorCode::kMissingInput, "'past_key' and 'past_value' come together", "both or neither",
                     ctx.hasInput(6) ? "'past_key' alone" : "'past_value' alone");
  }
  const ir::Shape& q = ctx.inputShape(0);
  const bool keysKnown = !ctx.hasInput(1) || ctx.inputShape(1).known;
  const bool valuesKnown = !ctx.hasInput(2) || ctx.inputShape(2).known;
  if (!q.known || !keysKnown || !valuesKnown || (ctx.hasInput(6) && !ctx.inputShape(6).known)) {
    setUnknown(ctx, ctx.inputDtype(0));
    return Status::ok();
  }
  const bool packed = q.rank() == 5;
  if ((!packed && q.rank() != 3) || (!packed && !ctx.hasInput(1)) ||
      (ctx.hasInput(6) && ctx.inputShape(6).rank() != 4)) {
    return ctx.error(ErrorCode::kShapeMismatch,
                     "The query must be [B, S, heads * size] with a key, or packed [B, S, heads, 3, size]",
                     "rank 3 or 5", "rank " + std::to_string(q.rank()));
  }
  const Size headSize = packed ? q.dims[4] : floorDiv(q.dims[2], *heads);
  Size keys = q.dims[1];
  Size valueSize = headSize;
  if (!packed) {
    const ir::Shape& k = ctx.inputShape(1);
    keys = k.rank() == 4 ? k.dims[2] : k.dims[1];
    if (ctx.hasInput(2)) {
      const ir::Shape& v = ctx.inputShape(2);
      valueSize = v.rank() == 4 ? v.dims[3] : floorDiv(v.dims.back(), *heads);
    }
  }
  if (ctx.hasInput(6)) keys = keys + ctx.inputShape(6).dims[2];
  const DType dtype = ctx.inputDtype(0);
  ctx.setOutput(0, dtype, ir::Shape::of({q.dims[0], q.dims[1], valueSize * Size(*heads)}));
  if (ctx.hasOutput(1)) ctx.setOutput(1, dtype, ir::Shape::of({q.dims[0], *heads, keys, headSize}));
  if (ctx.hasOutput(2)) ctx.setOutput(2, dtype, ir::Shape::of({q.dims[0], *heads, keys, valueSize}));
  if (ctx.hasOutput(3)) ctx.setOutput(3, dtype, ir::Shape::of({q.dims[0], *heads, q.dims[1], keys}));
  return Status::ok();
}

Status checkGroupQueryForm(InferContext& ctx, std::int64_t heads, std::int64_t kvHeads) {
  if (heads % kvHeads != 0) {
    return ctx.error(ErrorCode::kBadAttribute, "'num_heads' must be a multiple of 'kv_num_heads'",
                     "a multiple", std::to_string(heads) + " and " + std::to_string(kvHeads));
  }
  constexpr const char* kPlainCache = "export the model with a cache of real numbers";
  ROTA_RETURN_IF_ERROR(requireAbsent(ctx, {12, 13}, kPlainCache));
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    const std::string_view type = ctx.attributes().getString(name, "NONE");
    if (type != "NONE" && !type.empty())
      return refuseForm(ctx, std::string(name) + " = " + std::string(type), kPlainCache);
  }
  if (ctx.hasInput(14) != ctx.hasInput(15)) {
    return ctx.error(ErrorCode::kMissingInput, "'q_norm_weight' and 'k_norm_weight' come together",
                     "both or neither", ctx.hasInput(14) ? "'q_norm_weight' alone" : "'k_norm_weight' alone");
  }
  if (ctx.hasInput(3) != ctx.hasInput(4) || ctx.hasInput(1) != ctx.hasInput(2)) {
    return ctx.error(ErrorCode::kMissingInput, "Key and value, and past key and past value, come together",
                     "both or neither of each pair");
  }
  if (ctx.attributes().getInt("do_rotary") != 0 && (!ctx.hasInput(7) || !ctx.hasInput(8))) {
    return ctx.error(ErrorCode::kMissingInput, "Rotary embedding needs 'cos_cache' and 'sin_cache'",
                     "inputs 7 and 8");
  }
  ROTA_RETURN_IF_ERROR(requireAbsent(
      ctx, {16}, "export the model for chunks whose entries all have the same number of tokens"));
  ROTA_RETURN_IF_ERROR(
      requireOff(ctx, "sliding_window_cache", "export the model with a cache of the whole sequence"));
  ROTA_RETURN_IF_ERROR(requireOff(ctx, "qk_output", "export the attention without its scores as an output"));
  if (ctx.hasOutput(3))
    return refuseForm(ctx, "output 'output_qk'", "export the attention without its scores as an output");
  return Status::ok();
}

Status inferGroupQueryAttention(InferContext& ctx) {
  auto heads = headCount(ctx, "num_heads");
  if (!heads) return heads.status();
  auto kvHeads = headCount(ctx, "kv_num_heads");
  if (!kvHeads) return kvHeads.status();
  ROTA_RETURN_IF_ERROR(checkGroupQueryForm(ctx, *heads, *kvHeads));
  const ir::Shape& q = ctx.inputShape(0);
  auto total = scalarContents(ctx, 6, SizeRange{.lo = 1});
  if (!total) return total.status();
  if (!q.known || !*total || (ctx.hasInput(3) && !ctx.inputShape(3).known)) {
    setUnknown(ctx, ctx.inputDtype(0));
    return Status::ok();
  }
  if (q.rank() != 3 || (ctx.hasInput(3) && ctx.inputShape(3).rank() != 4)) {
    return ctx.error(ErrorCode::kShapeMismatch,
                     "Query and past must be [B, S, heads * size] and [B, heads, P, size]", "ranks 3 and 4",
                     "rank " + std::to_string(q.rank()));
  }
  const bool packed = !ctx.hasInput(1);
  const Size headSize = floorDiv(q.dims[2], packed ? *heads + 2 * *kvHeads : *heads);
  const Size keys = ctx.hasInput(3) ? max(ctx.inputShape(3).dims[2], **total) : **total;
  const DType dtype = ctx.inputDtype(0);
  const DType cacheType = ctx.hasInput(3) ? ctx.inputDtype(3) : dtype;
  ctx.setOutput(0, dtype, ir::Shape::of({q.dims[0], q.dims[1], headSize * Size(*heads)}));
  for (const std::size_t i : {1, 2}) {
    if (ctx.hasOutput(i)) ctx.setOutput(i, cacheType, ir::Shape::of({q.dims[0], *kvHeads, keys, headSize}));
  }
  if (ctx.hasOutput(3)) ctx.setOutput(3, dtype, ir::Shape::of({q.dims[0], *heads, q.dims[1], keys}));
  return Status::ok();
}

const Register kRegisterMicrosoftAttention(Definition{
    .domain = "com.microsoft",
    .name = "Attention",
    .versions = {1},
    .doc = "Projects the input to queries, keys and values of all heads and attends; masks by length, key, "
           "or query and key; a cache of past keys and values.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "input", .typeVariable = "T"},
               {.name = "weights", .typeVariable = "T"},
               {.name = "bias", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "mask_index", .option = FormalOption::kOptional},
               {.name = "past", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "attention_bias", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "past_sequence_length", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output", .typeVariable = "T"},
                {.name = "present", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .attributes = {{.name = "do_rotary", .type = AttributeType::kInt},
                   {.name = "mask_filter_value", .type = AttributeType::kFloat},
                   {.name = "num_heads", .type = AttributeType::kInt, .required = true},
                   {.name = "past_present_share_buffer", .type = AttributeType::kInt},
                   {.name = "qkv_hidden_sizes", .type = AttributeType::kInts},
                   {.name = "rotary_embedding_dim", .type = AttributeType::kInt},
                   {.name = "scale", .type = AttributeType::kFloat},
                   {.name = "unidirectional", .type = AttributeType::kInt}},
    .infer = [](InferContext& ctx) { return inferProjectedAttention(ctx, 4, 0); },
});

const Register kRegisterMicrosoftQAttention(Definition{
    .domain = "com.microsoft",
    .name = "QAttention",
    .versions = {1},
    .doc = "Attention whose input and projection weights are quantised; all else is in real numbers.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "input", .typeVariable = "T1"},
               {.name = "weight", .typeVariable = "T2"},
               {.name = "bias", .typeVariable = "T3"},
               {.name = "input_scale", .typeVariable = "T3"},
               {.name = "weight_scale", .typeVariable = "T3"},
               {.name = "mask_index", .option = FormalOption::kOptional},
               {.name = "input_zero_point", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "weight_zero_point", .option = FormalOption::kOptional, .typeVariable = "T2"},
               {.name = "past", .option = FormalOption::kOptional, .typeVariable = "T3"}},
    .outputs = {{.name = "output", .typeVariable = "T3"},
                {.name = "present", .option = FormalOption::kOptional, .typeVariable = "T3"}},
    .attributes = {{.name = "do_rotary", .type = AttributeType::kInt},
                   {.name = "mask_filter_value", .type = AttributeType::kFloat},
                   {.name = "num_heads", .type = AttributeType::kInt, .required = true},
                   {.name = "past_present_share_buffer", .type = AttributeType::kInt},
                   {.name = "scale", .type = AttributeType::kFloat},
                   {.name = "unidirectional", .type = AttributeType::kInt}},
    .infer = [](InferContext& ctx) { return inferProjectedAttention(ctx, 8, 2); },
});

const Register kRegisterMicrosoftMultiHeadAttention(Definition{
    .domain = "com.microsoft",
    .name = "MultiHeadAttention",
    .versions = {1},
    .doc = "Attention over queries, keys and values that are projected already, apart or packed, with "
           "biases, masks and a cache.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "query", .typeVariable = "T"},
               {.name = "key", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "value", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "bias", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "key_padding_mask", .option = FormalOption::kOptional},
               {.name = "attention_bias", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "past_key", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "past_value", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "past_sequence_length", .option = FormalOption::kOptional},
               {.name = "cache_indirection", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output", .typeVariable = "T"},
                {.name = "present_key", .option = FormalOption::kOptional, .typeVariable = "T"},
                {.name = "present_value", .option = FormalOption::kOptional, .typeVariable = "T"},
                {.name = "qk", .option = FormalOption::kOptional}},
    .attributes = {{.name = "mask_filter_value", .type = AttributeType::kFloat},
                   {.name = "num_heads", .type = AttributeType::kInt, .required = true},
                   {.name = "scale", .type = AttributeType::kFloat},
                   {.name = "unidirectional", .type = AttributeType::kInt}},
    .infer = inferMultiHeadAttention,
});

const Register kRegisterMicrosoftGroupQueryAttention(Definition{
    .domain = "com.microsoft",
    .name = "GroupQueryAttention",
    .versions = {1},
    .doc = "Causal attention of a decoder in which groups of query heads share key and value heads, with a "
           "cache in a buffer, rotary embedding, local windows and soft caps.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "query", .typeVariable = "T"},
               {.name = "key", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "value", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "past_key", .option = FormalOption::kOptional},
               {.name = "past_value", .option = FormalOption::kOptional},
               {.name = "seqlens_k"},
               {.name = "total_sequence_length"},
               {.name = "cos_cache", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "sin_cache", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "position_ids", .option = FormalOption::kOptional},
               {.name = "attention_bias", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "head_sink", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "k_scale", .option = FormalOption::kOptional},
               {.name = "v_scale", .option = FormalOption::kOptional},
               {.name = "q_norm_weight", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "k_norm_weight", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "query_seqlens", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output", .typeVariable = "T"},
                {.name = "present_key", .option = FormalOption::kOptional},
                {.name = "present_value", .option = FormalOption::kOptional},
                {.name = "output_qk", .option = FormalOption::kOptional}},
    .attributes = {{.name = "causal", .type = AttributeType::kInt},
                   {.name = "do_rotary", .type = AttributeType::kInt},
                   {.name = "k_norm_epsilon", .type = AttributeType::kFloat},
                   {.name = "k_quant_type", .type = AttributeType::kString},
                   {.name = "kv_cache_bit_width", .type = AttributeType::kInt},
                   {.name = "kv_num_heads", .type = AttributeType::kInt, .required = true},
                   {.name = "local_window_size", .type = AttributeType::kInt},
                   {.name = "num_heads", .type = AttributeType::kInt, .required = true},
                   {.name = "q_norm_epsilon", .type = AttributeType::kFloat},
                   {.name = "qk_norm_epsilon", .type = AttributeType::kFloat},
                   {.name = "qk_output", .type = AttributeType::kInt},
                   {.name = "rotary_interleaved", .type = AttributeType::kInt},
                   {.name = "scale", .type = AttributeType::kFloat},
                   {.name = "sliding_window_cache", .type = AttributeType::kInt},
                   {.name = "smooth_softmax", .type = AttributeType::kInt},
                   {.name = "softcap", .type = AttributeType::kFloat},
                   {.name = "v_quant_type", .type = AttributeType::kString}},
    .infer = inferGroupQueryAttention,
});

}  // namespace
}  // namespace rota::op
