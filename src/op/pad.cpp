// SPDX-License-Identifier: Apache-2.0
// Pad: elements added or, with negative pads, removed at both ends of axes.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include <limits>

#include "op/movement_common.h"

namespace rota::op {
namespace {

/// Contents of a padded vector, where the padding is a constant.
void padContents(InferContext& ctx, const std::vector<Size>& pads) {
  const auto count = contentsCount(ctx.inputShape(0));
  if (!count || ctx.inputShape(0).rank() != 1 || ctx.attributes().getString("mode", "constant") != "constant")
    return;
  if (pads.size() != 2 || !pads[0].isConstant() || !pads[1].isConstant()) return;
  Size fill;
  if (ctx.hasInput(2)) {
    const auto value = ctx.contents(2);
    if (!value || value->size() != 1) return;
    fill = value->front();
  }
  const std::int64_t begin = *pads[0].constant();
  std::vector<std::int64_t> places;
  for (std::int64_t i = -begin;
       i < *count + *pads[1].constant() && static_cast<std::int64_t>(places.size()) <= kMaxContents; ++i) {
    places.push_back(i >= 0 && i < *count ? i : -1);
  }
  moveContents(ctx, 0, 0, places, fill);
}

Status inferPad(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) return inferUnknownShape(ctx);
  std::optional<std::vector<Size>> pads;
  if (const auto* attribute = ctx.attributes().getInts("pads")) {
    pads.emplace(attribute->begin(), attribute->end());
  } else {
    const std::int64_t most = std::numeric_limits<std::int32_t>::max();
    pads = ctx.contentsOrResolve(1, {-most, most});
  }
  const Axes axes = axesOf(ctx, 3);
  if (!pads || !axes.known) {
    ctx.setOutput(0, ctx.inputDtype(0), foundShape(ctx, "dim", shape.rank()));
    return Status::ok();
  }
  std::vector<std::int64_t> values = axes.values;
  if (!axes.given) {
    for (std::size_t i = 0; i < shape.rank(); ++i) values.push_back(static_cast<std::int64_t>(i));
  }
  auto chosen = normaliseAxes(ctx, values, shape.rank());
  if (!chosen) return chosen.status();
  if (pads->size() != 2 * chosen->size()) {
    return ctx.error(ErrorCode::kShapeMismatch, "Pads need two entries per axis",
                     std::to_string(2 * chosen->size()) + " entries", std::to_string(pads->size()));
  }
  std::vector<Size> dims = shape.dims;
  for (std::size_t i = 0; i < chosen->size(); ++i) {
    Size& size = dims[(*chosen)[i]];
    size = size + (*pads)[i] + (*pads)[i + chosen->size()];
    if (size.isConstant() && *size.constant() < 0) {
      return ctx.error(ErrorCode::kShapeMismatch, "Negative pads remove more than the axis has",
                       "a size of 0 or more", std::to_string(*size.constant()));
    }
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  padContents(ctx, *pads);
  return Status::ok();
}

const Register kRegisterPad(Definition{
    .name = "Pad",
    .versions = {2, 11, 13, 18, 19, 21, 23, 24, 25},
    .doc = "Adds elements before and after the named axes: a constant, the mirror image (without the edge "
           "itself), the edge element, or the other end "
           "of the axis (wrap). Negative pads remove elements first. Pads are an attribute in version 2 and "
           "an input from version 11 on.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T"},
               {.name = "pads", .option = FormalOption::kOptional},
               {.name = "constant_value", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "axes", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "mode", .type = AttributeType::kString},
                   {.name = "pads", .type = AttributeType::kInts},
                   {.name = "value", .type = AttributeType::kFloat}},
    .infer = inferPad,
});

}  // namespace
}  // namespace rota::op
