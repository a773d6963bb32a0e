// SPDX-License-Identifier: Apache-2.0
// The thread pool (decision N17). `parallelFor` cuts a range into parts by a rule that knows only the range and the grain, never the
// number of threads, so that reduction order and bits do not depend on `--threads`. Workers spin briefly, then sleep.
// A call allocates nothing and waits for no other call: the caller always takes part, and when the workers are busy with a call from another
// thread, or the call is nested, it runs all parts itself. Bodies do not throw. Tested by src/core/thread_pool_test.cpp.
#pragma once

#include <cstdint>
#include <memory>

namespace rota {

/// A non-owning reference to a callable `void(std::int64_t begin, std::int64_t end)`; cheaper than std::function, no allocation.
class RangeFunction {
 public:
  template <typename F>
  RangeFunction(const F& f)  // NOLINT(google-explicit-constructor)
      : object_(&f),
        call_([](const void* o, std::int64_t b, std::int64_t e) { (*static_cast<const F*>(o))(b, e); }) {}
  void operator()(std::int64_t begin, std::int64_t end) const { call_(object_, begin, end); }

 private:
  const void* object_;
  void (*call_)(const void*, std::int64_t, std::int64_t);
};

class ThreadPool {
 public:
  /// `threads` in all, the caller included; at least 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Threads in all; fewer than asked for where the system gave no more.
  int threads() const;
  /// Calls `body` on parts of [0, count) of `grain` elements (the last one shorter). The parts are the same for every number of threads.
  void parallelFor(std::int64_t count, std::int64_t grain, RangeFunction body);

  /// What the CPU set and the cgroup quota of this process really give, at least 1.
  static int defaultThreads();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota
