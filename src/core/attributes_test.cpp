// SPDX-License-Identifier: Apache-2.0
#include "core/attributes.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

TEST(Attributes, StaySortedAndReplaceByName) {
  Attributes attributes;
  attributes.set("pads", std::vector<std::int64_t>{1, 1});
  attributes.set("axis", std::int64_t{3});
  attributes.set("mode", std::string("linear"));
  attributes.set("axis", std::int64_t{-1});
  ASSERT_EQ(attributes.entries().size(), 3u);
  EXPECT_EQ(attributes.entries()[0].name, "axis");
  EXPECT_EQ(attributes.entries()[1].name, "mode");
  EXPECT_EQ(attributes.entries()[2].name, "pads");
  EXPECT_EQ(attributes.getInt("axis"), -1);
}

TEST(Attributes, TypedAccessFallsBackOnAbsenceAndOtherType) {
  Attributes attributes;
  attributes.set("alpha", 0.5f);
  attributes.set("names", std::vector<std::string>{"a"});
  attributes.set("value", Tensor::ofInt64({7}, {1}));
  EXPECT_EQ(attributes.getFloat("alpha", 2.0f), 0.5f);
  EXPECT_EQ(attributes.getFloat("beta", 2.0f), 2.0f);
  EXPECT_EQ(attributes.getInt("alpha", 9), 9);
  EXPECT_EQ(attributes.getString("alpha", "none"), "none");
  EXPECT_EQ(attributes.getInts("names"), nullptr);
  ASSERT_NE(attributes.getStrings("names"), nullptr);
  EXPECT_EQ(attributes.getStrings("names")->front(), "a");
  ASSERT_NE(attributes.getTensor("value"), nullptr);
  EXPECT_EQ(intAt(attributes.getTensor("value")->view(), 0), 7);
  EXPECT_EQ(attributes.getFloats("value"), nullptr);
}

TEST(Attributes, EraseRemovesOneAndToleratesAbsence) {
  Attributes attributes;
  attributes.set("a", std::int64_t{1});
  attributes.set("b", std::int64_t{2});
  attributes.erase("a");
  attributes.erase("zz");
  EXPECT_FALSE(attributes.has("a"));
  EXPECT_TRUE(attributes.has("b"));
  attributes.erase("b");
  EXPECT_TRUE(attributes.empty());
}

}  // namespace
}  // namespace rota
