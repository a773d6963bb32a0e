// SPDX-License-Identifier: Apache-2.0
#include "core/error_table.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace rota {
namespace {

TEST(ErrorTable, IsSortedAndComplete) {
  const auto table = errorTable();
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end(),
                             [](const ErrorInfo& a, const ErrorInfo& b) { return a.code < b.code; }));
  // Codes are never removed: at least those of the first version are there, first and last among them.
  EXPECT_GE(table.size(), 41u);
  EXPECT_EQ(table.front().code, ErrorCode::kUsage);
  EXPECT_EQ(table.back().code, ErrorCode::kInternal);
}

TEST(ErrorTable, EveryRowExplainsItself) {
  std::set<std::string> titles;
  for (const ErrorInfo& row : errorTable()) {
    const std::string_view text(row.explanation);
    EXPECT_TRUE(titles.insert(row.title).second) << row.title;
    EXPECT_GE(text.size(), 100u) << row.title;
    EXPECT_EQ(text.back(), '.') << row.title;
    EXPECT_EQ(text.find("  "), std::string_view::npos) << row.title;
    EXPECT_GE(row.exitCode, 1) << row.title;
    EXPECT_LE(row.exitCode, 8) << row.title;
    EXPECT_EQ(findErrorInfo(row.code), &row);
  }
}

TEST(ErrorTable, ExitCodesOfTheCommandLine) {
  EXPECT_EQ(exitCodeOf(ErrorCode::kOk), 0);
  EXPECT_EQ(exitCodeOf(ErrorCode::kModelInvalid), 1);
  EXPECT_EQ(exitCodeOf(ErrorCode::kUnknownKnob), 2);
  EXPECT_EQ(exitCodeOf(ErrorCode::kAccuracy), 3);
  EXPECT_EQ(exitCodeOf(ErrorCode::kEngineDamaged), 4);
  EXPECT_EQ(exitCodeOf(ErrorCode::kInterrupted), 5);
  EXPECT_EQ(exitCodeOf(ErrorCode::kUnsupportedOperator), 6);
  EXPECT_EQ(exitCodeOf(ErrorCode::kDiskFull), 7);
  EXPECT_EQ(exitCodeOf(ErrorCode::kTimeLimit), 8);
  EXPECT_EQ(exitCodeOf(static_cast<ErrorCode>(4711)), 1);
  EXPECT_EQ(findErrorInfo(ErrorCode::kOk), nullptr);
}

}  // namespace
}  // namespace rota
