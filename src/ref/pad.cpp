// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Pad and CenterCropPad. Every axis gets a map from places of the result to places of the input, -1 for padding. Negative
// pads crop first: reflection, edge and wrapping then go by what is left. Pads longer than the axis reflect and wrap again and again, as in
// NumPy. Tested by src/op/movement_test.cpp.
#include <algorithm>

#include "core/checked.h"
#include "core/element_access.h"
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

enum class PadMode : std::uint8_t { kConstant, kReflect, kEdge, kWrap };

Result<PadMode> padMode(const KernelContext& context) {
  const std::string_view name = context.attributes().getString("mode", "constant");
  if (name == "constant") return PadMode::kConstant;
  if (name == "reflect") return PadMode::kReflect;
  if (name == "edge") return PadMode::kEdge;
  if (name == "wrap") return PadMode::kWrap;
  return kernelError(ErrorCode::kBadAttribute, "unknown padding mode", "constant, reflect, edge or wrap",
                     std::string(name));
}

/// Place in [0, size) that `place` outside it stands for, or -1.
std::int64_t paddedPlace(PadMode mode, std::int64_t place, std::int64_t size) {
  if (place >= 0 && place < size) return place;
  switch (mode) {
    case PadMode::kConstant: return -1;
    case PadMode::kEdge: return std::clamp<std::int64_t>(place, 0, size - 1);
    case PadMode::kWrap: return ((place % size) + size) % size;
    case PadMode::kReflect: break;
  }
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  const std::int64_t inPeriod = ((place % period) + period) % period;
  return inPeriod < size ? inPeriod : period - inPeriod;
}

/// Pads per axis: begins, then ends.
struct PadAmounts {
  DimArray begin{};
  DimArray end{};
};

Result<PadAmounts> padAmounts(KernelContext& context) {
  const std::size_t rank = context.input(0).rank();
  ROTA_RETURN_IF_ERROR(checkRank(2 * rank));
  DimArray pads;
  if (const auto* attribute = context.attributes().getInts("pads")) {
    ROTA_RETURN_IF_ERROR(checkRank(attribute->size()));
    pads = DimArray(*attribute);
  } else {
    auto given = kernelInts(context.input(1));
    if (!given) return given.status();
    pads = *given;
  }
  auto axes = kernelAxes(context, 3, rank, true);
  if (!axes) return axes.status();
  if (pads.rank() != 2 * axes->rank()) {
    return kernelError(ErrorCode::kShapeMismatch, "pads need two entries per axis",
                       std::to_string(2 * axes->rank()), std::to_string(pads.rank()));
  }
  PadAmounts amounts{DimArray::filled(rank, 0), DimArray::filled(rank, 0)};
  for (std::size_t i = 0; i < axes->rank(); ++i) {
    const auto axis = static_cast<std::size_t>((*axes)[i]);
    amounts.begin[axis] = pads[i];
    amounts.end[axis] = pads[i + axes->rank()];
  }
  return amounts;
}

/// The map of one axis.
void fillPadMap(PadMode mode, std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t outSize,
                std::int64_t* map) {
  const std::int64_t cropped = std::max<std::int64_t>(-begin, 0);
  const std::int64_t left = std::max<std::int64_t>(size - cropped - std::max<std::int64_t>(-end, 0), 0);
  for (std::int64_t i = 0; i < outSize; ++i) {
    const std::int64_t place = paddedPlace(mode, i - std::max<std::int64_t>(begin, 0), left);
    map[i] = place < 0 ? -1 : place + cropped;
  }
}

