// SPDX-License-Identifier: Apache-2.0
// Range: numbers from start to limit in steps of delta.
// Tested by src/op/generate_test.cpp and the node cases of tests/conformance.
#include <algorithm>
#include <cmath>
#include <limits>

#include "op/movement_common.h"

namespace rota::op {
namespace {

/// The number of elements when all three numbers are float constants.
std::optional<Size> realCount(InferContext& ctx) {
  double numbers[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const Tensor* constant = ctx.constant(i);
    if (constant == nullptr || constant->count() != 1) return std::nullopt;
    numbers[i] = realAt(constant->view(), 0);
  }
  const double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
  if (!(count < 9e15)) return std::nullopt;
  return Size(static_cast<std::int64_t>(std::max(count, 0.0)));
}

std::optional<Size> scalarContent(InferContext& ctx, std::size_t i) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto contents = ctx.contentsOrResolve(i, {-most, most});
  if (!contents || contents->size() != 1) return std::nullopt;
  return contents->front();
}

Status inferRange(InferContext& ctx) {
  const DType dtype = ctx.inputDtype(0);
  const bool whole = isInteger(dtype) || (ctx.contents(0) && ctx.contents(1) && ctx.contents(2));
  if (!whole) {
    const auto count = realCount(ctx);
    ctx.setOutput(0, dtype, ir::Shape::of({count ? *count : ctx.dataDependent("length", {})}));
    return Status::ok();
  }
  const auto start = scalarContent(ctx, 0);
  const auto limit = scalarContent(ctx, 1);
  const auto delta = scalarContent(ctx, 2);
  if (!start || !limit || !delta || !delta->isConstant()) {
    ctx.setOutput(0, dtype, ir::Shape::of({ctx.dataDependent("length", {})}));
    return Status::ok();
  }
  const std::int64_t step = *delta->constant();
  if (step == 0)
    return ctx.error(ErrorCode::kDivisionByZero, "The step of a Range is 0", "another step", "0");
  const Size count = largerOf(ctx, step == 1 ? *limit - *start : ceilDiv(*limit - *start, *delta), 0);
  if (!count.isValid()) {
    ctx.setOutput(0, dtype, ir::Shape::of({ctx.dataDependent("length", {})}));
    return Status::ok();
  }
  ctx.setOutput(0, dtype, ir::Shape::of({count}));
  if (count.isConstant() && *count.constant() <= kMaxContents) {
    std::vector<Size> contents;
    for (std::int64_t i = 0; i < *count.constant(); ++i) contents.push_back(*start + Size(i) * step);
    ctx.setContents(0, std::move(contents));
  }
  return Status::ok();
}

const Register kRegisterRange(Definition{
    .name = "Range",
    .versions = {11, 27},
    .doc = "The numbers start, start + delta, start + 2 delta, ... before limit. Floats are computed in "
           "double and rounded once. A delta of 0 is an "
           "error.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "start", .typeVariable = "T"},
               {.name = "limit", .typeVariable = "T"},
               {.name = "delta", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "stash_type"}},
    .infer = inferRange,
});

}  // namespace
}  // namespace rota::op
