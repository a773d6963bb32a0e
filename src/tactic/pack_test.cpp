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

}  // namespace
}  // namespace rota::tactic
