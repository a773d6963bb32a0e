// SPDX-License-Identifier: Apache-2.0
// Shared parts of the movement kernels; see movement_common.h.
#include "ref/movement_common.h"

#include <algorithm>
#include <cstring>

namespace rota::ref {

Status kernelError(ErrorCode code, std::string message, std::string expected, std::string found) {
  return Status(ErrorDetail{.code = code,
                            .message = std::move(message),
                            .node = {},
                            .expected = std::move(expected),
                            .found = std::move(found),
                            .fix = {}});
}

Status checkRank(std::size_t rank) {
  if (rank <= kMaxRank) return Status::ok();
  return kernelError(ErrorCode::kModelTooLarge, "the tensor has too many axes",
                     "at most " + std::to_string(kMaxRank), std::to_string(rank));
}

Result<DimArray> kernelInts(const TensorView& view) {
  const std::int64_t count = view.count();
  ROTA_RETURN_IF_ERROR(checkRank(static_cast<std::size_t>(count)));
  if (!isInteger(view.dtype) && view.dtype != DType::kBool)
    return kernelError(ErrorCode::kTypeMismatch, "sizes, axes and amounts are integers", "an integer tensor",
                       info(view.dtype).name);
  DimArray list;
  for (std::int64_t i = 0; i < count; ++i) list.push(intAt(view, i));
  return list;
}

Result<DimArray> kernelAxes(KernelContext& context, std::size_t input, std::size_t rank, bool allByDefault) {
  DimArray axes;
  if (const auto* given = context.attributes().getInts("axes")) {
    ROTA_RETURN_IF_ERROR(checkRank(given->size()));
    axes = DimArray(*given);
  } else if (context.hasInput(input)) {
    auto ints = kernelInts(context.input(input));
    if (!ints) return ints.status();
    axes = *ints;
  } else if (allByDefault) {
    for (std::size_t i = 0; i < rank; ++i) axes.push(static_cast<std::int64_t>(i));
  }
  for (std::size_t i = 0; i < axes.rank(); ++i) {
    auto axis = axisOf(axes[i], rank);
    if (!axis) return axis.status();
    axes[i] = static_cast<std::int64_t>(*axis);
    for (std::size_t j = 0; j < i; ++j) {
      if (axes[j] == axes[i]) {
        return kernelError(ErrorCode::kBadAttribute, "an axis is given twice", "different axes",
                           std::to_string(axes[i]));
      }
    }
  }
  return axes;
}

namespace {

/// One element of `bits` (4 or 2) of a packed tensor; the first element lies in the low bits.
unsigned packedAt(const void* data, int bits, std::int64_t i) {
  const std::int64_t perByte = 8 / bits;
  const auto byte = static_cast<const std::uint8_t*>(data)[i / perByte];
  return (byte >> (static_cast<unsigned>(i % perByte) * static_cast<unsigned>(bits))) & ((1U << bits) - 1U);
}

void setPackedAt(void* data, int bits, std::int64_t i, unsigned value) {
  const std::int64_t perByte = 8 / bits;
  auto& byte = static_cast<std::uint8_t*>(data)[i / perByte];
  const unsigned shift = static_cast<unsigned>(i % perByte) * static_cast<unsigned>(bits);
  const unsigned mask = ((1U << bits) - 1U) << shift;
  byte = static_cast<std::uint8_t>((byte & ~mask) | (value << shift));
}

struct Bits128 {
  std::uint64_t low;
  std::uint64_t high;
};

template <typename T>
void copyRow(const void* source, std::int64_t from, std::int64_t sourceStride, void* target, std::int64_t to,
             std::int64_t targetStride, std::int64_t count) {
  const T* s = static_cast<const T*>(source) + from;
  T* t = static_cast<T*>(target) + to;
  if (sourceStride == 1 && targetStride == 1) {
    if (count > 0) std::memcpy(t, s, static_cast<std::size_t>(count) * sizeof(T));
  } else if (sourceStride == 0 && targetStride == 1) {
    std::fill_n(t, count, *s);
  } else if (targetStride == 1) {
    for (std::int64_t i = 0; i < count; ++i) t[i] = s[i * sourceStride];
  } else {
    for (std::int64_t i = 0; i < count; ++i) t[i * targetStride] = s[i * sourceStride];
  }
}

void copyRowOf(int bits, const void* source, std::int64_t from, std::int64_t sourceStride, void* target,
               std::int64_t to, std::int64_t targetStride, std::int64_t count) {
  switch (bits) {
    case 8: return copyRow<std::uint8_t>(source, from, sourceStride, target, to, targetStride, count);
    case 16: return copyRow<std::uint16_t>(source, from, sourceStride, target, to, targetStride, count);
    case 32: return copyRow<std::uint32_t>(source, from, sourceStride, target, to, targetStride, count);
    case 64: return copyRow<std::uint64_t>(source, from, sourceStride, target, to, targetStride, count);
    case 128: return copyRow<Bits128>(source, from, sourceStride, target, to, targetStride, count);
    default: break;
  }
  CHECK(bits == 4 || bits == 2);
  for (std::int64_t i = 0; i < count; ++i) {
    setPackedAt(target, bits, to + i * targetStride, packedAt(source, bits, from + i * sourceStride));
  }
}

/// Drops axes of size 1 and joins axes that are contiguous on both sides.
void coalesceAxes(StridedCopy& copy) {
  DimArray dims;
  DimArray source;
  DimArray target;
  for (std::size_t i = 0; i < copy.dims.rank(); ++i) {
    if (copy.dims[i] == 1) continue;
    const std::size_t last = dims.rank();
    if (last > 0 && source[last - 1] == copy.sourceStrides[i] * copy.dims[i] &&
        target[last - 1] == copy.targetStrides[i] * copy.dims[i]) {
      dims[last - 1] *= copy.dims[i];
      source[last - 1] = copy.sourceStrides[i];
      target[last - 1] = copy.targetStrides[i];
      continue;
    }
    dims.push(copy.dims[i]);
    source.push(copy.sourceStrides[i]);
    target.push(copy.targetStrides[i]);
  }
  if (dims.rank() == 0) {
    dims.push(1);
    source.push(1);
    target.push(1);
  }
  copy.dims = dims;
  copy.sourceStrides = source;
  copy.targetStrides = target;
}

}  // namespace

void copyElements(int bits, const void* source, std::int64_t from, void* target, std::int64_t to,
                  std::int64_t count) {
  if (bits >= 8) {
    const auto width = static_cast<std::size_t>(bits / 8);
    std::byte* const out = static_cast<std::byte*>(target) + static_cast<std::size_t>(to) * width;
    const std::byte* const in =
        static_cast<const std::byte*>(source) + static_cast<std::size_t>(from) * width;
    if (count == 1) {  // scattered elements: a move instead of a call
      switch (width) {
        case 1: *out = *in; return;
        case 2: std::memcpy(out, in, 2); return;
        case 4: std::memcpy(out, in, 4); return;
        case 8: std::memcpy(out, in, 8); return;
        default: break;
      }
    }
    if (count > 0) std::memcpy(out, in, static_cast<std::size_t>(count) * width);
    return;
  }
  copyRowOf(bits, source, from, 1, target, to, 1, count);
}

void fillElements(int bits, void* target, std::int64_t to, std::int64_t count, const void* value) {
  copyRowOf(bits, value, 0, 0, target, to, 1, count);
}

void forParts(ThreadPool& threads, int bits, std::int64_t count, std::int64_t grain, RangeFunction body) {
  if (count <= 0) return;
  if (bits < 8) return body(0, count);
  threads.parallelFor(count, std::max<std::int64_t>(grain, 1), body);
}

void copyStrided(ThreadPool& threads, StridedCopy copy) {
  if (elementCount(copy.dims.dims()) == 0) return;
  coalesceAxes(copy);
  const std::size_t inner = copy.dims.rank() - 1;
  const std::int64_t rowLength = copy.dims[inner];
  const std::int64_t rows = elementCount(copy.dims.dims().first(inner));
  forParts(threads, copy.bits, rows, 32768 / rowLength, [&](std::int64_t begin, std::int64_t end) {
    auto index = DimArray::filled(inner, 0);
    std::int64_t from = copy.sourceOffset;
    std::int64_t to = copy.targetOffset;
    std::int64_t rest = begin;
    for (std::size_t i = inner; i-- > 0;) {
      index[i] = rest % copy.dims[i];
      rest /= copy.dims[i];
      from += index[i] * copy.sourceStrides[i];
      to += index[i] * copy.targetStrides[i];
    }
    for (std::int64_t row = begin; row < end; ++row) {
      copyRowOf(copy.bits, copy.source, from, copy.sourceStrides[inner], copy.target, to,
                copy.targetStrides[inner], rowLength);
      for (std::size_t i = inner; i-- > 0;) {
        from += copy.sourceStrides[i];
        to += copy.targetStrides[i];
        if (++index[i] < copy.dims[i]) break;
        from -= copy.dims[i] * copy.sourceStrides[i];
        to -= copy.dims[i] * copy.targetStrides[i];
        index[i] = 0;
      }
    }
  });
}

namespace {

/// One row of copyMapped: runs of neighbouring elements are copied at once.
void copyMappedRow(const MappedCopy& copy, std::int64_t from, std::int64_t to, const std::int64_t* map,
                   std::int64_t length) {
  for (std::int64_t i = 0; i < length;) {
    std::int64_t run = 1;
    if (map[i] < 0) {
      while (i + run < length && map[i + run] < 0) ++run;
      fillElements(copy.bits, copy.target, to + i, run, copy.fill);
    } else {
      while (i + run < length && map[i + run] == map[i] + run) ++run;
      copyElements(copy.bits, copy.source, from + map[i], copy.target, to + i, run);
    }
    i += run;
  }
}

}  // namespace

void copyMapped(ThreadPool& threads, const MappedCopy& copy) {
  const std::size_t rank = copy.targetDims.size();
  if (elementCount(copy.targetDims) == 0) return;
  if (rank == 0) return copyElements(copy.bits, copy.source, 0, copy.target, 0, 1);
  const std::size_t inner = rank - 1;
  const std::int64_t rowLength = copy.targetDims[inner];
  const std::int64_t rows = elementCount(copy.targetDims.first(inner));
  const DimArray strides = denseStrides(copy.sourceDims);
  forParts(threads, copy.bits, rows, kGrain / rowLength, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t from = 0;
      std::int64_t rest = row;
      bool outside = false;
      for (std::size_t i = inner; i-- > 0;) {
        const std::int64_t place = copy.maps[i][rest % copy.targetDims[i]];
        rest /= copy.targetDims[i];
        outside = outside || place < 0;
        from += place * strides[i];
      }
      if (outside) {
        fillElements(copy.bits, copy.target, row * rowLength, rowLength, copy.fill);
      } else {
        copyMappedRow(copy, from, row * rowLength, copy.maps[inner], rowLength);
      }
    }
  });
}

}  // namespace rota::ref
