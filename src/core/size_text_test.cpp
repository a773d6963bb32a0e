// SPDX-License-Identifier: Apache-2.0
// Sizes as text; the round trip of random sizes stands in size_test.cpp.
#include <gtest/gtest.h>

#include "core/size.h"

namespace rota {
namespace {

class SizeTextTest : public testing::Test {
 protected:
  ErrorCode problemOf(std::string_view text) {
    const auto parsed = sizes_.parse(text);
    return parsed.isOk() ? ErrorCode::kOk : parsed.status().code();
  }

  SizeContext sizes_;
  Size batch_ = sizes_.newSymbol("batch", {1}, SymbolOrigin::kInputDim);
  Size past_ = sizes_.newSymbol("past + \"1\"\\", {1}, SymbolOrigin::kInputDim);
  Size min_ = sizes_.newSymbol("min", {1}, SymbolOrigin::kInputDim);
};

TEST_F(SizeTextTest, NamesThatAreNoIdentifiersAreQuoted) {
  EXPECT_EQ(sizes_.toString(past_ + batch_), "batch + \"past + \\\"1\\\"\\\\\"");
  EXPECT_EQ(*sizes_.parse(sizes_.toString(past_ * 2)), past_ * 2);
  EXPECT_EQ(sizes_.toString(min_), "\"min\"");
  EXPECT_EQ(*sizes_.parse("min(\"min\", batch)"), min(min_, batch_));
}

TEST_F(SizeTextTest, OperatorsBindAsInPython) {
  EXPECT_EQ(*sizes_.parse("10 - batch // 2 * 4"), Size(10) - floorDiv(batch_, 2) * 4);
  EXPECT_EQ(*sizes_.parse("-batch // 2"), floorDiv(batch_ * -1, 2));
  EXPECT_EQ(*sizes_.parse("--3 + - ( 2 - 7 ) % 3"), Size(3) + mod(5, 3));
  EXPECT_EQ(*sizes_.parse("ceildiv(batch, 4) + max(1, 2, batch)"), ceilDiv(batch_, 4) + max(2, batch_));
  EXPECT_EQ(*sizes_.parse("-9223372036854775808"), Size(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(*sizes_.parse("batch - 9223372036854775808"), batch_ + std::numeric_limits<std::int64_t>::min());
}

TEST_F(SizeTextTest, BadTextsAreRefused) {
  EXPECT_EQ(problemOf("seq + 1"), ErrorCode::kUnknownName);
  for (const char* text :
       {"", "batch +", "(batch", "batch)", "min(batch)", "mod(1, 2, 3)", "9223372036854775808", "1 2",
        "\"batch", "3 // 0", "batch * 99999999999999999999", "*"}) {
    EXPECT_EQ(problemOf(text), ErrorCode::kUsage) << text;
  }
  EXPECT_EQ(problemOf(std::string(100000, '(')), ErrorCode::kUsage);
  EXPECT_EQ(problemOf(std::string(100000, '-') + "1"), ErrorCode::kOk);
}

}  // namespace
}  // namespace rota
