// SPDX-License-Identifier: Apache-2.0
// A strided copy: a nest of loops with one stride for the source and one for the target, brought into the form that runs fastest.
//
// Loops are sorted by target stride, joined where both sides allow it, and run as memcpy of rows, as transposition of square tiles (when the
// source is contiguous along another loop than the target), or element by element. Parts of parallel work are whole rows or tiles, never
// smaller than some ten kilobytes. Strides may be 0 in the source and negative. Tested by src/backend/cpu/run/copy_plan_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/run/strides.h"
#include "core/thread_pool.h"

namespace rota::runtime {

class CopyPlan {
 public:
  CopyPlan() = default;
  /// Elements of 1, 2, 4, 8 or 16 bytes.
  explicit CopyPlan(std::size_t bytes) : bytes_(bytes) {}

  /// Adds a loop; outermost first or in any order.
  void loop(std::int64_t size, std::int64_t from, std::int64_t to);
  void offsets(std::int64_t from, std::int64_t to) {
    fromOffset_ += from;
    toOffset_ += to;
  }
  /// After the last loop.
  void finish();
  void run(const void* from, void* to, ThreadPool& threads) const;

 private:
  enum class Form : std::uint8_t { kRows, kTiles, kElements };
  void chooseForm();
  template <typename T> void runTyped(const T* from, T* to, ThreadPool& threads) const;
  template <typename T> void runRow(const T* from, T* to) const;
  template <typename T> void runTile(const T* from, T* to, std::int64_t rows, std::int64_t columns) const;

  std::size_t bytes_ = 4;
  std::size_t rank_ = 0;
  LoopStrides size_{};
  LoopStrides from_{};
  LoopStrides to_{};
  std::int64_t fromOffset_ = 0;
  std::int64_t toOffset_ = 0;
  std::int64_t count_ = 1;
  Form form_ = Form::kRows;
  // Tiles: the loop along which the source is contiguous, taken out of the nest.
  std::int64_t tileSize_ = 1;
  std::int64_t tileTo_ = 1;
};

}  // namespace rota::runtime