/// Copies through the maps, which lie in one piece of scratch memory.
Status copyPadded(KernelContext& context, PadMode mode, const PadAmounts& amounts, const void* fill) {
  const TensorView input = context.input(0);
  DimArray dims;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    const auto padded = checkedAdd(amounts.begin[i], amounts.end[i]);
    const auto size = padded ? checkedAdd(input.dims[i], *padded) : std::nullopt;
    const bool needsElements = mode != PadMode::kConstant && (amounts.begin[i] > 0 || amounts.end[i] > 0);
    const std::int64_t left =
        std::min(amounts.begin[i], std::int64_t{0}) + std::min(amounts.end[i], std::int64_t{0});
    if (!size || *size < 0 || (needsElements && input.dims[i] + left <= 0)) {
      return kernelError(ErrorCode::kShapeMismatch,
                         "axis " + std::to_string(i) + " cannot be padded like that",
                         needsElements ? "an axis with elements" : "a result of size 0 or more",
                         dimsText(amounts.begin) + " before and " + dimsText(amounts.end) + " after " +
                             dimsText(input.dims));
    }
    dims.push(*size);
    total += *size;
  }
  if (!checkedCount(dims)) {
    return kernelError(ErrorCode::kModelTooLarge, "the padded tensor is far too large",
                       "a tensor that fits in memory", dimsText(dims));
  }
  auto output = context.output(0, dims);
  if (!output) return output.status();
  auto maps = context.scratch<std::int64_t>(std::max<std::int64_t>(total, 1));
  if (!maps) return maps.status();
  MappedCopy copy{.bits = info(input.dtype).bits,
                  .source = input.data,
                  .sourceDims = input.dims,
                  .target = output->data,
                  .targetDims = dims,
                  .fill = fill};
  std::int64_t* map = *maps;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    fillPadMap(mode, input.dims[i], amounts.begin[i], amounts.end[i], dims[i], map);
    copy.maps[i] = map;
    map += dims[i];
  }
  copyMapped(context.threads(), copy);
  return Status::ok();
}

Status padKernel(KernelContext& context) {
  auto mode = padMode(context);
  if (!mode) return mode.status();
  auto amounts = padAmounts(context);
  if (!amounts) return amounts.status();
  alignas(16) std::array<std::byte, 16> fill{};
  if (context.hasInput(2)) {
    const TensorView value = context.input(2);
    if (value.count() != 1) {
      return kernelError(ErrorCode::kShapeMismatch, "the padding value is one number", "one element",
                         dimsText(value.dims));
    }
    copyElements(info(value.dtype).bits, value.data, 0, fill.data(), 0, 1);
  } else if (context.attributes().has("value")) {
    const double value = context.attributes().getFloat("value");
    const std::int64_t one = 1;
    storeFromDouble({context.input(0).dtype, Dims(&one, 1), fill.data()}, 0, 1, &value);
  }
  return copyPadded(context, *mode, *amounts, fill.data());
}

Status centerCropPadKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  auto shape = kernelInts(context.input(1));
  if (!shape) return shape.status();
  auto axes = kernelAxes(context, 2, input.rank(), true);
  if (!axes) return axes.status();
  if (shape->rank() != axes->rank()) {
    return kernelError(ErrorCode::kShapeMismatch, "the shape needs one entry per axis",
                       std::to_string(axes->rank()), std::to_string(shape->rank()));
  }
  PadAmounts amounts{DimArray::filled(input.rank(), 0), DimArray::filled(input.rank(), 0)};
  for (std::size_t i = 0; i < axes->rank(); ++i) {
    const auto axis = static_cast<std::size_t>((*axes)[i]);
    // Half of the difference, rounded down, comes before; the odd element comes after, both when cropping and when padding.
    const std::int64_t difference = (*shape)[i] - input.dims[axis];
    amounts.begin[axis] = difference / 2;
    amounts.end[axis] = difference - difference / 2;
  }
  const std::array<std::byte, 16> zero{};
  return copyPadded(context, PadMode::kConstant, amounts, zero.data());
}

const RegisterKernel kPadKernel("", "Pad", padKernel);
const RegisterKernel kCenterCropPadKernel("", "CenterCropPad", centerCropPadKernel);

}  // namespace
}  // namespace rota::ref
