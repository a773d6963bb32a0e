// SPDX-License-Identifier: Apache-2.0
// Views of dense row-major tensors. A view owns nothing; data and dims must outlive it.
#pragma once

#include <cstdint>
#include <span>

#include <rota/dtype.h>

namespace rota {

using Dims = std::span<const std::int64_t>;

/// Number of elements of `dims` (1 for rank 0). The caller has checked that the product fits (see core/checked.h).
constexpr std::int64_t elementCount(Dims dims) {
  std::int64_t n = 1;
  for (std::int64_t d : dims) n *= d;
  return n;
}

/// A read-only tensor; `dtype == kUndefined` stands for "not given" (an optional input).
struct TensorView {
  DType dtype = DType::kUndefined;
  Dims dims;
  const void* data = nullptr;  ///< May be nullptr when the tensor has no elements.

  bool isGiven() const { return dtype != DType::kUndefined; }
  std::int64_t count() const { return elementCount(dims); }
  std::size_t bytes() const { return packedBytes(static_cast<std::size_t>(count()), info(dtype).bits); }
  std::size_t rank() const { return dims.size(); }
  template <typename T> const T* as() const { return static_cast<const T*>(data); }
};

/// A writable tensor.
struct MutableTensorView {
  DType dtype = DType::kUndefined;
  Dims dims;
  void* data = nullptr;

  bool isGiven() const { return dtype != DType::kUndefined; }
  std::int64_t count() const { return elementCount(dims); }
  std::size_t bytes() const { return packedBytes(static_cast<std::size_t>(count()), info(dtype).bits); }
  std::size_t rank() const { return dims.size(); }
  template <typename T> T* as() const { return static_cast<T*>(data); }
  operator TensorView() const { return {dtype, dims, data}; }  // NOLINT(google-explicit-constructor)
};

}  // namespace rota
