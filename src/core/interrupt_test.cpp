// SPDX-License-Identifier: Apache-2.0
#include "core/interrupt.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <signal.h>

#include <gtest/gtest.h>

namespace rota {
namespace {

TEST(Interrupt, TheFlagBecomesAnError) {
  EXPECT_TRUE(checkInterrupted().isOk());
  setInterrupted(true);
  EXPECT_EQ(checkInterrupted().code(), ErrorCode::kInterrupted);
  setInterrupted(false);
  EXPECT_FALSE(interrupted());
}

// The handlers are tested in child processes: they change the whole process.

TEST(InterruptDeathTest, TheFirstSignalOnlySetsTheFlag) {
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_DFL);
        installInterruptHandlers();
        raise(SIGINT);
        std::_Exit(interrupted() ? 5 : 1);
      },
      ::testing::ExitedWithCode(5), "");
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        installInterruptHandlers();
        raise(SIGINT);
        raise(SIGTERM);
        std::_Exit(0);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptDeathTest, AForcedEndRemovesWhatIsNotFinished) {
  const std::string unfinished = testing::TempDir() + "rota_interrupt_unfinished",
                    finished = testing::TempDir() + "rota_interrupt_finished";
  for (const std::string& path : {unfinished, finished}) std::ofstream(path) << "x";
  EXPECT_EXIT(
      {
        signal(SIGTERM, SIG_DFL);
        installInterruptHandlers();
        removeWhenForced(unfinished);
        removeWhenForced(finished);
        keepWhenForced(finished);
        raise(SIGTERM);
        raise(SIGALRM);  // as if the grace period were over
      },
      ::testing::ExitedWithCode(5), "R1602");
  EXPECT_FALSE(std::ifstream(unfinished).good());
  EXPECT_TRUE(std::ifstream(finished).good());
  std::remove(finished.c_str());
}

TEST(InterruptDeathTest, AnIgnoredSignalStaysIgnored) {
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_IGN);
        installInterruptHandlers();
        raise(SIGINT);
        std::_Exit(interrupted() ? 1 : 7);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace rota
