// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/run/copy_plan.h"

#include <algorithm>
#include <cstring>

#include "core/check.h"

namespace rota::runtime {
namespace {

constexpr std::int64_t kTile = 16;
constexpr std::int64_t kPartBytes = 65536;

struct Wide {
  std::uint64_t words[2];
};

std::int64_t magnitude(std::int64_t x) { return x < 0 ? -x : x; }

}  // namespace

void CopyPlan::loop(std::int64_t size, std::int64_t from, std::int64_t to) {
  CHECK(rank_ < kMaxLoops);
  count_ *= size;
  if (size == 1) return;
  size_[rank_] = size;
  from_[rank_] = from;
  to_[rank_] = to;
  ++rank_;
}

void CopyPlan::finish() {
  // Insertion sort: few loops, and equal strides keep their order.
  for (std::size_t i = 1; i < rank_; ++i) {
    for (std::size_t k = i; k > 0 && magnitude(to_[k]) > magnitude(to_[k - 1]); --k) {
      std::swap(size_[k], size_[k - 1]);
      std::swap(from_[k], from_[k - 1]);
      std::swap(to_[k], to_[k - 1]);
    }
  }
  std::size_t kept = 0;
  for (std::size_t k = 0; k < rank_; ++k) {
    if (kept > 0 && from_[kept - 1] == from_[k] * size_[k] && to_[kept - 1] == to_[k] * size_[k]) {
      size_[kept - 1] *= size_[k];
      from_[kept - 1] = from_[k];
      to_[kept - 1] = to_[k];
      continue;
    }
    size_[kept] = size_[k];
    from_[kept] = from_[k];
    to_[kept] = to_[k];
    ++kept;
  }
  rank_ = kept;
  if (rank_ == 0) {
    size_[0] = 1;
    from_[0] = to_[0] = 1;
    rank_ = 1;
  }
  chooseForm();
}

void CopyPlan::chooseForm() {
  const std::size_t last = rank_ - 1;
  form_ = Form::kElements;
  if (to_[last] != 1) return;
  if (from_[last] == 1) {
    form_ = Form::kRows;
    return;
  }
  if (from_[last] == 0) return;
  for (std::size_t k = 0; k < last; ++k) {
    if (from_[k] != 1 || size_[k] < 4) continue;
    form_ = Form::kTiles;
    tileSize_ = size_[k];
    tileTo_ = to_[k];
    for (std::size_t m = k; m < last; ++m) {
      size_[m] = size_[m + 1];
      from_[m] = from_[m + 1];
      to_[m] = to_[m + 1];
    }
    --rank_;
    return;
  }
}

template <typename T> void CopyPlan::runRow(const T* from, T* to) const {
  const std::size_t last = rank_ - 1;
  const std::int64_t n = size_[last];
  if (form_ == Form::kRows) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    return;
  }
  const std::int64_t fromStep = from_[last];
  const std::int64_t toStep = to_[last];
  if (fromStep == 0) {
    const T value = *from;
    for (std::int64_t i = 0; i < n; ++i) to[i * toStep] = value;
  } else if (toStep == 1) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * fromStep];
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * toStep] = from[i * fromStep];
  }
}

/// to[r * tileTo + c] = from[r + c * fromStep]: the source is read in whole cache lines, the target written in rows.
template <typename T>
void CopyPlan::runTile(const T* from, T* to, std::int64_t rows, std::int64_t columns) const {
  const std::int64_t fromStep = from_[rank_ - 1];
  if (rows == kTile && columns == kTile) {
    for (std::int64_t r = 0; r < kTile; ++r) {
      const T* source = from + r;
      T* target = to + r * tileTo_;
      for (std::int64_t c = 0; c < kTile; ++c) target[c] = source[c * fromStep];
    }
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[r * tileTo_ + c] = from[r + c * fromStep];
}

template <typename T> void CopyPlan::runTyped(const T* from, T* to, ThreadPool& threads) const {
  from += fromOffset_;
  to += toOffset_;
  const std::size_t last = rank_ - 1;
  if (form_ == Form::kRows && rank_ == 1) {
    const std::int64_t grain = kPartBytes / static_cast<std::int64_t>(sizeof(T));
    threads.parallelFor(size_[0], grain, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin) * sizeof(T));
    });
    return;
  }
  // Work items: rows, or strips of kTile rows of a transposed plane.
  const std::int64_t strips = form_ == Form::kTiles ? (tileSize_ + kTile - 1) / kTile : 1;
  std::int64_t items = strips;
  for (std::size_t k = 0; k < last; ++k) items *= size_[k];
  const std::int64_t itemBytes =
      size_[last] * static_cast<std::int64_t>(sizeof(T)) * (form_ == Form::kTiles ? kTile : 1);
  threads.parallelFor(items, std::max<std::int64_t>(1, kPartBytes / itemBytes),
                      [&](std::int64_t begin, std::int64_t end) {
                        std::array<std::int64_t, kMaxLoops> at{};
                        std::int64_t rest = begin / strips;
                        const T* f = from;
                        T* t = to;
                        for (std::size_t k = last; k-- > 0;) {
                          at[k] = rest % size_[k];
                          rest /= size_[k];
                          f += at[k] * from_[k];
                          t += at[k] * to_[k];
                        }
                        std::int64_t strip = begin % strips;
                        for (std::int64_t item = begin; item < end; ++item) {
                          if (form_ == Form::kTiles) {
                            const std::int64_t row = strip * kTile;
                            const std::int64_t rows = std::min(kTile, tileSize_ - row);
                            for (std::int64_t c = 0; c < size_[last]; c += kTile)
                              runTile(f + row + c * from_[last], t + row * tileTo_ + c, rows,
                                      std::min(kTile, size_[last] - c));
                            if (++strip < strips) continue;
                            strip = 0;
                          } else {
                            runRow(f, t);
                          }
                          for (std::size_t k = last; k-- > 0;) {
                            f += from_[k];
                            t += to_[k];
                            if (++at[k] < size_[k]) break;
                            f -= size_[k] * from_[k];
                            t -= size_[k] * to_[k];
                            at[k] = 0;
                          }
                        }
                      });
}

void CopyPlan::run(const void* from, void* to, ThreadPool& threads) const {
  if (count_ == 0) return;
  switch (bytes_) {
    case 1: return runTyped(static_cast<const std::uint8_t*>(from), static_cast<std::uint8_t*>(to), threads);
    case 2:
      return runTyped(static_cast<const std::uint16_t*>(from), static_cast<std::uint16_t*>(to), threads);
    case 4:
      return runTyped(static_cast<const std::uint32_t*>(from), static_cast<std::uint32_t*>(to), threads);
    case 8:
      return runTyped(static_cast<const std::uint64_t*>(from), static_cast<std::uint64_t*>(to), threads);
    default:
      CHECK(bytes_ == 16);
      return runTyped(static_cast<const Wide*>(from), static_cast<Wide*>(to), threads);
  }
}

}  // namespace rota::runtime
