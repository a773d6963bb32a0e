// SPDX-License-Identifier: Apache-2.0
// Expand: two-way broadcasting of a tensor with a shape.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "op/movement_common.h"

namespace rota::op {
namespace {

bool isHostResolved(InferContext& ctx, Size size) {
  for (const SymbolId id : ctx.sizes().symbolsOf(size)) {
    if (ctx.sizes().symbols()[id].origin == SymbolOrigin::kHostResolved) return true;
  }
  return false;
}

/// Size of a (in the tensor) broadcast with b (in the shape).
Result<Size> expandedSize(InferContext& ctx, Size a, Size b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  // What only the data knows gets no guard: it may be 1 in one request and not in the next. For every legal pair the result is the larger
  // size, or 0 where one is 0.
  if (isHostResolved(ctx, a) || isHostResolved(ctx, b)) {
    if (a.isConstant()) return isAtLeast(ctx, a, 2) ? a : Size();
    if (b.isConstant()) return isAtLeast(ctx, b, 2) ? b : Size();
    return largerOf(ctx, a, b) * smallerOf(ctx, 1, smallerOf(ctx, a, b));
  }
  const std::vector<std::vector<Size>> shapes{{a}, {b}};
  auto both = ctx.broadcast(shapes);
  if (!both) return both.status();
  return both->front();
}

Status inferExpand(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  const auto target = ctx.contentsOrResolve(1, {});
  if (!shape.known || !target) return inferUnknownShape(ctx);
  const std::size_t rank = std::max(shape.rank(), target->size());
  std::vector<Size> dims;
  for (std::size_t i = 0; i < rank; ++i) {
    const Size a = i + shape.rank() < rank ? Size(1) : shape.dims[i + shape.rank() - rank];
    const Size b = i + target->size() < rank ? Size(1) : (*target)[i + target->size() - rank];
    auto size = expandedSize(ctx, a, b);
    if (!size) return size.status();
    dims.push_back(*size);
  }
  const ir::Shape result = ir::Shape::of(std::move(dims));
  ctx.setOutput(0, ctx.inputDtype(0), result);
  const auto in = staticDims(shape);
  const auto out = staticDims(result);
  if (in && out && contentsCount(shape) && contentsCount(result)) {
    const auto inStrides = rowMajorStrides(*in);
    std::vector<std::int64_t> strides(rank, 0);
    for (std::size_t i = 0; i < in->size(); ++i) {
      if ((*in)[i] != 1) strides[i + rank - in->size()] = inStrides[i];
    }
    moveContents(ctx, 0, 0, stridedPlaces(*out, strides, 0));
  }
  return Status::ok();
}

const Register kRegisterExpand(Definition{
    .name = "Expand",
    .versions = {8, 13},
    .doc = "Broadcasts a tensor with a shape by the rules of NumPy: axes of size 1 are repeated, and either "
           "side may be the larger one.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T"}, {.name = "shape"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .infer = inferExpand,
});

}  // namespace
}  // namespace rota::op
