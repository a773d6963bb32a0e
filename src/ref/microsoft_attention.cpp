// SPDX-License-Identifier: Apache-2.0
// Attention and QAttention of com.microsoft: tokens are projected to queries, keys and values of all heads, then attended. The quantised form
// differs in its projection only. Tested by src/ref/microsoft_test.cpp and tests/test_microsoft_operators.py.
#include <algorithm>
#include <string>

#include "core/check.h"
#include "ref/blocks.h"
#include "ref/common.h"
#include "ref/microsoft_attention_core.h"
#include "ref/product.h"
#include "ref/quantized_product.h"

namespace rota::ref {

namespace {

void addRowBias(double* rows, std::int64_t count, std::int64_t size, const double* bias) {
  for (std::int64_t r = 0; bias != nullptr && r < count; ++r) {
    for (std::int64_t i = 0; i < size; ++i) rows[r * size + i] += bias[i];
  }
}

// Rows [batch, rows, heads * size] after the first `pastRows` rows of [batch, heads, total, size]; the past is [batch, heads, pastRows, size], starting at
// element `pastBegin` of its tensor.
void gatherHeads(const double* rows, std::int64_t rowStride, const TensorView& past, std::int64_t pastBegin,
                 std::int64_t pastRows, std::int64_t batch, std::int64_t heads, std::int64_t count,
                 std::int64_t size, double* out) {
  for (std::int64_t i = 0; i < batch * heads; ++i) {
    double* to = out + i * (pastRows + count) * size;
    if (pastRows > 0) loadBlock(past, pastBegin + i * pastRows * size, pastRows * size, to);
    for (std::int64_t r = 0; r < count; ++r) {
      const double* from = rows + (i / heads * count + r) * rowStride + i % heads * size;
      std::copy(from, from + size, to + (pastRows + r) * size);
    }
  }
}

// Which input is what; the quantised form has them in another order.
struct ProjectedInputs {
  std::size_t bias, mask, past, attentionBias;
};

// Attention over projected tokens: row (b, s) of `rows` holds queries, keys and values of all heads, still without the bias.
Status attendProjected(KernelContext& ctx, double* rows, std::int64_t rowSize, const ProjectedInputs& in) {
  const Dims x = ctx.input(0).dims;
  const TensorView past = ctx.input(in.past);
  const Attributes& attributes = ctx.attributes();
  AttentionProblem p;
  p.heads = p.kvHeads = attributes.getInt("num_heads");
  const auto* sizes = attributes.getInts("qkv_hidden_sizes");
  const bool sized = sizes != nullptr && sizes->size() == 3;
  const std::int64_t hidden = sized ? (*sizes)[0] : rowSize / 3;
  const std::int64_t valueHidden = sized ? (*sizes)[2] : rowSize / 3;
  if (p.heads < 1 || hidden % p.heads != 0 || valueHidden % p.heads != 0 ||
      2 * hidden + valueHidden != rowSize) {
    return Status(ErrorCode::kBadAttribute, "'num_heads' or 'qkv_hidden_sizes' do not divide the weights")
        .found(std::to_string(rowSize));
  }
  p.batch = x[0], p.queries = x[1];
  p.headSize = hidden / p.heads, p.valueSize = valueHidden / p.heads;
  const std::int64_t pastRows = past.isGiven() && past.rank() == 5 ? past.dims[3] : 0;
  if (past.isGiven() && (past.rank() != 5 || p.headSize != p.valueSize ||
                         past.count() != 2 * p.batch * p.heads * pastRows * p.headSize)) {
    return Status(ErrorCode::kShapeMismatch, "The past of the attention has the wrong shape")
        .expected("[2, B, heads, P, size]")
        .found(dimsText(past.dims));
  }
  p.keys = pastRows + p.queries;
  p.scale = attentionScale(attributes, p.headSize);
  auto bias = loadAll(ctx, ctx.input(in.bias));
  if (!bias) return bias.status();
  addRowBias(rows, p.batch * p.queries, rowSize, *bias);

  const std::int64_t half = p.batch * p.heads * p.keys * p.headSize;
  auto keys = ctx.scratch<double>(half + p.batch * p.heads * p.keys * p.valueSize);
  if (!keys) return keys.status();
  double* const values = *keys + half;
  gatherHeads(rows + hidden, rowSize, past, 0, pastRows, p.batch, p.heads, p.queries, p.headSize, *keys);
  gatherHeads(rows + 2 * hidden, rowSize, past, past.isGiven() ? past.count() / 2 : 0, pastRows, p.batch,
              p.heads, p.queries, p.valueSize, values);
  if (ctx.hasOutput(1)) storeBlock(ctx.output(1), 0, ctx.output(1).count(), *keys);
  p.q = {rows, {p.queries * rowSize, p.headSize, rowSize}};
  p.k = {*keys, HeadStrides::headMajor(p.heads, p.keys, p.headSize)};
  p.v = {values, HeadStrides::headMajor(p.heads, p.keys, p.valueSize)};
  return runMicrosoftAttention(ctx, p, in.mask, in.attentionBias);
}

Status checkProjection(const KernelContext& ctx, std::size_t bias) {
  const TensorView x = ctx.input(0), w = ctx.input(1);
  if (x.rank() == 3 && w.rank() == 2 && w.dims[0] == x.dims[2] &&
      (!ctx.hasInput(bias) || ctx.input(bias).count() == w.dims[1]))
    return Status::ok();
  return Status(ErrorCode::kShapeMismatch, "Input, weights and bias of the attention do not fit each other")
      .expected("[B, S, I], [I, O] and [O]");
}

// Inputs: input, weights, bias, mask_index, past, attention_bias.
Status microsoftAttention(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(checkProjection(ctx, 2));
  const TensorView x = ctx.input(0), w = ctx.input(1);
  const std::int64_t tokens = x.dims[0] * x.dims[1], rowSize = w.dims[1];
  auto rows = ctx.scratch<double>(tokens * rowSize);
  if (!rows) return rows.status();
  product<double>(ctx.threads(), {1, tokens, rowSize, x.dims[2]}, DenseOperand<double>(x, true, x.dims[2]),
                  DenseOperand<double>(w, false, rowSize), ScratchSink(*rows, tokens, rowSize));
  return attendProjected(ctx, *rows, rowSize, {.bias = 2, .mask = 3, .past = 4, .attentionBias = 5});
}

// Inputs: input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past.
Status quantizedAttention(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(checkProjection(ctx, 2));
  const TensorView x = ctx.input(0), w = ctx.input(1);
  const std::int64_t tokens = x.dims[0] * x.dims[1], rowSize = w.dims[1];
  PerLine lines[4];
  constexpr std::size_t kInputs[4] = {3, 6, 4, 7};  // scale and zero point of the input, of the weights
  for (std::size_t i = 0; i < 4; ++i) {
    auto one = perLine(ctx, kInputs[i], 1, i < 2 ? 1 : rowSize);
    if (!one) return one.status();
    lines[i] = *one;
  }
  auto rows = ctx.scratch<double>(tokens * rowSize);
  if (!rows) return rows.status();
  const std::int64_t origin = 0;
  product<double>(ctx.threads(), {1, tokens, rowSize, x.dims[2]},
                  ZeroedOperand(x, true, x.dims[2], &origin, 0, lines[1], tokens),
                  ZeroedOperand(w, false, rowSize, &origin, 0, lines[3], rowSize),
                  ScratchSink(*rows, tokens, rowSize));
  for (std::int64_t i = 0; i < tokens * rowSize; ++i)
    (*rows)[i] *= lines[0].at(0, 1, 0, 1) * lines[2].at(0, rowSize, i % rowSize, 1);
  return attendProjected(ctx, *rows, rowSize,
                         {.bias = 2, .mask = 5, .past = 8, .attentionBias = ctx.inputCount()});
}

const RegisterKernel kMicrosoftAttention("com.microsoft", "Attention", microsoftAttention);
const RegisterKernel kQAttention("com.microsoft", "QAttention", quantizedAttention);

}  // namespace

}  // namespace rota::ref
