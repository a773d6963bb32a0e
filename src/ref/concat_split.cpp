// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Concat, Split and Slice. Seen as [outer, axis, inner], joining and cutting are copies of one contiguous piece per
// outer index; Slice is a strided copy with steps of any sign. Tested by src/op/movement_test.cpp.
#include <algorithm>

#include "ref/movement_common.h"

namespace rota::ref {
namespace {

/// Copies the piece [begin, begin + length) of `axis` between a tensor of the whole and a tensor of the piece.
void copyPiece(ThreadPool& threads, const TensorView& source, std::int64_t sourceBegin,
               const MutableTensorView& target, std::int64_t targetBegin, std::int64_t length,
               std::size_t axis) {
  const std::int64_t outer = elementCount(source.dims.first(axis));
  const std::int64_t inner = elementCount(source.dims.subspan(axis + 1));
  StridedCopy copy{.bits = info(source.dtype).bits, .source = source.data, .target = target.data};
  copy.sourceOffset = sourceBegin * inner;
  copy.targetOffset = targetBegin * inner;
  copy.dims = DimArray{outer, length * inner};
  copy.sourceStrides = DimArray{source.dims[axis] * inner, 1};
  copy.targetStrides = DimArray{target.dims[axis] * inner, 1};
  copyStrided(threads, copy);
}

Status concatKernel(KernelContext& context) {
  const TensorView first = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(first.rank()));
  auto axis = axisOf(context.attributes().getInt("axis", 1), first.rank());
  if (!axis) return axis.status();
  DimArray dims(first.dims);
  for (std::size_t i = 1; i < context.inputCount(); ++i) {
    const TensorView part = context.input(i);
    bool fits = part.rank() == first.rank();
    for (std::size_t a = 0; fits && a < part.rank(); ++a) fits = a == *axis || part.dims[a] == first.dims[a];
    if (!fits) {
      return kernelError(ErrorCode::kShapeMismatch,
                         "input " + std::to_string(i) + " differs off the axis that is joined",
                         dimsText(first.dims) + " off axis " + std::to_string(*axis), dimsText(part.dims));
    }
    dims[*axis] += part.dims[*axis];
  }
  auto output = context.output(0, dims.dims());
  if (!output) return output.status();
  std::int64_t at = 0;
  for (std::size_t i = 0; i < context.inputCount(); ++i) {
    const TensorView part = context.input(i);
    copyPiece(context.threads(), part, 0, *output, at, part.dims[*axis], *axis);
    at += part.dims[*axis];
  }
  return Status::ok();
}

/// Size of piece i of an axis of `size` cut into `pieces`: equal pieces, the last ones smaller.
std::int64_t equalPiece(std::int64_t size, std::int64_t pieces, std::int64_t i) {
  const std::int64_t chunk = (size + pieces - 1) / pieces;
  return std::clamp<std::int64_t>(size - i * chunk, 0, chunk);
}

Status splitKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  auto axis = axisOf(context.attributes().getInt("axis"), input.rank());
  if (!axis) return axis.status();
  const std::int64_t size = input.dims[*axis];
  const auto* attribute = context.attributes().getInts("split");
  const TensorView given = context.input(1);
  const auto pieces = static_cast<std::int64_t>(context.outputCount());
  const bool sizesGiven = attribute != nullptr || given.isGiven();
  const std::int64_t count = attribute != nullptr ? static_cast<std::int64_t>(attribute->size())
                             : given.isGiven()    ? given.count()
                                                  : pieces;
  if (count != pieces) {
    return kernelError(ErrorCode::kShapeMismatch, "the number of sizes and of outputs differ",
                       std::to_string(pieces), std::to_string(count));
  }
  if (!sizesGiven && context.version() < 18 && size % pieces != 0) {
    return kernelError(ErrorCode::kShapeMismatch, "an axis without sizes is cut into equal parts",
                       "a multiple of " + std::to_string(pieces), std::to_string(size));
  }
  const auto sizeOf = [&](std::int64_t i) {
    if (attribute != nullptr) return (*attribute)[static_cast<std::size_t>(i)];
    return given.isGiven() ? intAt(given, i) : equalPiece(size, pieces, i);
  };
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < pieces; ++i) {
    if (sizeOf(i) < 0 || sizeOf(i) > size - total) {
      return kernelError(ErrorCode::kShapeMismatch, "the sizes do not add up to the axis",
                         std::to_string(size), "");
    }
    total += sizeOf(i);
  }
  if (total != size) {
    return kernelError(ErrorCode::kShapeMismatch, "the sizes do not add up to the axis", std::to_string(size),
                       std::to_string(total));
  }
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::int64_t length = sizeOf(i);
    const auto index = static_cast<std::size_t>(i);
    if (context.hasOutput(index)) {
      DimArray dims(input.dims);
      dims[*axis] = length;
      auto output = context.output(index, dims.dims());
      if (!output) return output.status();
      copyPiece(context.threads(), input, at, *output, 0, length, *axis);
    }
    at += length;
  }
  return Status::ok();
}

