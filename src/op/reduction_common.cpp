// SPDX-License-Identifier: Apache-2.0
// Inference of operators that fold axes; see reduction_common.h. Tested by src/op/reduction_test.cpp.
#include "op/reduction_common.h"

#include <algorithm>

#include "core/check.h"
#include "op/common.h"

namespace rota::op {

namespace {

/// Which dims are folded.
std::vector<bool> foldedDims(const InferContext& ctx, const std::vector<std::size_t>& axes,
                             std::size_t rank) {
  const bool isNoop = ctx.attributes().getInt("noop_with_empty_axes", 0) != 0;
  std::vector<bool> folded(rank, axes.empty() && !isNoop);
  for (const std::size_t axis : axes) folded[axis] = true;
  return folded;
}

ir::Shape foldShape(const ir::Shape& shape, const std::vector<bool>& folded, bool keepDims) {
  std::vector<Size> dims;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (!folded[d]) {
      dims.push_back(shape.dims[d]);
    } else if (keepDims) {
      dims.emplace_back(1);
    }
  }
  return ir::Shape::of(std::move(dims));
}

/// The axes come from data: with keepdims every dim is either itself or 1, without it the rank is open unless the number of axes is known.
Status inferReductionByData(InferContext& ctx, bool keepDims) {
  const ir::Shape shape = ctx.inputShape(0);
  if (!keepDims) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  std::vector<Size> dims;
  for (const Size& dim : shape.dims) {
    const SizeRange range = ctx.sizes().range(dim);
    dims.push_back(dim.is(1) ? dim
                             : ctx.dataDependent("reduced", {std::min<std::int64_t>(range.lo, 1),
                                                             std::max<std::int64_t>(range.hi, 1)}));
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

}  // namespace

Status inferReduction(InferContext& ctx) {
  const bool keepDims = ctx.attributes().getInt("keepdims", 1) != 0;
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  const Axes axes = axesOf(ctx, 1);
  if (!axes.known) return inferReductionByData(ctx, keepDims);
  const auto normalised = normaliseAxes(ctx, axes.values, shape.rank());
  if (!normalised) return normalised.status();
  ctx.setOutput(0, ctx.inputDtype(0), foldShape(shape, foldedDims(ctx, *normalised, shape.rank()), keepDims));
  return Status::ok();
}

Status inferArgReduction(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  const bool keepDims = ctx.attributes().getInt("keepdims", 1) != 0;
  if (!shape.known) {
    ctx.setOutput(0, DType::kInt64, ir::Shape::unknown());
    return Status::ok();
  }
  const auto axis =
      normaliseAxis(ctx, ctx.attributes().getInt("axis", 0), std::max<std::size_t>(1, shape.rank()));
  if (!axis) return axis.status();
  std::vector<bool> folded(std::max<std::size_t>(1, shape.rank()), false);
  folded[*axis] = true;
  ctx.setOutput(0, DType::kInt64, foldShape(shape, folded, keepDims));
  return Status::ok();
}

Status inferSoftmax(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (shape.known && shape.rank() > 0) {
    const bool isFlat = ctx.version() < 13;
    const std::int64_t axis = ctx.attributes().getInt("axis", isFlat ? 1 : -1);
    // Operator sets below 13 count the end as an axis.
    if (!isFlat || axis != static_cast<std::int64_t>(shape.rank())) {
      const auto normalised = normaliseAxis(ctx, axis, shape.rank());
      if (!normalised) return normalised.status();
    }
  }
  return inferSameAsFirst(ctx);
}

std::vector<std::int64_t> softmaxAxes(Expansion& e, const ir::Node& node) {
  const bool isFlat = node.version < 13;
  const std::int64_t axis = node.attributes.getInt("axis", isFlat ? 1 : -1);
  std::vector<std::int64_t> axes = e.axesFrom(node.inputs[0], axis);
  if (!isFlat && !axes.empty()) axes.resize(1);
  return axes;
}

void propagateReduction(InferContext& ctx, Size (*f)(Size a, Size b)) {
  const ir::Shape& shape = ctx.inputShape(0);
  const auto contents = ctx.contents(0);
  if (!contents || contents->empty() || !shape.known || shape.rank() > 1) return;
  const Axes axes = axesOf(ctx, 1);
  if (!axes.known) return;
  const bool isNoop = axes.values.empty() && ctx.attributes().getInt("noop_with_empty_axes", 0) != 0;
  if (isNoop || shape.rank() == 0) {
    ctx.setContents(0, *contents);
    return;
  }
  Size result = contents->front();
  for (std::size_t i = 1; i < contents->size(); ++i) result = f(result, (*contents)[i]);
  if (result.isValid()) ctx.setContents(0, {result});
}

SoftmaxParts softmaxParts(Expansion& e, const ir::Node& node) {
  ir::Value* x = e.cast(node.inputs[0], Expansion::sumType(node.inputs[0]->type.dtype));
  const auto axes = softmaxAxes(e, node);
  const std::vector<std::pair<std::string, Attribute>> overAxes{{"axes", axes},
                                                                {"noop_with_empty_axes", std::int64_t{1}}};
  SoftmaxParts parts;
  parts.shifted = e.add("Sub", {x, e.add("ReduceMax", {x}, overAxes)});
  parts.exponential = e.add("Exp", {parts.shifted});
  parts.sum = e.add("ReduceSum", {parts.exponential}, overAxes);
  return parts;
}

Definition argReductionDefinition(std::string name, std::string doc) {
  return {.domain = "",
          .name = std::move(name),
          .versions = {1, 11, 12, 13},
          .doc = std::move(doc),
          .kind = Kind::kReduction,
          .inputs = {{.name = "data", .typeVariable = "T"}},
          .outputs = {{.name = "reduced"}},
          .attributes = {{.name = "axis", .type = AttributeType::kInt},
                         {.name = "keepdims", .type = AttributeType::kInt},
                         {.name = "select_last_index", .type = AttributeType::kInt}},
          .infer = inferArgReduction};
}

Definition extremeDefinition(std::string name, std::string doc, InferFunction infer) {
  return {
      .domain = "",
      .name = std::move(name),
      .versions = {1, 11, 12, 13, 18, 20},
      .doc = std::move(doc),
      .kind = Kind::kReduction,
      .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "axes", .option = FormalOption::kOptional}},
      .outputs = {{.name = "reduced", .typeVariable = "T"}},
      .attributes = {{.name = "axes", .type = AttributeType::kInts},
                     {.name = "keepdims", .type = AttributeType::kInt},
                     {.name = "noop_with_empty_axes", .type = AttributeType::kInt}},
      .infer = infer};
}

}  // namespace rota::op
