// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of the default domain and of com.microsoft, which differ in the order of inputs and in where positions come from.
// Tested by src/ref/attention_test.cpp.
#include "ref/rotary.h"

#include <algorithm>
#include <string>

#include "ref/attention_core.h"
#include "ref/blocks.h"
#include "ref/common.h"

namespace rota::ref {

namespace {

struct RotaryInputs {
  TensorView x, cosines, sines, positions;
};

struct RotaryProblem {
  std::int64_t batch = 0, heads = 0, length = 0, headSize = 0, rotated = 0;
  HeadStrides strides;
  bool interleaved = false;
};

Result<RotaryProblem> rotaryProblem(const KernelContext& ctx, const RotaryInputs& in) {
  RotaryProblem p;
  const Dims x = in.x.dims;
  if ((x.size() != 3 && x.size() != 4) || in.cosines.rank() < 2 || in.cosines.count() != in.sines.count()) {
    return Status(ErrorCode::kShapeMismatch,
                  "Rotary embedding needs an input of rank 3 or 4 and caches of equal shape")
        .found(dimsText(x));
  }
  const std::int64_t half = in.cosines.dims[in.cosines.rank() - 1];
  const std::int64_t rotated = ctx.attributes().getInt("rotary_embedding_dim");
  p.interleaved = ctx.attributes().getInt("interleaved") != 0;
  p.batch = x[0];
  if (x.size() == 4) {
    p.heads = x[1], p.length = x[2], p.headSize = x[3];
    p.strides = HeadStrides::headMajor(p.heads, p.length, p.headSize);
  } else {
    p.heads = ctx.attributes().getInt("num_heads");
    if (p.heads <= 0) p.heads = rotated > 0 || half == 0 ? 0 : x[2] / (2 * half);
    if (p.heads <= 0 || x[2] % p.heads != 0) {
      return Status(ErrorCode::kBadAttribute, "'num_heads' does not divide the hidden size")
          .expected("a divisor of " + std::to_string(x[2]))
          .found(std::to_string(p.heads));
    }
    p.length = x[1], p.headSize = x[2] / p.heads;
    p.strides = HeadStrides::rowMajor(p.heads, p.length, p.headSize);
  }
  p.rotated = rotated > 0 ? rotated : p.headSize;
  if (p.rotated > p.headSize || p.rotated != 2 * half) {
    return Status(ErrorCode::kShapeMismatch, "The rotated part does not fit the head or the caches")
        .expected("caches of " + std::to_string(p.rotated / 2) + " columns")
        .found(std::to_string(half));
  }
  return p;
}

// Row of the caches for every (batch, position), in scratch memory.
Result<const std::int64_t*> cacheRows(KernelContext& ctx, const RotaryInputs& in, const RotaryProblem& p) {
  auto memory = ctx.scratch<std::int64_t>(p.batch * p.length);
  if (!memory) return memory.status();
  const std::int64_t rows = in.cosines.dims[in.cosines.rank() - 1] == 0
                                ? 0
                                : in.cosines.count() / in.cosines.dims[in.cosines.rank() - 1];
  const std::int64_t given = in.positions.isGiven() ? in.positions.count() : 0;
  const bool offsetOnly = given == 1 && p.batch * p.length != 1;  // one number: where every sequence starts
  const bool shared = in.cosines.rank() == 3 && in.cosines.dims[0] == 1;
  if (in.positions.isGiven() && !offsetOnly && given != p.batch * p.length) {
    return Status(ErrorCode::kShapeMismatch, "The positions do not fit the sequences")
        .expected(dimsText(DimArray{p.batch, p.length}))
        .found(dimsText(in.positions.dims));
  }
  for (std::int64_t i = 0; i < p.batch * p.length; ++i) {
    std::int64_t row = shared ? i % p.length : i;
    if (in.positions.isGiven())
      row = offsetOnly ? intAt(in.positions, 0) + i % p.length : intAt(in.positions, i);
    if (row < 0 || row >= rows) {
      return Status(ErrorCode::kBadIndex, "A position is outside the rotary caches")
          .expected("0 to " + std::to_string(rows - 1))
          .found(std::to_string(row));
    }
    (*memory)[i] = row;
  }
  return static_cast<const std::int64_t*>(*memory);
}

Status rotateHeads(KernelContext& ctx, const RotaryInputs& in) {
  auto problem = rotaryProblem(ctx, in);
  if (!problem) return problem.status();
  const RotaryProblem& p = *problem;
  auto rows = cacheRows(ctx, in, p);
  if (!rows) return rows.status();
  auto cosines = loadAll(ctx, in.cosines);
  if (!cosines) return cosines.status();
  auto sines = loadAll(ctx, in.sines);
  if (!sines) return sines.status();
  auto values = loadAll(ctx, in.x);
  if (!values) return values.status();
  const MutableTensorView y = ctx.output(0);
  const double scale = ctx.attributes().getFloat("scale", 1);
  ctx.threads().parallelFor(p.batch * p.length, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t cache = (*rows)[i] * (p.rotated / 2);
      for (std::int64_t h = 0; h < p.heads; ++h) {
        const std::int64_t at = p.strides.at(i / p.length, h, i % p.length);
        double* row = *values + at;
        rotatePairs(row, p.rotated, p.interleaved, *cosines + cache, *sines + cache);
        if (scale != 1) {
          for (std::int64_t k = 0; k < p.rotated; ++k) row[k] *= scale;
        }
        storeBlock(y, at, p.headSize, row);
      }
    }
  });
  return Status::ok();
}

Status rotaryEmbedding(KernelContext& ctx) {
  return rotateHeads(ctx, {ctx.input(0), ctx.input(1), ctx.input(2), ctx.input(3)});
}
Status rotaryEmbeddingMicrosoft(KernelContext& ctx) {
  return rotateHeads(ctx, {ctx.input(0), ctx.input(2), ctx.input(3), ctx.input(1)});
}

const RegisterKernel kRotaryEmbedding("", "RotaryEmbedding", rotaryEmbedding);
const RegisterKernel kRotaryEmbeddingMicrosoft("com.microsoft", "RotaryEmbedding", rotaryEmbeddingMicrosoft);

}  // namespace

}  // namespace rota::ref
