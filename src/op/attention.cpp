// SPDX-License-Identifier: Apache-2.0
// Attention. Tested by src/op/attention_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/attention_expansion.h"
#include "op/common.h"

namespace rota::op {
namespace {

struct AttentionSizes {
  Size batch, queries, heads, kvHeads, newKeys, headSize, valueSize;
};

Result<AttentionSizes> attentionSizes(InferContext& ctx) {
  const ir::Shape& q = ctx.inputShape(0);
  const ir::Shape& k = ctx.inputShape(1);
  const ir::Shape& v = ctx.inputShape(2);
  if ((q.rank() != 3 && q.rank() != 4) || k.rank() != q.rank() || v.rank() != q.rank()) {
    return ctx.error(ErrorCode::kShapeMismatch, "Q, K and V must have the same rank, 3 or 4", "rank 3 or 4",
                     "ranks " + std::to_string(q.rank()) + ", " + std::to_string(k.rank()) + " and " +
                         std::to_string(v.rank()));
  }
  if (q.rank() == 4)
    return AttentionSizes{q.dims[0], q.dims[2], q.dims[1], k.dims[1], k.dims[2], q.dims[3], v.dims[3]};
  const std::int64_t heads = ctx.attributes().getInt("q_num_heads");
  const std::int64_t kvHeads = ctx.attributes().getInt("kv_num_heads");
  if (heads < 1 || kvHeads < 1) {
    return ctx.error(ErrorCode::kBadAttribute, "Inputs of rank 3 need 'q_num_heads' and 'kv_num_heads'",
                     "values of at least 1", std::to_string(heads) + " and " + std::to_string(kvHeads));
  }
  return AttentionSizes{q.dims[0],
                        q.dims[1],
                        heads,
                        kvHeads,
                        k.dims[1],
                        floorDiv(q.dims[2], heads),
                        floorDiv(v.dims[2], kvHeads)};
}

Status inferAttention(InferContext& ctx) {
  if (ctx.hasInput(4) != ctx.hasInput(5)) {
    return ctx.error(ErrorCode::kMissingInput, "'past_key' and 'past_value' come together",
                     "both or neither");
  }
  const DType dtypes[] = {ctx.inputDtype(0), ctx.inputDtype(1), ctx.inputDtype(2), ctx.inputDtype(0)};
  const bool pastKnown = !ctx.hasInput(4) || (ctx.inputShape(4).known && ctx.inputShape(4).rank() == 4);
  if (!ctx.inputShape(0).known || !ctx.inputShape(1).known || !ctx.inputShape(2).known || !pastKnown) {
    for (std::size_t i = 0; i < 4; ++i) {
      if (ctx.hasOutput(i)) ctx.setOutput(i, dtypes[i], ir::Shape::unknown());
    }
    return Status::ok();
  }
  auto sizes = attentionSizes(ctx);
  if (!sizes) return sizes.status();
  const AttentionSizes& s = *sizes;
  const bool packed = ctx.inputShape(0).rank() == 3;
  ROTA_RETURN_IF_ERROR(
      ctx.requireEqual(ctx.inputShape(2).dims[packed ? 1 : 2], s.newKeys, "K and V have the same length"));
  if (!packed)
    ROTA_RETURN_IF_ERROR(
        ctx.requireEqual(ctx.inputShape(1).dims[3], s.headSize, "Q and K have the same head size"));
  const Size keys = ctx.hasInput(4) ? ctx.inputShape(4).dims[2] + s.newKeys : s.newKeys;
  ctx.setOutput(0, dtypes[0],
                packed ? ir::Shape::of({s.batch, s.queries, s.heads * s.valueSize})
                       : ir::Shape::of({s.batch, s.heads, s.queries, s.valueSize}));
  if (ctx.hasOutput(1)) ctx.setOutput(1, dtypes[1], ir::Shape::of({s.batch, s.kvHeads, keys, s.headSize}));
  if (ctx.hasOutput(2)) ctx.setOutput(2, dtypes[2], ir::Shape::of({s.batch, s.kvHeads, keys, s.valueSize}));
  if (ctx.hasOutput(3)) ctx.setOutput(3, dtypes[3], ir::Shape::of({s.batch, s.heads, s.queries, keys}));
  return Status::ok();
}

const Register kRegisterAttention(Definition{
    .domain = "",
    .name = "Attention",
    .versions = {23, 24, 25},
    .doc = "Scaled dot-product attention of queries over keys and values, with as many or fewer key heads, "
           "an additive or boolean mask, causal and "
           "windowed masking, a cache that is extended (past and present) or padded (nonpad_kv_seqlen), and "
           "a soft cap on the scores. "
           "A query that may see no key gives zeros.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "Q", .typeVariable = "T1"},
               {.name = "K", .typeVariable = "T1"},
               {.name = "V", .typeVariable = "T2"},
               {.name = "attn_mask", .option = FormalOption::kOptional},
               {.name = "past_key", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "past_value", .option = FormalOption::kOptional, .typeVariable = "T2"},
               {.name = "nonpad_kv_seqlen", .option = FormalOption::kOptional}},
    .outputs = {{.name = "Y", .typeVariable = "T1"},
                {.name = "present_key", .option = FormalOption::kOptional, .typeVariable = "T1"},
                {.name = "present_value", .option = FormalOption::kOptional, .typeVariable = "T2"},
                {.name = "qk_matmul_output", .option = FormalOption::kOptional, .typeVariable = "T1"}},
    .attributes = {{.name = "is_causal", .type = AttributeType::kInt},
                   {.name = "kv_num_heads", .type = AttributeType::kInt},
                   {.name = "left_window_size", .type = AttributeType::kInt},
                   {.name = "q_num_heads", .type = AttributeType::kInt},
                   {.name = "qk_matmul_output_mode", .type = AttributeType::kInt},
                   {.name = "right_window_size", .type = AttributeType::kInt},
                   {.name = "scale", .type = AttributeType::kFloat},
                   {.name = "softcap", .type = AttributeType::kFloat},
                   {.name = "softmax_precision", .type = AttributeType::kInt}},
    .infer = inferAttention,
    .expand = expandAttention,
});

}  // namespace
}  // namespace rota::op
