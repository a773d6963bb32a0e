// SPDX-License-Identifier: Apache-2.0
// Checked indices of the gather and scatter kernels. Parts of a parallel loop report bad indices to one BadIndex, which keeps the one at the
// lowest place, so that the message does not depend on the number of threads. Tested by src/op/movement_test.cpp.
#pragma once

#include <atomic>
#include <limits>

#include "ref/common.h"

namespace rota::ref {

/// Collects indices outside their axis.
class BadIndex {
 public:
  /// Makes a negative index count from the front. False when it is outside [-size, size); the element at `place` of the indices is noted.
  bool normalise(std::int64_t& index, std::int64_t size, std::int64_t place) {
    if (index >= 0 && index < size) return true;
    if (index < 0 && index >= -size) {
      index += size;
      return true;
    }
    note(place);
    return false;
  }
  bool any() const { return place_.load(std::memory_order_relaxed) != kNone; }
  /// The error about the noted index, or ok. `size` below 0: the axis is not named.
  Status status(const TensorView& indices, std::int64_t size) const;

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  void note(std::int64_t place) {
    std::int64_t seen = place_.load(std::memory_order_relaxed);
    while (place < seen && !place_.compare_exchange_weak(seen, place, std::memory_order_relaxed)) {
    }
  }
  std::atomic<std::int64_t> place_{kNone};
};

/// Elements of an index tensor that are read one after the other: they are loaded a block at a time.
class IndexReader {
 public:
  explicit IndexReader(const TensorView& view) : view_(view), total_(view.count()) {}
  std::int64_t at(std::int64_t i) {
    if (i < first_ || i >= first_ + count_) refill(i);
    return values_[static_cast<std::size_t>(i - first_)];
  }

 private:
  static constexpr std::int64_t kRun = 256;
  void refill(std::int64_t i);

  TensorView view_;
  std::int64_t total_;
  std::int64_t first_ = 0;
  std::int64_t count_ = 0;
  std::array<std::int64_t, kRun> values_;
};

/// GatherElements and ScatterElements: indices have the rank of the data and fit into it off the axis.
Status checkElementIndices(Dims data, Dims indices, std::size_t axis);

/// The index tuples of GatherND and ScatterND: tuple i names the slice of `sliceElements` elements at the place it gives.
struct IndexTuples {
  std::size_t length = 0;          ///< Indices of one tuple.
  std::int64_t count = 0;          ///< Number of tuples.
  std::int64_t sliceElements = 0;  ///< Elements of one slice of the data.
  DimArray sizes{};                ///< Sizes of the axes that a tuple indexes.
  DimArray strides{};              ///< Their strides in elements.

  /// Element of the data, after the batch axes, at which the slice of tuple `i` starts; false for a bad index.
  bool placeOf(IndexReader& indices, std::int64_t i, BadIndex& bad, std::int64_t& place) const {
    place = 0;
    for (std::size_t k = 0; k < length; ++k) {
      const std::int64_t at = i * static_cast<std::int64_t>(length) + static_cast<std::int64_t>(k);
      std::int64_t index = indices.at(at);
      if (!bad.normalise(index, sizes[k], at)) return false;
      place += index * strides[k];
    }
    return true;
  }
};
Result<IndexTuples> tuplesOf(Dims data, Dims indices, std::size_t batchAxes);

}  // namespace rota::ref
