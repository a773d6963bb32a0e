// SPDX-License-Identifier: Apache-2.0
// LinearAttention. Tested by src/ref/linear_attention_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

Status inferLinearAttention(InferContext& ctx) {
  const std::int64_t heads = ctx.attributes().getInt("q_num_heads");
  const std::int64_t kvHeads = ctx.attributes().getInt("kv_num_heads");
  if (heads < 1 || kvHeads < 1 || heads % kvHeads != 0) {
    return ctx.error(ErrorCode::kBadAttribute, "'q_num_heads' must be a multiple of 'kv_num_heads'",
                     "values of at least 1", std::to_string(heads) + " and " + std::to_string(kvHeads));
  }
  const DType stateType = ctx.hasInput(3) ? ctx.inputDtype(3) : ctx.inputDtype(0);
  const ir::Shape& q = ctx.inputShape(0);
  const ir::Shape& v = ctx.inputShape(2);
  if (!q.known || !v.known) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    if (ctx.hasOutput(1)) ctx.setOutput(1, stateType, ir::Shape::unknown());
    return Status::ok();
  }
  if (q.rank() != 3 || v.rank() != 3) {
    return ctx.error(ErrorCode::kShapeMismatch, "Query and value must be [B, T, heads * size]", "rank 3",
                     "ranks " + std::to_string(q.rank()) + " and " + std::to_string(v.rank()));
  }
  const Size keySize = floorDiv(q.dims[2], heads);
  const Size valueSize = floorDiv(v.dims[2], kvHeads);
  ROTA_RETURN_IF_ERROR(
      ctx.requireEqual(q.dims[1], v.dims[1], "query and value have the same number of tokens"));
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of({q.dims[0], q.dims[1], valueSize * Size(heads)}));
  if (ctx.hasOutput(1)) ctx.setOutput(1, stateType, ir::Shape::of({q.dims[0], kvHeads, keySize, valueSize}));
  return Status::ok();
}

const Register kRegisterLinearAttention(Definition{
    .domain = "",
    .name = "LinearAttention",
    .versions = {27},
    .doc = "Attention as a recurrence: a state of keys times values is decayed, corrected (delta rules) and "
           "extended by each token, and read by its query. "
           "The state goes in and out, so decoding continues where the prompt ended.",
    .kind = Kind::kScan,
    .inputs = {{.name = "query", .typeVariable = "T"},
               {.name = "key", .typeVariable = "T"},
               {.name = "value", .typeVariable = "T"},
               {.name = "past_state", .option = FormalOption::kOptional, .typeVariable = "S"},
               {.name = "decay", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "beta", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}, {.name = "present_state", .typeVariable = "S"}},
    .attributes = {{.name = "chunk_size", .type = AttributeType::kInt},
                   {.name = "kv_num_heads", .type = AttributeType::kInt, .required = true},
                   {.name = "q_num_heads", .type = AttributeType::kInt, .required = true},
                   {.name = "scale", .type = AttributeType::kFloat},
                   {.name = "update_rule", .type = AttributeType::kString}},
    .infer = inferLinearAttention,
});

}  // namespace
}  // namespace rota::op
