// SPDX-License-Identifier: Apache-2.0
#include "core/env.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace rota {
namespace {

TEST(Environment, TellsUnsetEmptyAndSetApart) {
  const char* name = "ROTA_TEST_VARIABLE";
  unsetenv(name);
  EXPECT_EQ(environmentVariable(name), std::nullopt);
  EXPECT_FALSE(environmentSwitch(name));
  setenv(name, "", 1);
  EXPECT_EQ(environmentVariable(name), "");
  EXPECT_FALSE(environmentSwitch(name));
  setenv(name, "0", 1);
  EXPECT_EQ(environmentVariable(name), "0");
  EXPECT_TRUE(environmentSwitch(name));
  unsetenv(name);
}

}  // namespace
}  // namespace rota
