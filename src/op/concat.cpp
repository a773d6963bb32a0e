// SPDX-License-Identifier: Apache-2.0
// Concat: tensors joined along one axis.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "op/movement_common.h"

namespace rota::op {
namespace {

/// Contents of the joined tensor: pieces of [axis, inner] in turn for every outer index. Elements of an input of unknown contents stay unknown.
void joinContents(InferContext& ctx, std::size_t axis) {
  std::vector<std::vector<Size>> parts;
  std::vector<std::size_t> pieces;
  std::size_t total = 0;
  std::size_t outer = 1;
  bool any = false;
  for (std::size_t i = 0; i < ctx.inputCount(); ++i) {
    const auto dims = staticDims(ctx.inputShape(i));
    const auto count = contentsCount(ctx.inputShape(i));
    if (!dims || !count) return;
    auto contents = partialContents(ctx, i);
    any = any || contents;
    if (!contents) contents.emplace(static_cast<std::size_t>(*count), Size::invalid());
    outer = 1;
    for (std::size_t a = 0; a < axis; ++a) outer *= static_cast<std::size_t>((*dims)[a]);
    pieces.push_back(outer == 0 ? 0 : contents->size() / outer);
    total += contents->size();
    parts.push_back(std::move(*contents));
  }
  if (!any || static_cast<std::int64_t>(total) > kMaxContents) return;
  std::vector<Size> joined;
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto begin = parts[i].begin() + static_cast<std::ptrdiff_t>(o * pieces[i]);
      joined.insert(joined.end(), begin, begin + static_cast<std::ptrdiff_t>(pieces[i]));
    }
  }
  ctx.setContents(0, std::move(joined));
}

Status inferConcat(InferContext& ctx) {
  const ir::Shape* known = nullptr;
  bool allKnown = true;
  for (std::size_t i = 0; i < ctx.inputCount(); ++i) {
    if (!ctx.hasInput(i))
      return ctx.error(ErrorCode::kMissingInput, "An input of Concat is left out", "all inputs", "none");
    if (ctx.inputShape(i).known) known = &ctx.inputShape(i);
    allKnown = allKnown && ctx.inputShape(i).known;
  }
  if (known == nullptr) return inferUnknownShape(ctx);
  auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis", 1), known->rank());
  if (!axis) return axis.status();
  if (!allKnown) {
    ctx.setOutput(0, ctx.inputDtype(0), foundShape(ctx, "dim", known->rank()));
    return Status::ok();
  }
  std::vector<Size> dims = ctx.inputShape(0).dims;
  for (std::size_t i = 1; i < ctx.inputCount(); ++i) {
    const ir::Shape& shape = ctx.inputShape(i);
    if (shape.rank() != dims.size()) {
      return ctx.error(ErrorCode::kShapeMismatch, "The inputs of Concat differ in rank",
                       "rank " + std::to_string(dims.size()),
                       "rank " + std::to_string(shape.rank()) + " of input " + std::to_string(i));
    }
    for (std::size_t a = 0; a < dims.size(); ++a) {
      if (a == *axis) {
        dims[a] = dims[a] + shape.dims[a];
        continue;
      }
      ROTA_RETURN_IF_ERROR(ctx.requireEqual(
          dims[a], shape.dims[a],
          "axis " + std::to_string(a) + " of inputs 0 and " + std::to_string(i) + " is not joined"));
      if (shape.dims[a].isConstant()) dims[a] = shape.dims[a];
    }
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  joinContents(ctx, *axis);
  return Status::ok();
}

const Register kRegisterConcat(Definition{
    .name = "Concat",
    .versions = {4, 11, 13},
    .doc = "Joins tensors along one axis; off that axis their sizes are the same.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "inputs", .option = FormalOption::kVariadic, .typeVariable = "T"}},
    .outputs = {{.name = "concat_result", .typeVariable = "T"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt, .required = true}},
    .infer = inferConcat,
});

}  // namespace
}  // namespace rota::op
