// SPDX-License-Identifier: Apache-2.0
// Unsqueeze: new axes of size 1, counted in the result.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferUnsqueeze(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  const Axes axes = axesOf(ctx, 1);
  if (!axes.given) {
    return ctx.error(ErrorCode::kMissingInput, "Unsqueeze does not say which axes to add",
                     "attribute or input 'axes'", "neither");
  }
  if (!shape.known) return inferUnknownShape(ctx);
  if (!axes.known) {
    const auto count = contentsCount(ctx.inputShape(1));
    if (!count) return inferUnknownShape(ctx);
    ctx.setOutput(0, ctx.inputDtype(0),
                  foundShape(ctx, "dim", shape.rank() + static_cast<std::size_t>(*count)));
    passContents(ctx);
    return Status::ok();
  }
  const std::size_t rank = shape.rank() + axes.values.size();
  auto chosen = normaliseAxes(ctx, axes.values, rank);
  if (!chosen) return chosen.status();
  std::vector<Size> dims;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool isNew = std::find(chosen->begin(), chosen->end(), i) != chosen->end();
    dims.push_back(isNew ? Size(1) : shape.dims[next++]);
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  passContents(ctx);
  return Status::ok();
}

const Register kRegisterUnsqueeze(Definition{
    .name = "Unsqueeze",
    .versions = {1, 11, 13, 21, 23, 24, 25},
    .doc = "Adds axes of size 1 at the named places of the result. The axes are an attribute before version "
           "13 and an input from then on.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "axes", .option = FormalOption::kOptional}},
    .outputs = {{.name = "expanded", .typeVariable = "T"}},
    .attributes = {{.name = "axes", .type = AttributeType::kInts}},
    .infer = inferUnsqueeze,
    .keepsOrder = true,
});

}  // namespace
}  // namespace rota::op
