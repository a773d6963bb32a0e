// SPDX-License-Identifier: Apache-2.0
// Overflow-checked arithmetic for everything that comes from a file or a user.
#pragma once

#include <cstdint>
#include <optional>

#include <rota/tensor_view.h>

namespace rota {

inline std::optional<std::int64_t> checkedMul(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}
inline std::optional<std::int64_t> checkedAdd(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}
/// Elements of `dims`, or nothing when a dim is negative or the product (of the non-zero dims) overflows.
std::optional<std::int64_t> checkedCount(Dims dims);
/// Bytes of a tensor, or nothing as above.
std::optional<std::size_t> checkedBytes(DType dtype, Dims dims);

}  // namespace rota
