// SPDX-License-Identifier: Apache-2.0
// Resize. Sizes follow from constant scales where these are dyadic (2, 0.5, 1.5, ...) or the axis is constant; other scales of symbolic axes and
// computed scales leave the size to the kernel. The aspect ratio policies stay expressions: rounding is monotone, so the least rounded size is
// the rounded least one.
// Tested by src/op/resize_test.cpp and the node cases of tests/conformance.
#include "op/resize_common.h"

namespace rota::op {
namespace {

/// out of in axes under not_larger or not_smaller: min or max over k of floor((2 in wanted_k + in_k) / (2 in_k)).
Size aspectSize(InferContext& ctx, Size in, const std::vector<Size>& wanted, const std::vector<Size>& sizes,
                bool notLarger) {
  std::optional<Size> result;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const Size size = floorDiv(in * wanted[k] * 2 + sizes[k], sizes[k] * 2);
    if (!result) {
      result = size;
    } else {
      result = notLarger ? smallerOf(ctx, *result, size) : largerOf(ctx, *result, size);
    }
  }
  return *result;
}

Status resizeBySizes(InferContext& ctx, const std::vector<std::size_t>& axes, std::vector<Size>& dims) {
  const auto sizes = ctx.contentsOrResolve(3, {});
  if (!sizes) {
    for (const std::size_t axis : axes) dims[axis] = ctx.dataDependent("size" + std::to_string(axis), {});
    return Status::ok();
  }
  if (sizes->size() != axes.size()) {
    return ctx.error(ErrorCode::kShapeMismatch, "Sizes need one entry per axis",
                     std::to_string(axes.size()) + " entries", std::to_string(sizes->size()));
  }
  const std::string_view policy = ctx.attributes().getString("keep_aspect_ratio_policy", "stretch");
  std::vector<Size> in;
  for (const std::size_t axis : axes) in.push_back(dims[axis]);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    dims[axes[i]] =
        policy == "stretch" ? (*sizes)[i] : aspectSize(ctx, in[i], *sizes, in, policy == "not_larger");
  }
  return Status::ok();
}

Status inferResize(InferContext& ctx) {
  const bool simple = ctx.version() < 11;
  ROTA_RETURN_IF_ERROR(checkResizeAttributes(ctx, simple));
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) return inferUnknownShape(ctx);
  std::vector<std::int64_t> values;
  if (const auto* given = ctx.attributes().getInts("axes")) {
    values = *given;
  } else {
    for (std::size_t i = 0; i < shape.rank(); ++i) values.push_back(static_cast<std::int64_t>(i));
  }
  auto axes = normaliseAxes(ctx, values, shape.rank());
  if (!axes) return axes.status();
  std::vector<Size> dims = shape.dims;
  // An empty tensor for scales or sizes stands for "not given" in old exports.
  const auto isEmpty = [&ctx](std::size_t i) {
    return !ctx.hasInput(i) ||
           (ctx.inputShape(i).known && ctx.inputShape(i).rank() == 1 && ctx.inputShape(i).dims[0].is(0));
  };
  if (!simple && !isEmpty(3)) {
    if (!isEmpty(2))
      return ctx.error(ErrorCode::kShapeMismatch, "Scales and sizes are given", "one of them", "both");
    ROTA_RETURN_IF_ERROR(resizeBySizes(ctx, *axes, dims));
  } else {
    const std::size_t scales = simple ? 1 : 2;
    if (isEmpty(scales))
      return ctx.error(ErrorCode::kMissingInput, "Resize needs scales or sizes", "one of them", "neither");
    const bool crops = ctx.attributes().getString("coordinate_transformation_mode") == "tf_crop_and_resize";
    ROTA_RETURN_IF_ERROR(resizeByScales(ctx, scales, *axes, crops && !simple, dims));
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterResize(Definition{
    .name = "Resize",
    .versions = {10, 11, 13, 18, 19},
    .doc = "Resamples a tensor along its axes to given sizes or by given scales: the nearest element, linear "
           "or cubic interpolation, with a choice of "
           "how coordinates of the result map to the input, and optionally with a filter against aliasing "
           "when shrinking. Integer results round "
           "half to even and saturate.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "roi", .option = FormalOption::kOptional},
               {.name = "scales", .option = FormalOption::kOptional},
               {.name = "sizes", .option = FormalOption::kOptional}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "antialias"},
                   {.name = "axes", .type = AttributeType::kInts},
                   {.name = "coordinate_transformation_mode", .type = AttributeType::kString},
                   {.name = "cubic_coeff_a", .type = AttributeType::kFloat},
                   {.name = "exclude_outside"},
                   {.name = "extrapolation_value", .type = AttributeType::kFloat},
                   {.name = "keep_aspect_ratio_policy", .type = AttributeType::kString},
                   {.name = "mode", .type = AttributeType::kString},
                   {.name = "nearest_mode", .type = AttributeType::kString}},
    .infer = inferResize,
});

}  // namespace
}  // namespace rota::op
