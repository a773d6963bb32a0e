// SPDX-License-Identifier: Apache-2.0
// The pool. One 32-bit word holds all shared state of a job: whether it is open, how many workers are inside, and its number. A worker
// joins by a compare-and-swap that sees the job open; the caller closes it when all parts are taken and waits until the last
// worker has left, so that nobody touches a job's fields after the call. Parts are handed out by an atomic counter: which thread
// runs a part is not fixed, which part is which is. A worker that sleeps through a job costs nothing but its help.
// Idle threads spin some tens of microseconds, the gap between two steps of a plan, then sleep on a futex.
// Tested by src/core/thread_pool_test.cpp.
#include "core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cmath>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/check.h"
#include "core/cpu_quota.h"

namespace rota {
namespace {

using Word = std::atomic<std::uint32_t>;
static_assert(sizeof(Word) == 4 && Word::is_always_lock_free, "a futex is a plain 32-bit word");

constexpr std::uint32_t kOpen = 1;
constexpr std::uint32_t kWorker = 2;  // one worker inside; bits 1 to 15
constexpr std::uint32_t kWorkerMask = 0xfffe;
constexpr std::uint32_t kJob = 0x10000;  // the number of the job: bits 16 to 31
constexpr int kMaxThreads = 4096;
constexpr int kSpins = 2000;

void futexWait(Word& word, std::uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr,
          0);
}

void futexWake(Word& word, int count) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

void pauseSpin() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Set while this thread runs parts, of whichever pool: a call from there runs in this thread.
thread_local bool insideParts = false;

void runInOrder(std::int64_t count, std::int64_t grain, const RangeFunction& body) {
  for (std::int64_t begin = 0; begin < count;) {
    const std::int64_t end = count - begin > grain ? begin + grain : count;
    body(begin, end);
    begin = end;
  }
}

}  // namespace

struct ThreadPool::Impl {
  // The job; written only while no worker is inside.
  std::int64_t count = 0;
  std::int64_t grain = 1;
  std::int64_t parts = 0;
  const RangeFunction* body = nullptr;

  alignas(64) std::atomic<std::int64_t> nextPart{0};
  alignas(64) Word state{0};
  alignas(64) Word lastLeft{0};  ///< Changes when the last worker leaves a closed job whose caller sleeps.
  std::atomic<bool> callerSleeps{false};
  std::atomic<int> sleepers{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> busy{false};  ///< A call is running.
  int spins = kSpins;
  std::vector<std::thread> workers;

  void runParts() noexcept {
    insideParts = true;
    for (;;) {
      const std::int64_t part = nextPart.fetch_add(1, std::memory_order_relaxed);
      if (part >= parts) break;
      const std::int64_t begin = part * grain;
      (*body)(begin, part + 1 == parts ? count : begin + grain);
    }
    insideParts = false;
  }

  void leave() {
    const std::uint32_t now = state.fetch_sub(kWorker) - kWorker;
    if ((now & (kOpen | kWorkerMask)) == 0 && callerSleeps.load()) {
      lastLeft.fetch_add(1);
      futexWake(lastLeft, 1);
    }
  }

  /// Spins, then sleeps, until there is a job that this worker has not seen or the pool stops; joins it.
  bool join(std::uint32_t& seenJob) {
    int spun = 0;
    for (;;) {
      std::uint32_t now = state.load();
      if (stop.load(std::memory_order_relaxed)) return false;
      const std::uint32_t job = now / kJob;
      if ((now & kOpen) != 0 && job != seenJob) {
        if (state.compare_exchange_weak(now, now + kWorker)) {
          seenJob = job;
          return true;
        }
      } else if (spun < spins) {
        ++spun;
        pauseSpin();
      } else {
        // Whoever opens a job after this sees the sleeper; who did it before has changed the word, and the wait returns.
        sleepers.fetch_add(1);
        if (!stop.load()) futexWait(state, now);
        sleepers.fetch_sub(1);
      }
    }
  }

  void work() {
    std::uint32_t seenJob = 0;
    while (join(seenJob)) {
      runParts();
      leave();
    }
  }

  void open() {
    nextPart.store(0, std::memory_order_relaxed);
    const std::uint32_t job = (state.load(std::memory_order_relaxed) / kJob + 1) * kJob;
    // Number 0 means "none seen" to a new worker.
    state.store((job == 0 ? kJob : job) | kOpen);
    const int helpers =
        static_cast<int>(std::min<std::int64_t>(parts - 1, static_cast<std::int64_t>(workers.size())));
    if (sleepers.load() > 0) futexWake(state, helpers);
  }

  void close() {
    state.fetch_and(~kOpen);
    for (int i = 0; i < spins; ++i) {
      if ((state.load(std::memory_order_acquire) & kWorkerMask) == 0) return;
      pauseSpin();
    }
    callerSleeps.store(true);
    for (;;) {
      const std::uint32_t before = lastLeft.load();
      if ((state.load() & kWorkerMask) == 0) break;
      futexWait(lastLeft, before);
    }
    callerSleeps.store(false);
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  const int wanted = std::clamp(threads, 1, kMaxThreads);
  // Spinning takes time from the thread that is waited for when there are more threads than processors.
  if (wanted > defaultThreads()) impl_->spins = 0;
  impl_->workers.reserve(static_cast<std::size_t>(wanted - 1));
  try {
    for (int i = 1; i < wanted; ++i) impl_->workers.emplace_back([pool = impl_.get()] { pool->work(); });
  } catch (const std::system_error&) {
    // A limit of the system on threads: the pool works with those that it got, and threads() says so.
  }
}

ThreadPool::~ThreadPool() {
  impl_->stop.store(true);
  impl_->state.fetch_add(kJob);  // the word changes, so that nobody falls asleep on the old one
  futexWake(impl_->state, INT_MAX);
  for (std::thread& worker : impl_->workers) worker.join();
}

int ThreadPool::threads() const { return static_cast<int>(impl_->workers.size()) + 1; }

void ThreadPool::parallelFor(std::int64_t count, std::int64_t grain, RangeFunction body) {
  CHECK(grain >= 1);
  if (count <= 0) return;
  const std::int64_t parts = (count - 1) / grain + 1;
  if (parts == 1 || impl_->workers.empty() || insideParts ||
      impl_->busy.exchange(true, std::memory_order_acquire)) {
    return runInOrder(count, grain, body);
  }
  impl_->count = count;
  impl_->grain = grain;
  impl_->parts = parts;
  impl_->body = &body;
  impl_->open();
  impl_->runParts();
  impl_->close();
  impl_->busy.store(false, std::memory_order_release);
}

int ThreadPool::defaultThreads() {
  const int set = cpuSetSize();
  const std::optional<double> quota = cpuQuota();
  if (!quota) return set;
  return std::clamp(static_cast<int>(std::ceil(std::min(*quota, 1e6))), 1, set);
}

}  // namespace rota
