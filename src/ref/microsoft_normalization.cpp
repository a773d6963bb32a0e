// SPDX-License-Identifier: Apache-2.0
// Layer normalisations with what exporters and optimisers fold into them: SkipLayerNormalization, SkipSimplifiedLayerNormalization,
// SimplifiedLayerNormalization, EmbedLayerNormalization. Tested by src/ref/microsoft_test.cpp.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.h"
#include "ref/blocks.h"
#include "ref/common.h"

namespace rota::ref {

namespace {

struct RowStatistics {
  double mean = 0;
  double inverseDeviation = 0;
};

// In place: (x - mean) / deviation * gamma + beta; without centring the mean is 0.
RowStatistics normaliseRow(double* row, std::int64_t n, bool centred, double epsilon, const double* gamma,
                           const double* beta) {
  RowStatistics s;
  if (centred) {
    for (std::int64_t i = 0; i < n; ++i) s.mean += row[i];
    s.mean /= static_cast<double>(n);
  }
  double squares = 0;
  for (std::int64_t i = 0; i < n; ++i) squares += (row[i] - s.mean) * (row[i] - s.mean);
  s.inverseDeviation = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
  for (std::int64_t i = 0; i < n; ++i) {
    row[i] = (row[i] - s.mean) * s.inverseDeviation;
    if (gamma != nullptr) row[i] *= gamma[i];
    if (beta != nullptr) row[i] += beta[i];
  }
  return s;
}

Result<const double*> rowVector(KernelContext& ctx, std::size_t input, std::int64_t size) {
  if (ctx.hasInput(input) && ctx.input(input).count() != size) {
    return Status(ErrorCode::kShapeMismatch,
                  "Input " + std::to_string(input) + " of the normalisation has the wrong size")
        .expected(std::to_string(size) + " elements")
        .found(std::to_string(ctx.input(input).count()));
  }
  auto values = loadAll(ctx, ctx.input(input));
  if (!values) return values.status();
  return static_cast<const double*>(*values);
}

// Rows of input + skip + bias; the skip may lack leading axes or have them as 1.
Status skipNormalization(KernelContext& ctx, bool centred) {
  const TensorView x = ctx.input(0), skip = ctx.input(1);
  const std::int64_t n = x.rank() == 0 ? 1 : x.dims[x.rank() - 1];
  if (x.rank() < 1 || skip.count() == 0 ? x.count() != 0
                                        : x.count() % skip.count() != 0 || skip.dims[skip.rank() - 1] != n) {
    return Status(ErrorCode::kShapeMismatch, "The skip does not fit the input")
        .expected(dimsText(x.dims))
        .found(dimsText(skip.dims));
  }
  auto gamma = rowVector(ctx, 2, n);
  if (!gamma) return gamma.status();
  auto beta = rowVector(ctx, centred ? 3 : ctx.inputCount(), n);
  if (!beta) return beta.status();
  auto bias = rowVector(ctx, centred ? 4 : 3, n);
  if (!bias) return bias.status();
  auto sums = loadAll(ctx, x);
  if (!sums) return sums.status();
  auto skips = loadAll(ctx, skip);
  if (!skips) return skips.status();
  const double epsilon = ctx.attributes().getFloat("epsilon", 1e-12F);
  const std::int64_t rows = n == 0 ? 0 : x.count() / n;
  ctx.threads().parallelFor(rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      double* row = *sums + r * n;
      const double* other = *skips + r * n % skip.count();
      for (std::int64_t i = 0; i < n; ++i) row[i] += other[i] + (*bias == nullptr ? 0 : (*bias)[i]);
      if (ctx.hasOutput(3)) storeBlock(ctx.output(3), r * n, n, row);
      const RowStatistics s = normaliseRow(row, n, centred, epsilon, *gamma, *beta);
      if (ctx.hasOutput(1)) storeBlock(ctx.output(1), r, 1, &s.mean);
      if (ctx.hasOutput(2)) storeBlock(ctx.output(2), r, 1, &s.inverseDeviation);
      storeBlock(ctx.output(0), r * n, n, row);
    }
  });
  return Status::ok();
}

Status skipLayerNormalization(KernelContext& ctx) { return skipNormalization(ctx, true); }
Status skipSimplifiedLayerNormalization(KernelContext& ctx) { return skipNormalization(ctx, false); }