/// Starts, ends, axes and steps of Slice, from attributes (version 1) or inputs.
struct SliceRange {
  std::int64_t start = 0;
  std::int64_t length = 0;
  std::int64_t step = 1;
};

SliceRange sliceRange(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto fromFront = [size](std::int64_t v) {
    return v < 0 ? (v < -size ? -1 : v + size) : std::min(v, size);
  };
  const bool back = step < 0;
  // Going back, -1 stands for "before the first element"; going forward the least position is 0.
  std::int64_t s = fromFront(start);
  std::int64_t e = fromFront(end);
  s = back ? std::clamp<std::int64_t>(s, -1, size - 1) : std::clamp<std::int64_t>(s, 0, size);
  e = back ? std::clamp<std::int64_t>(e, -1, size - 1) : std::clamp<std::int64_t>(e, 0, size);
  const std::int64_t distance = back ? s - e : e - s;
  if (distance <= 0) return {back ? 0 : s, 0, step};
  // Written so that a step of -2^63 does not overflow.
  const std::uint64_t magnitude =
      back ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
  const auto length = static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / magnitude) + 1;
  return {s, length, length == 1 ? 1 : step};
}

Status sliceKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  DimArray starts;
  DimArray ends;
  const auto* startsAttribute = context.attributes().getInts("starts");
  const auto* endsAttribute = context.attributes().getInts("ends");
  if (startsAttribute != nullptr && endsAttribute != nullptr) {
    ROTA_RETURN_IF_ERROR(checkRank(std::max(startsAttribute->size(), endsAttribute->size())));
    starts = DimArray(*startsAttribute);
    ends = DimArray(*endsAttribute);
  } else {
    auto startsInput = kernelInts(context.input(1));
    auto endsInput = kernelInts(context.input(2));
    if (!startsInput) return startsInput.status();
    if (!endsInput) return endsInput.status();
    starts = *startsInput;
    ends = *endsInput;
  }
  auto axes = kernelAxes(context, 3, input.rank(), false);
  if (!axes) return axes.status();
  if (axes->rank() == 0 && !context.attributes().has("axes") && !context.hasInput(3)) {
    for (std::size_t i = 0; i < starts.rank(); ++i) axes->push(static_cast<std::int64_t>(i));
  }
  auto steps = DimArray::filled(starts.rank(), 1);
  if (context.hasInput(4)) {
    auto given = kernelInts(context.input(4));
    if (!given) return given.status();
    steps = *given;
  }
  if (ends.rank() != starts.rank() || axes->rank() != starts.rank() || steps.rank() != starts.rank() ||
      starts.rank() > input.rank()) {
    return kernelError(ErrorCode::kShapeMismatch, "starts, ends, axes and steps need one entry per cut axis",
                       std::to_string(starts.rank()),
                       dimsText(ends.dims()) + ", " + dimsText(axes->dims()) + ", " + dimsText(steps.dims()));
  }
  StridedCopy copy{.bits = info(input.dtype).bits, .source = input.data};
  copy.dims = DimArray(input.dims);
  copy.sourceStrides = denseStrides(input.dims);
  for (std::size_t i = 0; i < starts.rank(); ++i) {
    if (steps[i] == 0)
      return kernelError(ErrorCode::kBadAttribute, "a step must not be 0", "another step", "0");
    const auto axis = static_cast<std::size_t>((*axes)[i]);
    const SliceRange range = sliceRange(input.dims[axis], starts[i], ends[i], steps[i]);
    copy.sourceOffset += range.start * copy.sourceStrides[axis];
    copy.sourceStrides[axis] *= range.step;
    copy.dims[axis] = range.length;
  }
  auto output = context.output(0, copy.dims.dims());
  if (!output) return output.status();
  copy.target = output->data;
  copy.targetStrides = denseStrides(copy.dims.dims());
  copyStrided(context.threads(), copy);
  return Status::ok();
}

const RegisterKernel kConcatKernel("", "Concat", concatKernel);
const RegisterKernel kSplitKernel("", "Split", splitKernel);
const RegisterKernel kSliceKernel("", "Slice", sliceKernel);

}  // namespace
}  // namespace rota::ref
