// SPDX-License-Identifier: Apache-2.0
// What reference kernels share: axes, strides, index iteration and broadcasting.
//
// Nothing here uses the heap: dims live in fixed arrays of kMaxRank entries (inference refuses higher ranks). Kernels work in blocks of kBlock
// elements: they load a block of every input as int64, uint64 or double, compute, and store it, so that loops exist once per compute type.
// Tested by src/ref/pointwise_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "core/check.h"
#include "ref/kernel.h"

namespace rota::ref {

/// Tensors of a higher rank are refused (numpy has the same limit).
constexpr std::size_t kMaxRank = 64;
/// Elements per block; three double blocks fit the first-level cache.
constexpr std::int64_t kBlock = 1024;
/// Elements per part of a parallel loop over cheap elements.
constexpr std::int64_t kGrain = 32 * kBlock;

/// Dims or strides without a heap.
class DimArray {
 public:
  DimArray() = default;
  explicit DimArray(Dims dims) {
    for (std::int64_t d : dims) push(d);
  }
  DimArray(std::initializer_list<std::int64_t> dims) {
    for (std::int64_t d : dims) push(d);
  }
  void push(std::int64_t value) {
    CHECK(rank_ < kMaxRank);
    values_[rank_++] = value;
  }
  void pop() { --rank_; }
  /// `rank` entries of `value`.
  static DimArray filled(std::size_t rank, std::int64_t value) {
    DimArray array;
    while (array.rank() < rank) array.push(value);
    return array;
  }
  void insert(std::size_t at, std::int64_t value) {
    push(value);
    for (std::size_t i = rank_ - 1; i > at; --i) std::swap(values_[i], values_[i - 1]);
  }
  void erase(std::size_t at) {
    for (std::size_t i = at; i + 1 < rank_; ++i) values_[i] = values_[i + 1];
    --rank_;
  }
  Dims dims() const { return {values_.data(), rank_}; }
  std::size_t rank() const { return rank_; }
  std::int64_t& operator[](std::size_t i) { return values_[i]; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }
  operator Dims() const { return {values_.data(), rank_}; }  // NOLINT(google-explicit-constructor)

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  std::size_t rank_ = 0;
};

/// `axis` in [-rank, rank) as [0, rank); kBadIndex otherwise.
Result<std::size_t> axisOf(std::int64_t axis, std::size_t rank);

/// "[2, 3]" for messages.
std::string dimsText(Dims dims);

/// Element strides of a dense row-major tensor.
DimArray denseStrides(Dims dims);

/// The tensor seen as [outer, axis, inner].
struct AxisSplit {
  std::int64_t outer = 1;
  std::int64_t axis = 1;
  std::int64_t inner = 1;
};
AxisSplit splitAt(Dims dims, std::size_t axis);

/// Walks the indices of `dims` in row-major order and keeps one linear offset per stride set.
template <std::size_t kSets> class IndexWalker {
 public:
  explicit IndexWalker(Dims dims) : dims_(dims) {}
  /// Strides of set `s`; one per dim (0 = broadcast). Set before the walk.
  DimArray& strides(std::size_t s) { return strides_[s]; }
  std::int64_t offset(std::size_t s) const { return offsets_[s]; }
  std::int64_t index(std::size_t dim) const { return index_[dim]; }

  /// Jumps to the element with this linear index; the tensor must have elements.
  void seek(std::int64_t linear) {
    offsets_.fill(0);
    for (std::size_t d = dims_.rank(); d-- > 0;) {
      index_[d] = linear % dims_[d];
      linear /= dims_[d];
      for (std::size_t s = 0; s < kSets; ++s) offsets_[s] += index_[d] * strides_[s][d];
    }
  }
  /// The next element; after the last one, the first.
  void next() {
    for (std::size_t d = dims_.rank(); d-- > 0;) {
      for (std::size_t s = 0; s < kSets; ++s) offsets_[s] += strides_[s][d];
      if (++index_[d] < dims_[d]) return;
      for (std::size_t s = 0; s < kSets; ++s) offsets_[s] -= dims_[d] * strides_[s][d];
      index_[d] = 0;
    }
  }

 private:
  DimArray dims_;
  std::array<DimArray, kSets> strides_;
  std::array<std::int64_t, kMaxRank> index_{};
  std::array<std::int64_t, kSets> offsets_{};
};

/// Strides with which a dense tensor of `dims` is read over `outDims` under NumPy broadcasting: 0 along broadcast dims.
DimArray broadcastStrides(Dims dims, Dims outDims);
/// The broadcast dims, for kernels that must find them; kShapeMismatch when there are none.
Result<DimArray> broadcastDims(Dims a, Dims b);

}  // namespace rota::ref
