// SPDX-License-Identifier: Apache-2.0
#include "core/json_depth.h"

#include <string>

#include <gtest/gtest.h>

namespace rota {
namespace {

TEST(JsonDepth, CountsListsAndObjectsOutsideOfStrings) {
  EXPECT_EQ(jsonDepth(""), 0u);
  EXPECT_EQ(jsonDepth("7"), 0u);
  EXPECT_EQ(jsonDepth("[[1], {\"a\": [2]}]"), 3u);
  EXPECT_EQ(jsonDepth(R"(["[[[[", "\"[[[", "{"])"), 1u);
  EXPECT_EQ(jsonDepth(std::string(1000, '[')), 1000u);
  EXPECT_EQ(jsonDepth("]]]][[\"\\"), 2u);
}

}  // namespace
}  // namespace rota
