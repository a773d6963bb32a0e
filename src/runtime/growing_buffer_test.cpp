// SPDX-License-Identifier: Apache-2.0
#include "runtime/growing_buffer.h"

#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

namespace rota::runtime {
namespace {

TEST(GrowingBuffer, KeepsWhatItIsAskedToKeep) {
  GrowingBuffer buffer;
  ASSERT_TRUE(buffer.reserve(0).isOk());
  EXPECT_NE(buffer.data(), nullptr);
  ASSERT_TRUE(buffer.reserveKeeping(100, 0).isOk());
  for (int i = 0; i < 100; ++i) buffer.data()[i] = static_cast<std::byte>(i);
  ASSERT_TRUE(buffer.reserveKeeping(10000, 100).isOk());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(buffer.data()[i], static_cast<std::byte>(i));
  const std::byte* before = buffer.data();
  ASSERT_TRUE(buffer.reserve(5000).isOk());
  EXPECT_EQ(buffer.data(), before) << "it never shrinks";
}

TEST(GrowingBuffer, AppendingIsLinear) {
  GrowingBuffer buffer;
  int moves = 0;
  const std::byte* at = nullptr;
  for (std::size_t n = 1; n <= 100000; ++n) {
    ASSERT_TRUE(buffer.reserveKeeping(n, n - 1).isOk());
    moves += buffer.data() != at ? 1 : 0;
    at = buffer.data();
  }
  EXPECT_LT(moves, 30);
}

TEST(GrowingBuffer, TooMuchIsAnError) {
  GrowingBuffer buffer;
  EXPECT_EQ(buffer.reserve(static_cast<std::size_t>(-1) / 2).code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(buffer.reserveExactly(static_cast<std::size_t>(-1)).code(), ErrorCode::kOutOfMemory);
  EXPECT_TRUE(buffer.reserve(10).isOk()) << "and leaves a usable buffer";
}

TEST(Scratch, BecomesOneBlock) {
  Scratch scratch;
  for (int round = 0; round < 3; ++round) {
    void* first = *scratch.take(50000);
    void* second = *scratch.take(500000);
    void* third = *scratch.take(1);
    EXPECT_NE(first, second);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(third) % 64, 0u);
    std::memset(first, 1, 50000);
    std::memset(second, 2, 500000);
    EXPECT_EQ(static_cast<std::byte*>(first)[49999], std::byte{1});
    ASSERT_TRUE(scratch.reset().isOk());
  }
  const std::size_t bytes = scratch.bytes();
  ASSERT_TRUE(scratch.take(550000).isOk());
  ASSERT_TRUE(scratch.reset().isOk());
  EXPECT_EQ(scratch.bytes(), bytes);
}

}  // namespace
}  // namespace rota::runtime
