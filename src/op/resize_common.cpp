// SPDX-License-Identifier: Apache-2.0
// Shared inference of Resize and Upsample; see resize_common.h.
#include "op/resize_common.h"

#include <cmath>

#include "ref/resize_plan.h"

namespace rota::op {
namespace {

/// The scales, when they are constant.
std::optional<std::vector<float>> constantScales(InferContext& ctx, std::size_t input) {
  if (const auto* floats = ctx.attributes().getFloats("scales")) return *floats;
  const Tensor* constant = ctx.hasInput(input) ? ctx.constant(input) : nullptr;
  if (constant == nullptr) return std::nullopt;
  std::vector<float> scales;
  for (std::int64_t i = 0; i < constant->count(); ++i)
    scales.push_back(static_cast<float>(realAt(constant->view(), i)));
  return scales;
}

/// floor(size * scale) for a symbolic size and a scale of the form m / 2^k with small m.
std::optional<Size> scaledSymbol(Size size, float scale) {
  for (std::int64_t power = 1; power <= 64; power *= 2) {
    const float numerator = scale * static_cast<float>(power);
    if (numerator != std::floor(numerator)) continue;
    if (numerator > 4096) return std::nullopt;
    return floorDiv(size * static_cast<std::int64_t>(numerator), power);
  }
  return std::nullopt;
}

}  // namespace

Status checkResizeAttributes(InferContext& ctx, bool simple) {
  const auto options = ref::resizeOptions(ctx.attributes(), simple);
  if (!options) {
    const ErrorDetail& detail = options.status().detail();
    return ctx.error(detail.code, detail.message, detail.expected, detail.found);
  }
  return Status::ok();
}

Status resizeByScales(InferContext& ctx, std::size_t scalesInput, const std::vector<std::size_t>& axes,
                      bool crops, std::vector<Size>& dims) {
  const auto scales = constantScales(ctx, scalesInput);
  const Tensor* region = crops && ctx.hasInput(1) ? ctx.constant(1) : nullptr;
  if (scales && scales->size() != axes.size()) {
    return ctx.error(ErrorCode::kShapeMismatch, "Scales need one entry per axis",
                     std::to_string(axes.size()) + " entries", std::to_string(scales->size()));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Size& size = dims[axes[i]];
    const std::string name = "size" + std::to_string(axes[i]);
    if (!scales || (crops && region == nullptr)) {
      size = ctx.dataDependent(name, {});
      continue;
    }
    const float scale = (*scales)[i];
    if (!(scale > 0) || !std::isfinite(scale)) {
      return ctx.error(ErrorCode::kShapeMismatch, "A scale must be a positive number", "more than 0",
                       std::to_string(scale));
    }
    if (crops && region->count() != static_cast<std::int64_t>(2 * axes.size())) {
      return ctx.error(ErrorCode::kShapeMismatch,
                       "tf_crop_and_resize needs the start and end of a region for each axis",
                       std::to_string(2 * axes.size()) + " numbers", std::to_string(region->count()));
    }
    const double extent = crops ? realAt(region->view(), static_cast<std::int64_t>(i + axes.size())) -
                                      realAt(region->view(), static_cast<std::int64_t>(i))
                                : 1;
    if (size.isConstant()) {
      size = ref::scaledSize(*size.constant(), static_cast<float>(extent), scale);
    } else if (scale != 1 || extent != 1) {
      const auto scaled = extent == 1 ? scaledSymbol(size, scale) : std::nullopt;
      size = scaled ? *scaled : ctx.dataDependent(name, {});
    }
  }
  return Status::ok();
}

}  // namespace rota::op
