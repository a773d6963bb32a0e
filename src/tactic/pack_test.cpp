// SPDX-License-Identifier: Apache-2.0
#include "tactic/pack.h"

#include <gtest/gtest.h>

namespace rota::tactic {
namespace {

std::vector<float> floatsOf(const Tensor& t) {
  const auto* p = reinterpret_cast<const float*>(t.data());
  return {p, p + t.count()};
}

TEST(Pack, BlocksAnAxisAndPadsWithZeros) {
  const Tensor t = Tensor::ofFloat({1, 2, 3, 4, 5, 6}, {3, 2});  // 3 channels of 2 pixels
  runtime::Layout layout;
  layout.blocks = {{0, 2}};
  const auto packed = packTensor(t, layout);
  ASSERT_TRUE(packed.isOk());
  EXPECT_EQ(floatsOf(*packed), (std::vector<float>{1, 3, 2, 4, 5, 0, 6, 0}));
}

TEST(Pack, TwoBlocksNest) {
  // [o=2, i=2] in blocks i2 then o2 (innermost o), as library weights are.
  const Tensor t = Tensor::ofFloat({1, 2, 3, 4}, {2, 2});
  runtime::Layout layout;
  layout.blocks = {{1, 2}, {0, 2}};
  const auto packed = packTensor(t, layout);
  ASSERT_TRUE(packed.isOk());
  EXPECT_EQ(floatsOf(*packed), (std::vector<float>{1, 3, 2, 4}));
}

TEST(Pack, OrderTransposes) {
  const Tensor t = Tensor::ofFloat({1, 2, 3, 4, 5, 6}, {2, 3});
  runtime::Layout layout;
  layout.order = {1, 0};
  const auto packed = packTensor(t, layout);
  ASSERT_TRUE(packed.isOk());
  EXPECT_EQ(floatsOf(*packed), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(Pack, LongAxesAgreeWithThePlaceOfEachElement) {
  // 70 x 9 x 3 in blocks of 8 of axis 1 and 2 of axis 0, axis 2 outermost: more than one row of the inner table.
  const std::int64_t d0 = 70, d1 = 9, d2 = 3;
  std::vector<float> values(static_cast<std::size_t>(d0 * d1 * d2));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  runtime::Layout layout;
  layout.order = {2, 0, 1};
  layout.blocks = {{1, 8}, {0, 2}};
  const auto packed = packTensor(Tensor::ofFloat(values, {d0, d1, d2}), layout);
  ASSERT_TRUE(packed.isOk());
  const auto got = floatsOf(*packed);
  ASSERT_EQ(got.size(), static_cast<std::size_t>(3 * 70 * 16));
  for (std::int64_t i = 0; i < d0; ++i) {
    for (std::int64_t j = 0; j < d1; ++j) {
      for (std::int64_t k = 0; k < d2; ++k) {
        const std::int64_t place = k * 70 * 16 + i / 2 * 32 + j / 8 * 16 + j % 8 * 2 + i % 2;
        ASSERT_EQ(got[static_cast<std::size_t>(place)],
                  values[static_cast<std::size_t>((i * d1 + j) * d2 + k)]);
      }
    }
  }
}

}  // namespace
}  // namespace rota::tactic
