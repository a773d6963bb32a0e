// SPDX-License-Identifier: Apache-2.0
#include "runtime/growing_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>

namespace rota::runtime {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kUseHugePagesFrom = 2 * kHugePage;
/// More than any machine can address: refused without asking the system.
constexpr std::size_t kTooMuch = std::size_t{1} << 47;
constexpr std::size_t kFirstScratch = std::size_t{64} << 10;

Status outOfMemory(std::size_t bytes) {
  return Status(ErrorCode::kOutOfMemory, "Memory for activations cannot be had")
      .expected(std::to_string(bytes) + " bytes")
      .fix("use smaller shapes or a machine with more memory");
}

/// nullptr when there is not that much.
std::byte* allocate(std::size_t& bytes) {
  const bool huge = bytes >= kUseHugePagesFrom;
  const std::size_t unit = huge ? kHugePage : kAlignment;
  if (bytes >= kTooMuch) return nullptr;
  bytes = (bytes + unit - 1) / unit * unit;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(unit, bytes));
  // A hint: fewer page faults and TLB misses in large arenas; where it is refused nothing is lost.
  if (huge && data != nullptr) static_cast<void>(madvise(data, bytes, MADV_HUGEPAGE));
  return data;
}

}  // namespace

GrowingBuffer::~GrowingBuffer() { std::free(data_); }

Status GrowingBuffer::reserveKeeping(std::size_t bytes, std::size_t used) {
  if (bytes <= capacity_ && data_ != nullptr) return Status::ok();
  // A buffer that grows once will grow again (appending, caches): half as much on top.
  return moveTo(std::max({bytes, kAlignment, capacity_ + capacity_ / 2}), bytes, used);
}

Status GrowingBuffer::reserveExactly(std::size_t bytes) {
  if (bytes <= capacity_ && data_ != nullptr) return Status::ok();
  std::free(data_);  // first, so that old and new need not fit side by side
  data_ = nullptr;
  capacity_ = 0;
  return moveTo(std::max(bytes, kAlignment), bytes, 0);
}

Status GrowingBuffer::moveTo(std::size_t size, std::size_t bytes, std::size_t used) {
  std::byte* grown = allocate(size);
  if (grown == nullptr && size > bytes) {
    size = std::max(bytes, kAlignment);
    grown = allocate(size);
  }
  if (grown == nullptr) return outOfMemory(bytes);
  if (used != 0) std::memcpy(grown, data_, used);
  std::free(data_);
  data_ = grown;
  capacity_ = size;
  return Status::ok();
}

Result<void*> Scratch::take(std::size_t bytes) {
  if (bytes >= kTooMuch) return outOfMemory(bytes);
  bytes = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (blocks_.empty() || blocks_.back().capacity() - usedInLast_ < bytes) {
    GrowingBuffer block;
    const Status status = block.reserve(std::max(bytes, kFirstScratch));
    if (!status.isOk()) return status;
    blocks_.push_back(std::move(block));
    usedInLast_ = 0;
  }
  void* memory = blocks_.back().data() + usedInLast_;
  usedInLast_ += bytes;
  return memory;
}

Status Scratch::reset() {
  usedInLast_ = 0;
  if (blocks_.size() <= 1) return Status::ok();
  const std::size_t total = bytes();
  blocks_.clear();
  blocks_.emplace_back();
  return blocks_.back().reserve(total);
}

std::size_t Scratch::bytes() const {
  std::size_t total = 0;
  for (const GrowingBuffer& block : blocks_) total += block.capacity();
  return total;
}

}  // namespace rota::runtime
