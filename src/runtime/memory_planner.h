// SPDX-License-Identifier: Apache-2.0
// Places buffers with known lifetimes into one arena so that buffers that live at the same time do not overlap.
//
// This is dynamic storage allocation, which is NP-hard in general; greedy best fit is near the lower bound (the largest live set) on real
// networks. Four orders are tried and the smallest arena is kept: by size, by size times lifetime, by lifetime, by definition. The first
// three are the "greedy by size / by breadth" family of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020.
// A pure function: equal input, equal plan. Quadratic in the number of buffers with a small constant (10 ms for 2,000 buffers).
// Tested by src/runtime/memory_planner_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rota::runtime {

inline constexpr std::size_t kArenaAlignment = 64;

/// A buffer that lives from position `first` to position `last`, both included.
struct BufferRequest {
  std::size_t bytes = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

struct MemoryPlan {
  std::vector<std::size_t>
      offsets;            ///< One for each request, multiples of kArenaAlignment; 0 for empty buffers.
  std::size_t bytes = 0;  ///< Size of the arena.
  std::size_t largestLiveSet = 0;  ///< No arena can be smaller.
};

MemoryPlan planMemory(std::span<const BufferRequest> requests);

}  // namespace rota::runtime
