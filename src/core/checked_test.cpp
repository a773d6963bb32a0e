// SPDX-License-Identifier: Apache-2.0
#include "core/checked.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace rota {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(Checked, SumsAndProducts) {
  EXPECT_EQ(checkedMul(1 << 20, 1 << 20), std::int64_t{1} << 40);
  EXPECT_EQ(checkedMul(kMax, 2), std::nullopt);
  EXPECT_EQ(checkedAdd(kMax, 1), std::nullopt);
  EXPECT_EQ(checkedAdd(kMax, -1), kMax - 1);
}

TEST(Checked, CountRefusesNegativeAndOverflow) {
  const std::vector<std::int64_t> scalar{}, plain{2, 3, 4}, negative{2, -1}, huge{kMax, 2},
      hidden{0, kMax, 2}, empty{4, 0, 5};
  EXPECT_EQ(checkedCount(scalar), 1);
  EXPECT_EQ(checkedCount(plain), 24);
  EXPECT_EQ(checkedCount(negative), std::nullopt);
  EXPECT_EQ(checkedCount(huge), std::nullopt);
  EXPECT_EQ(checkedCount(hidden), std::nullopt);
  EXPECT_EQ(checkedCount(empty), 0);
}

TEST(Checked, BytesRoundPackedTypesUp) {
  const std::vector<std::int64_t> three{3}, nine{9}, many{std::int64_t{1} << 60};
  EXPECT_EQ(checkedBytes(DType::kInt4, three), 2u);
  EXPECT_EQ(checkedBytes(DType::kInt2, nine), 3u);
  EXPECT_EQ(checkedBytes(DType::kComplex128, three), 48u);
  EXPECT_EQ(checkedBytes(DType::kFloat64, many), std::nullopt);
}

}  // namespace
}  // namespace rota
