// SPDX-License-Identifier: Apache-2.0
// Output sizes of sliding windows; see window_common.h. Tested by src/op/window_test.cpp.
#include "op/window_common.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace rota::op {

Result<std::vector<std::int64_t>> windowAttribute(const InferContext& ctx, std::string_view name,
                                                  std::size_t count, std::int64_t fallback,
                                                  std::int64_t least) {
  const auto* given = ctx.attributes().getInts(name);
  if (given == nullptr || given->empty()) return std::vector<std::int64_t>(count, fallback);
  if (given->size() != count) {
    return ctx.error(ErrorCode::kBadAttribute,
                     "Attribute '" + std::string(name) + "' has the wrong number of values",
                     std::to_string(count), std::to_string(given->size()));
  }
  const std::int64_t smallest = *std::min_element(given->begin(), given->end());
  if (smallest < least) {
    return ctx.error(ErrorCode::kBadAttribute,
                     "Attribute '" + std::string(name) + "' has a value that is too small",
                     "at least " + std::to_string(least), std::to_string(smallest));
  }
  return *given;
}

Result<std::string_view> autoPadOf(const InferContext& ctx) {
  const std::string_view value = ctx.attributes().getString("auto_pad", "NOTSET");
  if (value.empty()) return std::string_view("NOTSET");
  for (const std::string_view known : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}) {
    if (value == known) return known;
  }
  return ctx.error(ErrorCode::kBadAttribute, "Attribute 'auto_pad' has an unknown value",
                   "NOTSET, SAME_UPPER, SAME_LOWER or VALID", std::string(value));
}

Result<std::vector<Size>> windowOutput(InferContext& ctx, std::span<const Size> in,
                                       std::span<const Size> kernel) {
  const std::size_t rank = in.size();
  auto strides = windowAttribute(ctx, "strides", rank, 1, 1);
  if (!strides) return strides.status();
  auto dilations = windowAttribute(ctx, "dilations", rank, 1, 1);
  if (!dilations) return dilations.status();
  auto autoPad = autoPadOf(ctx);
  if (!autoPad) return autoPad.status();
  std::vector<std::int64_t> pads(2 * rank, 0);
  if (*autoPad == "NOTSET") {
    auto given = windowAttribute(ctx, "pads", 2 * rank, 0, 0);
    if (!given) return given.status();
    pads = *std::move(given);
  }
  const bool ceilMode = ctx.attributes().getInt("ceil_mode") != 0 && *autoPad == "NOTSET";

  std::vector<Size> out;
  for (std::size_t d = 0; d < rank; ++d) {
    const Size stride = (*strides)[d];
    if (*autoPad == "SAME_UPPER" || *autoPad == "SAME_LOWER") {
      out.push_back(ceilDiv(in[d], stride));
      continue;
    }
    const Size extent = (kernel[d] - 1) * Size((*dilations)[d]) + 1;
    const Size room = in[d] + pads[d] + pads[rank + d] - extent;
    // With ceil_mode the last window may hang over, but it must start inside the input or the padding before it.
    const Size count = ceilMode ? min(ceilDiv(room, stride) + 1, ceilDiv(in[d] + pads[d], stride))
                                : floorDiv(room, stride) + 1;
    if (const auto value = count.constant(); value && *value < 0) {
      return ctx.error(ErrorCode::kShapeMismatch,
                       "The window is larger than the padded input along spatial axis " + std::to_string(d),
                       "an extent of at most " + ctx.sizes().toString(in[d] + pads[d] + pads[rank + d]),
                       ctx.sizes().toString(extent));
    }
    out.push_back(count);
  }
  return out;
}

