// SPDX-License-Identifier: Apache-2.0
// Reference kernels of NonZero, Compress and ReverseSequence. Tested by src/op/select_test.cpp.
#include <algorithm>

#include "core/element_access.h"
#include "ref/index_common.h"
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

/// Calls `visit(i)` for every element that is not zero, in order. NaN is not zero.
template <typename Visit> void forEachNonZero(const TensorView& view, const Visit& visit) {
  constexpr std::int64_t kRun = 256;
  const std::int64_t count = view.count();
  const bool isComplex = info(view.dtype).compute == ComputeType::kComplex;
  std::array<double, 2 * kRun> block;
  for (std::int64_t begin = 0; begin < count; begin += kRun) {
    const std::int64_t n = std::min(kRun, count - begin);
    if (isComplex) {
      loadAsComplex(view, begin, n, block.data());
    } else {
      loadAsDouble(view, begin, n, block.data());
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (isComplex ? block[2 * at] != 0 || block[2 * at + 1] != 0 : block[at] != 0) visit(begin + i);
    }
  }
}

Status nonZeroKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  std::int64_t found = 0;
  forEachNonZero(input, [&](std::int64_t) { ++found; });
  const std::size_t rank = input.rank();
  auto output = context.output(0, DimArray{static_cast<std::int64_t>(rank), found});
  if (!output) return output.status();
  if (rank == 0) return Status::ok();
  auto* places = output->as<std::int64_t>();
  std::int64_t column = 0;
  std::int64_t previous = 0;
  auto at = DimArray::filled(rank, 0);
  forEachNonZero(input, [&](std::int64_t i) {
    // From the hit before: a division only where an axis ends.
    at[rank - 1] += i - previous;
    previous = i;
    for (std::size_t axis = rank - 1; axis > 0 && at[axis] >= input.dims[axis]; --axis) {
      at[axis - 1] += at[axis] / input.dims[axis];
      at[axis] %= input.dims[axis];
    }
    for (std::size_t axis = 0; axis < rank; ++axis)
      places[static_cast<std::int64_t>(axis) * found + column] = at[axis];
    ++column;
  });
  return Status::ok();
}

/// Neighbours that Compress keeps.
struct KeptRun {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

Status compressKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  const TensorView condition = context.input(1);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  AxisSplit split{1, input.count(), 1};
  DimArray dims{input.count()};
  std::size_t axis = 0;
  if (context.attributes().has("axis")) {
    auto normalised = axisOf(context.attributes().getInt("axis"), input.rank());
    if (!normalised) return normalised.status();
    axis = *normalised;
    split = splitAt(input.dims, axis);
    dims = DimArray(input.dims);
  }
  const std::int64_t length = condition.count();
  auto runs = context.scratch<KeptRun>(length / 2 + 1);
  if (!runs) return runs.status();
  std::int64_t runCount = 0;
  std::int64_t kept = 0;
  IndexReader keeps(condition);
  for (std::int64_t i = 0; i < length; ++i) {
    if (keeps.at(i) == 0) continue;
    if (i >= split.axis) {
      return kernelError(ErrorCode::kBadIndex, "the condition keeps an element that is not there",
                         "nothing kept from place " + std::to_string(split.axis) + " on",
                         "place " + std::to_string(i));
    }
    if (runCount > 0 && (*runs)[runCount - 1].first + (*runs)[runCount - 1].count == i) {
      ++(*runs)[runCount - 1].count;
    } else {
      (*runs)[runCount++] = {i, 1};
    }
    ++kept;
  }
  dims[axis] = kept;
  auto output = context.output(0, dims);
  if (!output) return output.status();
  std::int64_t to = 0;
  for (std::int64_t o = 0; o < split.outer; ++o) {
    for (std::int64_t r = 0; r < runCount; ++r) {
      const std::int64_t elements = (*runs)[r].count * split.inner;
      copyElements(info(input.dtype).bits, input.data, (o * split.axis + (*runs)[r].first) * split.inner,
                   output->data, to, elements);
      to += elements;
    }
  }
  return Status::ok();
}

Status reverseSequenceKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  const TensorView lengths = context.input(1);
  if (input.rank() < 2)
    return kernelError(ErrorCode::kShapeMismatch, "ReverseSequence needs a time and a batch axis",
                       "rank 2 or more", dimsText(input.dims));
  auto timeAxis = axisOf(context.attributes().getInt("time_axis", 0), input.rank());
  auto batchAxis = axisOf(context.attributes().getInt("batch_axis", 1), input.rank());
  if (!timeAxis) return timeAxis.status();
  if (!batchAxis) return batchAxis.status();
  if (*timeAxis + *batchAxis != 1) {
    return kernelError(ErrorCode::kBadAttribute, "time and batch are the first two axes", "0 and 1",
                       std::to_string(*timeAxis) + " and " + std::to_string(*batchAxis));
  }
  const std::int64_t steps = input.dims[*timeAxis];
  const std::int64_t batch = input.dims[*batchAxis];
  if (lengths.count() != batch) {
    return kernelError(ErrorCode::kShapeMismatch, "there must be one length per sequence",
                       std::to_string(batch), std::to_string(lengths.count()));
  }
  auto output = context.output(0, input.dims);
  if (!output) return output.status();
  const std::int64_t inner = elementCount(input.dims.subspan(2));
  const std::int64_t timeStride = *timeAxis == 0 ? batch * inner : inner;
  const std::int64_t batchStride = *timeAxis == 0 ? inner : steps * inner;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = intAt(lengths, b);
    if (length < 0 || length > steps) {
      return kernelError(ErrorCode::kBadIndex, "a sequence is longer than the time axis",
                         "a length from 0 to " + std::to_string(steps), std::to_string(length));
    }
    for (std::int64_t t = 0; t < steps; ++t) {
      const std::int64_t from = t < length ? length - 1 - t : t;
      copyElements(info(input.dtype).bits, input.data, b * batchStride + from * timeStride, output->data,
                   b * batchStride + t * timeStride, inner);
    }
  }
  return Status::ok();
}

const RegisterKernel kNonZeroKernel("", "NonZero", nonZeroKernel);
const RegisterKernel kCompressKernel("", "Compress", compressKernel);
const RegisterKernel kReverseSequenceKernel("", "ReverseSequence", reverseSequenceKernel);

}  // namespace
}  // namespace rota::ref