Status simplifiedLayerNormalization(KernelContext& ctx) {
  const TensorView x = ctx.input(0);
  auto axis = axisOf(ctx.attributes().getInt("axis", -1), x.rank());
  if (!axis) return axis.status();
  const std::int64_t n = elementCount(x.dims.subspan(*axis));
  auto scale = rowVector(ctx, 1, n);
  if (!scale) return scale.status();
  auto values = loadAll(ctx, x);
  if (!values) return values.status();
  const double epsilon = ctx.attributes().getFloat("epsilon", 1e-5F);
  ctx.threads().parallelFor(n == 0 ? 0 : x.count() / n, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const RowStatistics s = normaliseRow(*values + r * n, n, false, epsilon, *scale, nullptr);
      storeBlock(ctx.output(0), r * n, n, *values + r * n);
      if (ctx.hasOutput(1)) storeBlock(ctx.output(1), r, 1, &s.inverseDeviation);
    }
  });
  return Status::ok();
}

// Adds row `id` of a table.
Status addTableRow(const TensorView& table, std::int64_t id, std::int64_t n, double* work, double* sum) {
  if (table.rank() != 2 || table.dims[1] != n)
    return Status(ErrorCode::kShapeMismatch, "The embedding tables must have rows of equal size");
  if (id < 0 || id >= table.dims[0]) {
    return Status(ErrorCode::kBadIndex, "An id is outside its embedding table")
        .expected("0 to " + std::to_string(table.dims[0] - 1))
        .found(std::to_string(id));
  }
  loadBlock(table, id * n, n, work);
  for (std::int64_t i = 0; i < n; ++i) sum[i] += work[i];
  return Status::ok();
}

// Inputs: input_ids, segment_ids, word, position, segment embedding, gamma, beta, mask, position_ids.
Status embedLayerNormalization(KernelContext& ctx) {
  const TensorView ids = ctx.input(0), word = ctx.input(2), positions = ctx.input(8);
  if (ids.rank() != 2 || word.rank() != 2 || (ctx.hasInput(1) != ctx.hasInput(4)) ||
      (ctx.hasInput(1) && ctx.input(1).count() != ids.count()) ||
      (positions.isGiven() && positions.count() != ids.count() && positions.count() != ids.dims[1])) {
    return Status(ErrorCode::kShapeMismatch, "Ids and tables of the embedding do not fit each other")
        .expected("ids [B, S], tables of rank 2");
  }
  const std::int64_t length = ids.dims[1], n = word.dims[1];
  auto gamma = rowVector(ctx, 5, n);
  if (!gamma) return gamma.status();
  auto beta = rowVector(ctx, 6, n);
  if (!beta) return beta.status();
  auto work = ctx.scratch<double>(2 * n);
  if (!work) return work.status();
  double* const sum = *work + n;
  const double epsilon = ctx.attributes().getFloat("epsilon", 1e-12F);
  for (std::int64_t i = 0; i < ids.count(); ++i) {
    std::fill(sum, sum + n, 0.0);
    ROTA_RETURN_IF_ERROR(addTableRow(word, intAt(ids, i), n, *work, sum));
    const std::int64_t position = !positions.isGiven()
                                      ? i % length
                                      : intAt(positions, positions.count() == ids.count() ? i : i % length);
    ROTA_RETURN_IF_ERROR(addTableRow(ctx.input(3), position, n, *work, sum));
    if (ctx.hasInput(1))
      ROTA_RETURN_IF_ERROR(addTableRow(ctx.input(4), intAt(ctx.input(1), i), n, *work, sum));
    if (ctx.hasOutput(2)) storeBlock(ctx.output(2), i * n, n, sum);
    normaliseRow(sum, n, true, epsilon, *gamma, *beta);
    storeBlock(ctx.output(0), i * n, n, sum);
  }
  if (!ctx.hasOutput(1)) return Status::ok();
  for (std::int64_t b = 0; b < ids.dims[0]; ++b) {  // how many tokens the mask keeps
    double kept = 0;
    for (std::int64_t s = 0; ctx.hasInput(7) && s < length; ++s)
      kept += intAt(ctx.input(7), b * length + s) != 0 ? 1 : 0;
    storeBlock(ctx.output(1), b, 1, &kept);
  }
  return Status::ok();
}

const RegisterKernel kSkipLayerNormalization("com.microsoft", "SkipLayerNormalization",
                                             skipLayerNormalization);
const RegisterKernel kSkipSimplifiedLayerNormalization("com.microsoft", "SkipSimplifiedLayerNormalization",
                                                       skipSimplifiedLayerNormalization);
const RegisterKernel kSimplifiedLayerNormalization("", "SimplifiedLayerNormalization",
                                                   simplifiedLayerNormalization);
const RegisterKernel kEmbedLayerNormalization("com.microsoft", "EmbedLayerNormalization",
                                              embedLayerNormalization);

}  // namespace

}  // namespace rota::ref