Result<ir::Shape> convOutputShape(InferContext& ctx, std::size_t x, std::size_t w) {
  const ir::Shape& image = ctx.inputShape(x);
  const ir::Shape& filters = ctx.inputShape(w);
  if (!image.known || !filters.known) return ir::Shape::unknown();
  if (image.rank() < 3 || filters.rank() != image.rank()) {
    return ctx.error(ErrorCode::kShapeMismatch, "Input and filters must have the same rank of at least 3",
                     "X [N, C, …] and W [M, C / group, …]",
                     "ranks " + std::to_string(image.rank()) + " and " + std::to_string(filters.rank()));
  }
  const std::int64_t group = ctx.attributes().getInt("group", 1);
  if (group < 1)
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'group' is too small", "at least 1",
                     std::to_string(group));
  ROTA_RETURN_IF_ERROR(ctx.requireEqual(image.dims[1], filters.dims[1] * Size(group),
                                        "the channels of X are those of W times the groups"));
  if (const auto count = filters.dims[0].constant(); count && *count % group != 0) {
    return ctx.error(ErrorCode::kShapeMismatch, "The number of filters is not a multiple of the groups",
                     "a multiple of " + std::to_string(group), std::to_string(*count));
  }
  const std::span<const Size> kernel = std::span(filters.dims).subspan(2);
  if (const auto* given = ctx.attributes().getInts("kernel_shape"); given != nullptr && !given->empty()) {
    if (given->size() != kernel.size()) {
      return ctx.error(ErrorCode::kBadAttribute, "Attribute 'kernel_shape' has the wrong number of values",
                       std::to_string(kernel.size()), std::to_string(given->size()));
    }
    for (std::size_t d = 0; d < kernel.size(); ++d) {
      ROTA_RETURN_IF_ERROR(
          ctx.requireEqual(kernel[d], Size((*given)[d]), "'kernel_shape' gives the spatial sizes of W"));
    }
  }
  auto spatial = windowOutput(ctx, std::span(image.dims).subspan(2), kernel);
  if (!spatial) return spatial.status();
  std::vector<Size> dims{image.dims[0], filters.dims[0]};
  dims.insert(dims.end(), spatial->begin(), spatial->end());
  return ir::Shape::of(std::move(dims));
}

Result<ir::Shape> poolOutputShape(InferContext& ctx) {
  const ir::Shape& image = ctx.inputShape(0);
  if (!image.known) return ir::Shape::unknown();
  if (image.rank() < 3) {
    return ctx.error(ErrorCode::kShapeMismatch, "A pool needs at least one spatial axis",
                     "[N, C, …] of rank 3 or more", "rank " + std::to_string(image.rank()));
  }
  auto kernel = windowAttribute(ctx, "kernel_shape", image.rank() - 2, 0, 1);
  if (!kernel) return kernel.status();
  if (ctx.attributes().getInts("kernel_shape") == nullptr) {
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'kernel_shape' is missing",
                     "one value for each spatial axis");
  }
  const std::vector<Size> kernelSizes(kernel->begin(), kernel->end());
  auto spatial = windowOutput(ctx, std::span(image.dims).subspan(2), kernelSizes);
  if (!spatial) return spatial.status();
  std::vector<Size> dims{image.dims[0], image.dims[1]};
  dims.insert(dims.end(), spatial->begin(), spatial->end());
  return ir::Shape::of(std::move(dims));
}

Status inferPool(InferContext& ctx) {
  auto shape = poolOutputShape(ctx);
  if (!shape) return shape.status();
  ctx.setOutput(0, ctx.inputDtype(0), *std::move(shape));
  return Status::ok();
}

Status inferGlobalPool(InferContext& ctx) {
  const ir::Shape& image = ctx.inputShape(0);
  if (!image.known) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  if (image.rank() < 2) {
    return ctx.error(ErrorCode::kShapeMismatch, "A global pool needs batch and channels", "[N, C, …]",
                     "rank " + std::to_string(image.rank()));
  }
  std::vector<Size> dims(image.rank(), Size(1));
  dims[0] = image.dims[0];
  dims[1] = image.dims[1];
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

std::vector<AttributeFormal> windowAttributes(std::vector<AttributeFormal> more) {
  std::vector<AttributeFormal> all = {{.name = "auto_pad", .type = AttributeType::kString},
                                      {.name = "dilations", .type = AttributeType::kInts},
                                      {.name = "kernel_shape", .type = AttributeType::kInts},
                                      {.name = "pads", .type = AttributeType::kInts},
                                      {.name = "strides", .type = AttributeType::kInts}};
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

}  // namespace rota::op
