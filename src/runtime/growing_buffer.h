// SPDX-License-Identifier: Apache-2.0
// Memory that is kept between runs and only ever grows: the arena, outputs that the context owns, values without a known size, scratch.
// Growth is the one counted exception to "run allocates nothing" (decision N4). Tested by src/runtime/growing_buffer_test.cpp.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <rota/status.h>

namespace rota::runtime {

class GrowingBuffer {
 public:
  GrowingBuffer() = default;
  ~GrowingBuffer();
  GrowingBuffer(GrowingBuffer&& other) noexcept { swap(other); }
  GrowingBuffer& operator=(GrowingBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;

  /// At least `bytes`, 64-byte aligned (never nullptr); on growth the contents are lost.
  Status reserve(std::size_t bytes) { return reserveKeeping(bytes, 0); }
  /// At least `bytes`, without room for growth; contents are lost on growth.
  Status reserveExactly(std::size_t bytes);
  /// At least `bytes`; the first `used` bytes are kept.
  Status reserveKeeping(std::size_t bytes, std::size_t used);

  std::byte* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }
  void swap(GrowingBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  Status moveTo(std::size_t size, std::size_t bytes, std::size_t used);

  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Memory that kernels ask for piece by piece and that is given back all at once. After the first pass it is one block: no allocation.
class Scratch {
 public:
  Result<void*> take(std::size_t bytes);
  /// Gives everything back; joins the blocks when there were several.
  Status reset();
  std::size_t bytes() const;

 private:
  std::vector<GrowingBuffer> blocks_;
  std::size_t usedInLast_ = 0;
};

}  // namespace rota::runtime
