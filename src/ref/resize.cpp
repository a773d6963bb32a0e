// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Resize and Upsample. Interpolation is separable, so linear and cubic go axis by axis through double buffers and round
// once at the end; to integers they round half to even and saturate. Nearest moves elements as they are. Tested by src/op/resize_test.cpp.
#include <algorithm>
#include <cmath>

#include "core/checked.h"
#include "core/element_access.h"
#include "ref/complex_parts.h"
#include "ref/movement_common.h"
#include "ref/resize_plan.h"

namespace rota::ref {
namespace {

using ResizeAxes = std::array<ResizeAxis, kMaxRank>;

/// Scales from attribute (Upsample 7) or from the input at `scalesInput`.
float scaleAt(const KernelContext& context, std::size_t scalesInput, std::size_t i) {
  if (const auto* floats = context.attributes().getFloats("scales")) return (*floats)[i];
  return static_cast<float>(realAt(context.input(scalesInput), static_cast<std::int64_t>(i)));
}

std::size_t scaleCount(const KernelContext& context, std::size_t scalesInput) {
  if (const auto* floats = context.attributes().getFloats("scales")) return floats->size();
  return context.hasInput(scalesInput) ? static_cast<std::size_t>(context.input(scalesInput).count()) : 0;
}

Status planFromSizes(KernelContext& context, const DimArray& axes, ResizeAxes& plan) {
  auto sizes = kernelInts(context.input(3));
  if (!sizes) return sizes.status();
  if (sizes->rank() != axes.rank()) {
    return kernelError(ErrorCode::kShapeMismatch, "sizes need one entry per axis",
                       std::to_string(axes.rank()), std::to_string(sizes->rank()));
  }
  const std::string_view policy = context.attributes().getString("keep_aspect_ratio_policy", "stretch");
  const bool stretch = policy == "stretch";
  if (!stretch && policy != "not_larger" && policy != "not_smaller") {
    return kernelError(ErrorCode::kBadAttribute, "unknown keep_aspect_ratio_policy",
                       "stretch, not_larger or not_smaller", std::string(policy));
  }
  std::size_t ruling = 0;  // the axis whose ratio is kept
  for (std::size_t i = 0; i < axes.rank(); ++i) {
    const ResizeAxis& axis = plan[static_cast<std::size_t>(axes[i])];
    const ResizeAxis& best = plan[static_cast<std::size_t>(axes[ruling])];
    if ((*sizes)[i] < 0 || (axis.in == 0 && (*sizes)[i] != 0)) {
      return kernelError(ErrorCode::kShapeMismatch, "an axis cannot be resized like that",
                         "a size of 0 or more, of an axis with elements",
                         std::to_string(axis.in) + " to " + std::to_string((*sizes)[i]));
    }
    const std::int64_t here = (*sizes)[i] * best.in;
    const std::int64_t there = (*sizes)[ruling] * axis.in;
    if (policy == "not_larger" ? here < there : here > there) ruling = i;
  }
  for (std::size_t i = 0; i < axes.rank(); ++i) {
    ResizeAxis& axis = plan[static_cast<std::size_t>(axes[i])];
    const std::int64_t base = plan[static_cast<std::size_t>(axes[ruling])].in;
    const std::int64_t wanted = stretch ? (*sizes)[i] : (*sizes)[ruling];
    const std::int64_t ratioBase = stretch ? axis.in : base;
    axis.out = stretch || ratioBase == 0 ? wanted : aspectSize(axis.in, wanted, ratioBase);
    axis.scale = ratioBase == 0 ? 1 : static_cast<double>(wanted) / static_cast<double>(ratioBase);
  }
  return Status::ok();
}

Status planFromScales(KernelContext& context, std::size_t scalesInput, const DimArray& axes, bool usesRegion,
                      ResizeAxes& plan) {
  if (scaleCount(context, scalesInput) != axes.rank()) {
    return kernelError(ErrorCode::kShapeMismatch, "scales need one entry per axis",
                       std::to_string(axes.rank()), std::to_string(scaleCount(context, scalesInput)));
  }
  for (std::size_t i = 0; i < axes.rank(); ++i) {
    ResizeAxis& axis = plan[static_cast<std::size_t>(axes[i])];
    const float scale = scaleAt(context, scalesInput, i);
    const float extent = usesRegion ? static_cast<float>(axis.end - axis.start) : 1.0F;
    axis.out = scaledSize(axis.in, extent, scale);
    axis.scale = scale;
    if (!(scale > 0) || axis.out < 0) {
      return kernelError(ErrorCode::kShapeMismatch, "a scale must be a positive number", "more than 0",
                         std::to_string(scale));
    }
  }
  return Status::ok();
}

/// The axes of one Resize; `plan` is indexed by axis of the input.
Status planAxes(KernelContext& context, const ResizeOptions& options, bool simple, ResizeAxes& plan) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(2 * input.rank()));
  for (std::size_t i = 0; i < input.rank(); ++i) plan[i] = {.in = input.dims[i], .out = input.dims[i]};
  auto axes = kernelAxes(context, kMaxRank, input.rank(), true);
  if (!axes) return axes.status();
  if (simple) return planFromScales(context, 1, *axes, false, plan);
  const bool usesRegion = options.coordinates == ResizeCoordinates::kCropAndResize;
  if (usesRegion) {
    const TensorView region = context.input(1);
    if (!region.isGiven() || region.count() != static_cast<std::int64_t>(2 * axes->rank())) {
      return kernelError(
          ErrorCode::kShapeMismatch, "tf_crop_and_resize needs the start and end of a region for each axis",
          std::to_string(2 * axes->rank()) + " numbers", region.isGiven() ? dimsText(region.dims) : "no roi");
    }
    for (std::size_t i = 0; i < axes->rank(); ++i) {
      ResizeAxis& axis = plan[static_cast<std::size_t>((*axes)[i])];
      axis.start = realAt(region, static_cast<std::int64_t>(i));
      axis.end = realAt(region, static_cast<std::int64_t>(i + axes->rank()));
    }
  }
  const bool hasSizes = context.hasInput(3) && context.input(3).count() > 0;
  const bool hasScales = scaleCount(context, 2) > 0;
  if (hasSizes && hasScales) {
    return kernelError(ErrorCode::kShapeMismatch, "scales and sizes are given", "one of them", "both");
  }
  return hasSizes ? planFromSizes(context, *axes, plan) : planFromScales(context, 2, *axes, usesRegion, plan);
}

