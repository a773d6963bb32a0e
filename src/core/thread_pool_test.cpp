// SPDX-License-Identifier: Apache-2.0
#include "core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {
std::atomic<std::int64_t> allocations{0};
}  // namespace

// Counts the allocations of the whole program; see ACallAllocatesNothing. Not inlined: GCC 12 would take the pair for mismatched.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace rota {
namespace {

using Parts = std::vector<std::pair<std::int64_t, std::int64_t>>;

Parts partsOf(ThreadPool& pool, std::int64_t count, std::int64_t grain) {
  std::mutex mutex;
  Parts parts;
  pool.parallelFor(count, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    parts.emplace_back(begin, end);
  });
  std::sort(parts.begin(), parts.end());
  return parts;
}

TEST(ThreadPool, PartsDoNotDependOnTheNumberOfThreads) {
  ThreadPool one(1), two(2), five(5);
  EXPECT_EQ(partsOf(one, 10, 4), (Parts{{0, 4}, {4, 8}, {8, 10}}));
  for (const std::int64_t count : {0, 1, 7, 64, 1000}) {
    for (const std::int64_t grain : {1, 3, 64, 5000}) {
      const Parts expected = partsOf(one, count, grain);
      EXPECT_EQ(partsOf(two, count, grain), expected);
      EXPECT_EQ(partsOf(five, count, grain), expected);
    }
  }
}

TEST(ThreadPool, AHugeGrainDoesNotOverflow) {
  ThreadPool pool(2);
  EXPECT_EQ(partsOf(pool, 100, std::numeric_limits<std::int64_t>::max()), (Parts{{0, 100}}));
}

TEST(ThreadPool, EveryPartRunsOnceOverManyShortJobs) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> hits(64);
  constexpr int kJobs = 5000;
  for (int job = 0; job < kJobs; ++job) {
    pool.parallelFor(
        64, 1, [&](std::int64_t begin, std::int64_t) { hits[static_cast<std::size_t>(begin)].fetch_add(1); });
  }
  for (const auto& hit : hits) EXPECT_EQ(hit.load(), kJobs);
}

TEST(ThreadPool, JobsAreDoneWhenTheCallReturns) {
  // Plain, unguarded data: a worker that is still inside after the call would be a race (seen by the thread sanitizer).
  ThreadPool pool(3);
  std::vector<std::int64_t> values(1000);
  for (std::int64_t job = 1; job <= 300; ++job) {
    pool.parallelFor(1000, 10, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] += job;
    });
    ASSERT_EQ(std::count(values.begin(), values.end(), job * (job + 1) / 2), 1000);
  }
}

TEST(ThreadPool, WorkersHelpEvenAfterTheySlept) {
  ThreadPool pool(2);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    // Two parts that wait for each other: without a second thread this would not end.
    std::atomic<int> arrived{0};
    pool.parallelFor(2, 1, [&](std::int64_t, std::int64_t) {
      arrived.fetch_add(1);
      while (arrived.load() < 2) std::this_thread::yield();
    });
    EXPECT_EQ(arrived.load(), 2);
  }
}

TEST(ThreadPool, NestedCallsRunInTheCallingThread) {
  ThreadPool outer(3), inner(3);
  std::atomic<int> strayed{0}, parts{0};
  outer.parallelFor(8, 1, [&](std::int64_t, std::int64_t) {
    const std::thread::id self = std::this_thread::get_id();
    const auto count = [&](std::int64_t, std::int64_t) {
      parts.fetch_add(1);
      if (std::this_thread::get_id() != self) strayed.fetch_add(1);
    };
    outer.parallelFor(5, 1, count);
    inner.parallelFor(5, 1, count);
  });
  EXPECT_EQ(parts.load(), 80);
  EXPECT_EQ(strayed.load(), 0);
}

TEST(ThreadPool, CallsFromSeveralThreadsAllFinish) {
  ThreadPool pool(2);
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int job = 0; job < 200; ++job) {
        pool.parallelFor(100, 7, [&](std::int64_t begin, std::int64_t end) { sum.fetch_add(end - begin); });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), 4 * 200 * 100);
}

TEST(ThreadPool, ACallAllocatesNothing) {
  ThreadPool pool(3);
  std::vector<std::atomic<std::int64_t>> sums(8);
  const std::int64_t before = allocations.load();
  for (int job = 0; job < 100; ++job) {
    pool.parallelFor(
        8, 1, [&](std::int64_t begin, std::int64_t) { sums[static_cast<std::size_t>(begin)] += begin; });
  }
  EXPECT_EQ(allocations.load(), before);
  EXPECT_EQ(sums[7].load(), 700);
}

TEST(ThreadPool, PoolsStartAndStopQuickly) {
  for (int i = 0; i < 100; ++i) {
    ThreadPool pool(1 + i % 6);
    EXPECT_EQ(pool.threads(), 1 + i % 6);
    if (i % 2 == 0) pool.parallelFor(3, 1, [](std::int64_t, std::int64_t) {});
  }
  EXPECT_EQ(ThreadPool(0).threads(), 1);
}

TEST(ThreadPool, DefaultThreadsAreAtLeastOneAndAtMostTheMachines) {
  EXPECT_GE(ThreadPool::defaultThreads(), 1);
  EXPECT_LE(ThreadPool::defaultThreads(), sysconf(_SC_NPROCESSORS_CONF));
}

}  // namespace
}  // namespace rota
