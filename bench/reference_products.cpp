// SPDX-License-Identifier: Apache-2.0
// How fast the products of the reference are, in all the forms in which they come (decision N19 wants 2 GFLOP/s on one core): the accuracy check of
// a network is as fast as these. Prints GFLOP/s by the time of the processor, so that a busy machine changes little.
//
//   build/release/bench/reference_products [--benchmark_filter=REGEX]
#include <benchmark/benchmark.h>

#include "ref/product_speed.h"

namespace rota::ref {
namespace {

const std::vector<SpeedCase>& cases() {
  static const std::vector<SpeedCase> all = speedCases();
  return all;
}

void measure(benchmark::State& state, const SpeedCase& test) {
  SpeedRun run(test);
  for (auto _ : state) {
    if (const Status status = run.once(); !status.isOk()) {
      state.SkipWithError(status.toString().c_str());
      return;
    }
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(test.flop * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

const bool kRegistered = [] {
  for (const SpeedCase& test : cases()) {
    benchmark::RegisterBenchmark(test.name.c_str(), [&test](benchmark::State& state) {
      measure(state, test);
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace rota::ref