Status resizeNearest(KernelContext& context, const ResizeOptions& options, const ResizeAxes& plan,
                     const MutableTensorView& output) {
  const TensorView input = context.input(0);
  std::int64_t total = 1;
  for (std::int64_t d : output.dims) total += d;
  auto maps = context.scratch<std::int64_t>(total);
  if (!maps) return maps.status();
  alignas(16) std::array<std::byte, 16> fill{};
  const std::int64_t one = 1;
  storeFromDouble({input.dtype, Dims(&one, 1), fill.data()}, 0, 1, &options.extrapolation);
  MappedCopy copy{.bits = info(input.dtype).bits,
                  .source = input.data,
                  .sourceDims = input.dims,
                  .target = output.data,
                  .targetDims = output.dims,
                  .fill = fill.data()};
  std::int64_t* map = *maps;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    const bool identity = plan[i].isIdentity(options);
    for (std::int64_t j = 0; j < plan[i].out; ++j) map[j] = identity ? j : plan[i].nearest(options, j);
    copy.maps[i] = map;
    map += plan[i].out;
  }
  copyMapped(context.threads(), copy);
  return Status::ok();
}

/// One pass: source [outer, in, inner] to target [outer, out, inner].
Status resizeOneAxis(KernelContext& context, const ResizeOptions& options, const ResizeAxis& axis,
                     std::int64_t outer, std::int64_t inner, const double* source, double* target) {
  const std::int64_t taps = axis.taps(options);
  auto weights = context.scratch<double>(axis.out * taps);
  auto firsts = context.scratch<std::int64_t>(axis.out);
  auto outsides = context.scratch<bool>(axis.out);
  if (!weights) return weights.status();
  if (!firsts) return firsts.status();
  if (!outsides) return outsides.status();
  for (std::int64_t i = 0; i < axis.out; ++i)
    (*firsts)[i] = axis.weights(options, i, *weights + i * taps, (*outsides)[i]);
  context.threads().parallelFor(
      outer * axis.out, std::max<std::int64_t>(1, kGrain / (inner * taps)),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t line = begin; line < end; ++line) {
          const std::int64_t i = line % axis.out;
          const double* plane = source + line / axis.out * axis.in * inner;
          double* row = target + line * inner;
          if ((*outsides)[i]) {
            std::fill_n(row, inner, options.extrapolation);
            continue;
          }
          std::fill_n(row, inner, 0.0);
          for (std::int64_t t = 0; t < taps; ++t) {
            const double weight = (*weights)[i * taps + t];
            if (weight == 0) continue;
            const double* from = plane + std::clamp<std::int64_t>((*firsts)[i] + t, 0, axis.in - 1) * inner;
            for (std::int64_t j = 0; j < inner; ++j) row[j] += weight * from[j];
          }
        }
      });
  return Status::ok();
}

/// Stores doubles; integers round half to even and saturate.
void storeResized(ThreadPool& threads, double* values, const MutableTensorView& output) {
  const DTypeInfo& type = info(output.dtype);
  const bool whole = isInteger(output.dtype);
  const bool isSigned = type.dtypeClass == DTypeClass::kSigned;
  const double top = std::ldexp(1.0, isSigned ? type.bits - 1 : type.bits);
  const double least = isSigned ? -top : 0;
  const double most = type.bits > 52 ? std::nextafter(top, 0.0) : top - 1;
  forParts(threads, type.bits, output.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    if (whole) {
      for (std::int64_t i = begin; i < end; ++i)
        values[i] = std::clamp(std::nearbyint(values[i]), least, most);
    }
    storeFromDouble(output, begin, end - begin, values + begin);
  });
}

Status resizeInterpolated(KernelContext& context, const ResizeOptions& options, const ResizeAxes& plan,
                          const MutableTensorView& output) {
  const TensorView input = context.input(0);
  // Largest buffer of the passes, which go from the last axis to the first.
  std::int64_t most = input.count();
  std::int64_t count = input.count();
  for (std::size_t i = input.rank(); i-- > 0;) {
    count = count / plan[i].in * plan[i].out;
    most = std::max(most, count);
  }
  auto first = context.scratch<double>(most);
  auto second = context.scratch<double>(most);
  if (!first) return first.status();
  if (!second) return second.status();
  double* source = *first;
  double* target = *second;
  context.threads().parallelFor(input.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    loadAsDouble(input, begin, end - begin, source + begin);
  });
  std::int64_t inner = 1;
  for (std::size_t i = input.rank(); i-- > 0;) {
    if (!plan[i].isIdentity(options)) {
      ROTA_RETURN_IF_ERROR(
          resizeOneAxis(context, options, plan[i], elementCount(input.dims.first(i)), inner, source, target));
      std::swap(source, target);
    }
    inner *= plan[i].out;
  }
  storeResized(context.threads(), source, output);
  return Status::ok();
}

bool isComplex(const KernelContext& context) {
  return info(context.input(0).dtype).compute == ComputeType::kComplex;
}

Status resizeWith(KernelContext& context, bool simple) {
  const TensorView input = context.input(0);
  auto options = resizeOptions(context.attributes(), simple);
  if (!options) return options.status();
  ResizeAxes plan;
  ROTA_RETURN_IF_ERROR(planAxes(context, *options, simple, plan));
  DimArray dims;
  for (std::size_t i = 0; i < input.rank(); ++i) dims.push(plan[i].out);
  if (!checkedCount(dims)) {
    return kernelError(ErrorCode::kModelTooLarge, "the resized tensor is far too large",
                       "a tensor that fits in memory", dimsText(dims));
  }
  auto output = context.output(0, dims);
  if (!output) return output.status();
  if (output->count() == 0) return Status::ok();
  if (input.count() == 0) {
    return kernelError(ErrorCode::kShapeMismatch, "an empty tensor cannot be enlarged", "elements",
                       dimsText(input.dims));
  }
  return options->mode == ResizeMode::kNearest ? resizeNearest(context, *options, plan, *output)
                                               : resizeInterpolated(context, *options, plan, *output);
}

Status resizeKernel(KernelContext& context) {
  if (isComplex(context)) return runOnComplexParts(context, resizeKernel);
  return resizeWith(context, context.version() < 11);
}
Status upsampleKernel(KernelContext& context) {
  if (isComplex(context)) return runOnComplexParts(context, upsampleKernel);
  return resizeWith(context, true);
}

const RegisterKernel kResizeKernel("", "Resize", resizeKernel);
const RegisterKernel kUpsampleKernel("", "Upsample", upsampleKernel);

}  // namespace
}  // namespace rota::ref
