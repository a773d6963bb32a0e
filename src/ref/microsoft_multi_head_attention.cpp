// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention of com.microsoft: queries, keys and values that are projected already, in three layouts (apart, packed, heads first), are
// brought into one. Tested by src/ref/microsoft_test.cpp and tests/test_microsoft_operators.py.
#include <algorithm>
#include <string>

#include "core/check.h"
#include "ref/blocks.h"
#include "ref/common.h"
#include "ref/microsoft_attention_core.h"

namespace rota::ref {

namespace {

// [batch, heads, rows, size] in scratch from [batch, rows, heads * size] plus its part of the bias, or from a tensor that is in this form already.
Result<double*> headRows(KernelContext& ctx, const TensorView& view, std::int64_t heads, const double* bias) {
  if (view.rank() == 4) return joinHeads(ctx, {}, view, heads);
  auto rows = joinHeads(ctx, {}, view, heads);
  if (!rows) return rows.status();
  const std::int64_t count = view.dims[1], size = view.dims[2] / heads;
  for (std::int64_t i = 0; bias != nullptr && i < view.dims[0] * heads; ++i) {
    for (std::int64_t r = 0; r < count * size; ++r)
      (*rows)[i * count * size + r] += bias[i % heads * size + r % size];
  }
  return rows;
}

// The parts of a packed tensor [batch, rows, heads, parts, size] as [batch, heads, rows, size] each.
Result<double*> unpackHeads(KernelContext& ctx, const TensorView& packed, std::int64_t part) {
  const std::int64_t batch = packed.dims[0], rows = packed.dims[1], heads = packed.dims[2],
                     parts = packed.dims[3], size = packed.dims[4];
  auto memory = ctx.scratch<double>(batch * heads * rows * size);
  if (!memory) return memory.status();
  for (std::int64_t i = 0; i < batch * rows * heads; ++i) {
    const std::int64_t b = i / (rows * heads), r = i / heads % rows, h = i % heads;
    loadBlock(packed, (i * parts + part) * size, size, *memory + ((b * heads + h) * rows + r) * size);
  }
  return *memory;
}

// Puts past [batch, heads, P, size] before rows [batch, heads, rows, size].
Result<double*> prependPast(KernelContext& ctx, const TensorView& past, const double* rows,
                            std::int64_t batch, std::int64_t heads, std::int64_t count, std::int64_t size) {
  const std::int64_t pastRows = past.isGiven() ? past.dims[2] : 0;
  if (past.isGiven() && (past.rank() != 4 || past.count() != batch * heads * pastRows * size)) {
    return Status(ErrorCode::kShapeMismatch, "The past has the wrong shape")
        .expected(dimsText(DimArray{batch, heads, pastRows, size}))
        .found(dimsText(past.dims));
  }
  auto memory = ctx.scratch<double>(batch * heads * (pastRows + count) * size);
  if (!memory) return memory.status();
  for (std::int64_t i = 0; i < batch * heads; ++i) {
    double* to = *memory + i * (pastRows + count) * size;
    if (pastRows > 0) loadBlock(past, i * pastRows * size, pastRows * size, to);
    std::copy(rows + i * count * size, rows + (i + 1) * count * size, to + pastRows * size);
  }
  return *memory;
}

// Inputs: query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value.
Status multiHeadAttention(KernelContext& ctx) {
  const TensorView q = ctx.input(0), k = ctx.input(1), v = ctx.input(2);
  AttentionProblem p;
  p.heads = p.kvHeads = ctx.attributes().getInt("num_heads");
  Status mismatch =
      Status(ErrorCode::kShapeMismatch, "Query, key and value of the attention do not fit each other")
          .expected(
              "[B, S, heads * size], or packed [B, S, heads, 3, size], keys and values [B, L, …] or [B, "
              "heads, L, size]")
          .found(dimsText(q.dims));
  const bool packedAll = q.rank() == 5 && !k.isGiven();
  const bool packedKeys = q.rank() == 3 && k.rank() == 5 && !v.isGiven();
  if (!packedAll &&
      (q.rank() != 3 || !k.isGiven() ||
       (!packedKeys && (!v.isGiven() || k.rank() != v.rank() || (k.rank() != 3 && k.rank() != 4)))))
    return mismatch;
  if ((packedAll && (q.dims[2] != p.heads || q.dims[3] != 3)) ||
      (packedKeys && (k.dims[2] != p.heads || k.dims[3] != 2 || k.dims[0] != q.dims[0])))
    return mismatch;
  p.batch = q.dims[0], p.queries = q.dims[1];
  p.headSize = packedAll ? q.dims[4] : q.dims[2] / p.heads;
  const std::int64_t newKeys = packedAll ? p.queries : k.dims[k.rank() == 4 ? 2 : 1];
  p.valueSize = packedAll || packedKeys ? p.headSize : v.rank() == 4 ? v.dims[3] : v.dims[2] / p.heads;
  const std::int64_t keyElements = p.batch * newKeys * p.heads * p.headSize;
  if ((!packedAll && q.dims[2] % p.heads != 0) ||
      (!packedAll && k.count() != (packedKeys ? 2 : 1) * keyElements) ||
      (!packedAll && !packedKeys && v.count() != p.batch * newKeys * p.heads * p.valueSize) ||
      ctx.hasInput(6) != ctx.hasInput(7)) {
    return mismatch;
  }
  const std::int64_t hidden = p.heads * p.headSize;
  if (ctx.hasInput(3) && ctx.input(3).count() != 2 * hidden + p.heads * p.valueSize) return mismatch;
  auto bias = loadAll(ctx, ctx.input(3));
  if (!bias) return bias.status();
  const auto biasPart = [&](std::int64_t part) -> const double* {
    return *bias == nullptr ? nullptr : *bias + part * hidden;
  };
  auto queries = packedAll ? unpackHeads(ctx, q, 0) : headRows(ctx, q, p.heads, biasPart(0));
  if (!queries) return queries.status();
  auto keys = packedAll    ? unpackHeads(ctx, q, 1)
              : packedKeys ? unpackHeads(ctx, k, 0)
                           : headRows(ctx, k, p.heads, biasPart(1));
  if (!keys) return keys.status();
  auto values = packedAll    ? unpackHeads(ctx, q, 2)
                : packedKeys ? unpackHeads(ctx, k, 1)
                             : headRows(ctx, v, p.heads, biasPart(2));
  if (!values) return values.status();
  auto allKeys = prependPast(ctx, ctx.input(6), *keys, p.batch, p.heads, newKeys, p.headSize);
  if (!allKeys) return allKeys.status();
  auto allValues = prependPast(ctx, ctx.input(7), *values, p.batch, p.heads, newKeys, p.valueSize);
  if (!allValues) return allValues.status();
  p.keys = newKeys + (ctx.hasInput(6) ? ctx.input(6).dims[2] : 0);
  p.scale = attentionScale(ctx.attributes(), p.headSize);
  p.q = {*queries, HeadStrides::headMajor(p.heads, p.queries, p.headSize)};
  p.k = {*allKeys, HeadStrides::headMajor(p.heads, p.keys, p.headSize)};
  p.v = {*allValues, HeadStrides::headMajor(p.heads, p.keys, p.valueSize)};
  if (ctx.hasOutput(1)) storeBlock(ctx.output(1), 0, ctx.output(1).count(), *allKeys);
  if (ctx.hasOutput(2)) storeBlock(ctx.output(2), 0, ctx.output(2).count(), *allValues);
  return runMicrosoftAttention(ctx, p, 4, 5);
}

const RegisterKernel kMultiHeadAttention("com.microsoft", "MultiHeadAttention", multiHeadAttention);

}  // namespace

}  // namespace rota::ref
