// SPDX-License-Identifier: Apache-2.0
// Elements as ordered keys; see order_keys.h.
#include "ref/order_keys.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "core/element_access.h"

namespace rota::ref {
namespace {

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

std::uint64_t keyOfDouble(double value) {
  if (value != value) return std::numeric_limits<std::uint64_t>::max();
  const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
}

}  // namespace

std::int64_t keysPerElement(DType dtype) { return info(dtype).compute == ComputeType::kComplex ? 2 : 1; }

void orderKeys(const TensorView& view, std::int64_t begin, std::int64_t count, std::uint64_t* keys) {
  constexpr std::int64_t kRun = 128;
  const ComputeType compute = info(view.dtype).compute;
  if (compute == ComputeType::kUInt64) return loadAsUInt64(view, begin, count, keys);
  for (std::int64_t done = 0; done < count; done += kRun) {
    const std::int64_t n = std::min(kRun, count - done);
    const auto last = static_cast<std::size_t>(n);
    if (compute == ComputeType::kInt64) {
      std::array<std::int64_t, kRun> block;
      loadAsInt64(view, begin + done, n, block.data());
      for (std::size_t i = 0; i < last; ++i) *keys++ = static_cast<std::uint64_t>(block[i]) ^ kSignBit;
    } else if (compute == ComputeType::kDouble) {
      std::array<double, kRun> block;
      loadAsDouble(view, begin + done, n, block.data());
      for (std::size_t i = 0; i < last; ++i) *keys++ = keyOfDouble(block[i]);
    } else {
      std::array<double, 2 * kRun> block;
      loadAsComplex(view, begin + done, n, block.data());
      for (std::size_t i = 0; i < 2 * last; ++i) *keys++ = keyOfDouble(block[i]);
    }
  }
}

}  // namespace rota::ref
