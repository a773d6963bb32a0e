// SPDX-License-Identifier: Apache-2.0
// No form of a product falls back to a tenth of what it is: bench/reference_products.cpp prints the figures, this is only a net below them, with
// the time of the thread, so that a busy machine does not matter much.
#include "ref/product_speed.h"

#include <ctime>

#include <gtest/gtest.h>

namespace rota::ref {
namespace {

double threadSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TEST(ProductSpeed, NoFormIsFarBelowTwoGflops) {
#ifndef NDEBUG
  GTEST_SKIP() << "only optimised builds have a speed";
#endif
  constexpr double kNet = 0.4;  // GFLOP/s
  for (const SpeedCase& test : speedCases()) {
    if (test.flop > 4e8) continue;
    SpeedRun run(test);
    double best = 0;
    for (int attempt = 0; attempt < 5 && best < kNet; ++attempt) {
      const double start = threadSeconds();
      const Status status = run.once();
      ASSERT_TRUE(status.isOk()) << test.name << ": " << status.toString();
      best = std::max(best, test.flop * 1e-9 / (threadSeconds() - start));
    }
    EXPECT_GE(best, kNet) << test.name;
  }
}

}  // namespace
}  // namespace rota::ref
