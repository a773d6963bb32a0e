// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_planner.h"

#include <random>

#include <gtest/gtest.h>

namespace rota::runtime {
namespace {

void expectSound(const std::vector<BufferRequest>& requests, const MemoryPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), requests.size());
  EXPECT_GE(plan.bytes, plan.largestLiveSet);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kArenaAlignment, 0u);
    EXPECT_LE(plan.offsets[i] + requests[i].bytes, plan.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const bool together = requests[i].first <= requests[j].last && requests[j].first <= requests[i].last;
      if (!together || requests[i].bytes == 0 || requests[j].bytes == 0) continue;
      const bool apart = plan.offsets[i] + requests[i].bytes <= plan.offsets[j] ||
                         plan.offsets[j] + requests[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(apart) << "buffers " << i << " and " << j << " overlap";
    }
  }
}

TEST(MemoryPlanner, EmptyInput) {
  const MemoryPlan plan = planMemory({});
  EXPECT_EQ(plan.bytes, 0u);
  EXPECT_EQ(plan.largestLiveSet, 0u);
}

TEST(MemoryPlanner, ChainUsesTwoBuffers) {
  // 0 -> 1 -> 2 -> 3, each live until the next has been written.
  const std::vector<BufferRequest> requests = {{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}, {1000, 3, 4}};
  const MemoryPlan plan = planMemory(requests);
  expectSound(requests, plan);
  EXPECT_EQ(plan.bytes, 2048u);
  EXPECT_EQ(plan.largestLiveSet, 2048u);
}

TEST(MemoryPlanner, EmptyBuffersTakeNothing) {
  const std::vector<BufferRequest> requests = {{0, 0, 9}, {64, 0, 1}, {0, 1, 1}};
  const MemoryPlan plan = planMemory(requests);
  expectSound(requests, plan);
  EXPECT_EQ(plan.bytes, 64u);
}

TEST(MemoryPlanner, ResidualBlocksReachTheLowerBound) {
  // Per block: in -> a -> b, out = b + in; sizes shrink by stage as in a residual network.
  std::vector<BufferRequest> requests;
  std::uint32_t at = 0;
  std::size_t bytes = 1 << 20;
  for (int stage = 0; stage < 4; ++stage, bytes /= 2) {
    for (int block = 0; block < 4; ++block, at += 3) {
      requests.push_back({bytes, at, at + 3});          // the block's input, used by the sum
      requests.push_back({bytes / 4, at + 1, at + 2});  // a
      requests.push_back({bytes, at + 2, at + 3});      // b
    }
  }
  const MemoryPlan plan = planMemory(requests);
  expectSound(requests, plan);
  EXPECT_EQ(plan.bytes, plan.largestLiveSet);
}

TEST(MemoryPlanner, RandomLifetimesStayNearTheLowerBound) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<BufferRequest> requests;
    for (std::uint32_t i = 0; i < 200; ++i) {
      const auto length = static_cast<std::uint32_t>(1 + random() % 6 + (random() % 20 == 0 ? 60 : 0));
      requests.push_back({1 + random() % 100000, i, i + length});
    }
    const MemoryPlan plan = planMemory(requests);
    expectSound(requests, plan);
    EXPECT_LE(static_cast<double>(plan.bytes), 1.15 * static_cast<double>(plan.largestLiveSet));
  }
}

TEST(MemoryPlanner, SamePlanForSameInput) {
  std::mt19937 random(3);
  std::vector<BufferRequest> requests;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const auto length = static_cast<std::uint32_t>(random() % 9);
    requests.push_back({64 * (random() % 5), i, i + length});
  }
  EXPECT_EQ(planMemory(requests).offsets, planMemory(requests).offsets);
}

}  // namespace
}  // namespace rota::runtime
