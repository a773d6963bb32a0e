// SPDX-License-Identifier: Apache-2.0
#include "core/log.h"

#include <string>

#include <gtest/gtest.h>

namespace rota {
namespace {

std::string linesAt(LogLevel level) {
  const LogLevel before = logLevel();
  setLogLevel(level);
  ::testing::internal::CaptureStderr();
  log(LogLevel::kError, "an {error} 100%");
  log(LogLevel::kWarning, "a warning");
  log(LogLevel::kInfo, "a fact");
  log(LogLevel::kVerbose, "a detail");
  setLogLevel(before);
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, LevelDecidesWhatIsWritten) {
  EXPECT_EQ(linesAt(LogLevel::kError), "rota: error: an {error} 100%\n");
  EXPECT_EQ(linesAt(LogLevel::kInfo),
            "rota: error: an {error} 100%\nrota: warning: a warning\nrota: info: a fact\n");
  EXPECT_NE(linesAt(LogLevel::kVerbose).find("rota: debug: a detail\n"), std::string::npos);
}

TEST(Log, NothingGoesToStandardOutput) {
  ::testing::internal::CaptureStdout();
  linesAt(LogLevel::kVerbose);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace rota
