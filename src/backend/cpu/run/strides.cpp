// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/run/strides.h"

#include <cstring>

#include "core/check.h"

namespace rota::runtime {

std::int64_t PhysicalDims::count() const {
  std::int64_t n = 1;
  for (std::size_t k = 0; k < rank; ++k) n *= size[k];
  return n;
}

std::int64_t PhysicalDims::strideOf(std::size_t loop) const {
  std::int64_t stride = 1;
  for (std::size_t k = loop + 1; k < rank; ++k) stride *= size[k];
  return stride;
}

PhysicalDims physicalDims(Dims dims, const Layout* layout) {
  PhysicalDims p;
  std::array<std::int64_t, kMaxRank> perAxis;
  perAxis.fill(1);
  const bool hasBlocks = layout != nullptr && !layout->blocks.empty();
  if (hasBlocks) {
    for (const Layout::Block& b : layout->blocks) perAxis[b.axis] *= b.size;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t axis = layout != nullptr && !layout->order.empty() ? layout->order[i] : i;
    p.axis[p.rank] = axis;
    p.unit[p.rank] = perAxis[axis];
    p.size[p.rank] = (dims[axis] + perAxis[axis] - 1) / perAxis[axis];
    p.isPadded = p.isPadded || dims[axis] % perAxis[axis] != 0;
    ++p.rank;
  }
  if (!hasBlocks) return p;
  CHECK(p.rank + layout->blocks.size() <= kMaxLoops);
  for (const Layout::Block& b : layout->blocks) {
    perAxis[b.axis] /= b.size;
    p.axis[p.rank] = b.axis;
    p.unit[p.rank] = perAxis[b.axis];
    p.size[p.rank] = b.size;
    ++p.rank;
  }
  return p;
}

bool broadcastStrides(const Operand& operand, std::size_t rank, const PhysicalDims& loops,
                      LoopStrides& strides) {
  const Dims dims = operand.view.dims;
  if (dims.size() > rank) return false;
  const std::size_t shift = rank - dims.size();
  const bool isPlain = operand.layout == nullptr || operand.layout->isPlain();
  const PhysicalDims own = physicalDims(dims, operand.layout);
  if (loops.isPadded && isPlain && elementCount(dims) != 1) {
    // A plain operand has nothing where the loops run over padding.
    for (std::size_t k = 0; k < loops.rank; ++k)
      if (loops.unit[k] > 1 && loops.axis[k] >= shift && dims[loops.axis[k] - shift] != 1) return false;
  }
  for (std::size_t k = 0; k < loops.rank; ++k) {
    strides[k] = 0;
    if (loops.axis[k] < shift) continue;
    const std::size_t axis = loops.axis[k] - shift;
    if (dims[axis] == 1) continue;
    if (isPlain) {
      std::int64_t stride = loops.unit[k];
      for (std::size_t d = axis + 1; d < dims.size(); ++d) stride *= dims[d];
      strides[k] = stride;
      continue;
    }
    std::size_t match = own.rank;
    for (std::size_t m = 0; m < own.rank; ++m)
      if (own.axis[m] == axis && own.unit[m] == loops.unit[k] && own.size[m] == loops.size[k]) match = m;
    if (match == own.rank) return false;
    strides[k] = own.strideOf(match);
  }
  return true;
}

void LoopNest::merge() {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < rank; ++k) {
    if (size[k] == 1) continue;
    bool joins = kept > 0;
    for (const LoopStrides& s : strides) joins = joins && s[kept - 1] == s[k] * size[k];
    if (joins) {
      size[kept - 1] *= size[k];
      for (LoopStrides& s : strides) s[kept - 1] = s[k];
      continue;
    }
    size[kept] = size[k];
    for (LoopStrides& s : strides) s[kept] = s[k];
    ++kept;
  }
  if (kept == 0) {
    size[0] = 1;
    for (LoopStrides& s : strides) s[0] = 0;
    kept = 1;
  }
  rank = kept;
}

std::int64_t offsetAt(const LoopNest& nest, const LoopStrides& strides, std::int64_t index) {
  std::int64_t offset = 0;
  for (std::size_t k = nest.rank; k-- > 0;) {
    offset += index % nest.size[k] * strides[k];
    index /= nest.size[k];
  }
  return offset;
}

namespace {

template <typename T>
void gather(const LoopNest& nest, const LoopStrides& strides, const void* data, std::int64_t start,
            std::int64_t n, void* target) {
  const std::size_t last = nest.rank - 1;
  const T* in = static_cast<const T*>(data);
  T* out = static_cast<T*>(target);
  std::array<std::int64_t, kMaxLoops> at;
  std::int64_t rest = start;
  for (std::size_t k = nest.rank; k-- > 0;) {
    at[k] = rest % nest.size[k];
    rest /= nest.size[k];
    in += at[k] * strides[k];
  }
  const std::int64_t step = strides[last];
  while (n > 0) {
    const std::int64_t run = n < nest.size[last] - at[last] ? n : nest.size[last] - at[last];
    if (step == 1) {
      std::memcpy(out, in, static_cast<std::size_t>(run) * sizeof(T));
    } else if (step == 0) {
      const T value = *in;
      for (std::int64_t i = 0; i < run; ++i) out[i] = value;
    } else {
      for (std::int64_t i = 0; i < run; ++i) out[i] = in[i * step];
    }
    out += run;
    n -= run;
    if (n == 0) return;
    in -= at[last] * step;
    at[last] = 0;
    for (std::size_t k = last; k-- > 0;) {
      in += strides[k];
      if (++at[k] < nest.size[k]) break;
      in -= nest.size[k] * strides[k];
      at[k] = 0;
    }
  }
}

struct Wide {
  std::uint64_t words[2];
};

}  // namespace

void gatherElements(const LoopNest& nest, const LoopStrides& strides, const void* data, std::size_t bytes,
                    std::int64_t start, std::int64_t n, void* out) {
  if (n <= 0) return;
  switch (bytes) {
    case 1: return gather<std::uint8_t>(nest, strides, data, start, n, out);
    case 2: return gather<std::uint16_t>(nest, strides, data, start, n, out);
    case 4: return gather<std::uint32_t>(nest, strides, data, start, n, out);
    case 8: return gather<std::uint64_t>(nest, strides, data, start, n, out);
    default: CHECK(bytes == 16); return gather<Wide>(nest, strides, data, start, n, out);
  }
}

std::size_t elementBytes(DType dtype) {
  const int bits = info(dtype).bits;
  return bits >= 8 ? static_cast<std::size_t>(bits / 8) : 0;
}

}  // namespace rota::runtime
