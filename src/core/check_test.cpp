// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"

#include <gtest/gtest.h>

#include <rota/status.h>

namespace rota {
namespace {

TEST(CheckDeathTest, NamesTheConditionAndEndsTheProcess) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "R1901.*check_test.cpp.*1 \\+ 1 == 3");
}

TEST(Check, EvaluatesItsConditionOnce) {
  int calls = 0;
  CHECK(++calls == 1);
  EXPECT_EQ(calls, 1);
}

Status failWith(int value) {
  ROTA_RETURN_IF_ERROR(value < 0 ? Status(ErrorCode::kUsage, "negative") : Status::ok());
  return Status(ErrorCode::kInternal, "reached the end");
}

TEST(Check, ReturnIfErrorLeavesEarlyOnlyOnError) {
  EXPECT_EQ(failWith(-1).code(), ErrorCode::kUsage);
  EXPECT_EQ(failWith(1).code(), ErrorCode::kInternal);
}

}  // namespace
}  // namespace rota
