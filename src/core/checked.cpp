// SPDX-License-Identifier: Apache-2.0
// Element and byte counts of untrusted dims. Zero dims do not hide an overflow: [0, 2^40, 2^40] is refused, because
// strides and partial products of such a tensor would overflow later.
// Tested by src/core/checked_test.cpp.
#include "core/checked.h"

namespace rota {

std::optional<std::int64_t> checkedCount(Dims dims) {
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, dim, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

std::optional<std::size_t> checkedBytes(DType dtype, Dims dims) {
  const std::optional<std::int64_t> count = checkedCount(dims);
  if (!count) return std::nullopt;
  const std::optional<std::int64_t> bits = checkedMul(*count, info(dtype).bits);
  // The limit on bits, not bytes, keeps packedBytes free of overflow; it is far beyond any address space.
  if (!bits || !checkedAdd(*bits, 7)) return std::nullopt;
  return packedBytes(static_cast<std::size_t>(*count), info(dtype).bits);
}

}  // namespace rota
