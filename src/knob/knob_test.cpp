// SPDX-License-Identifier: Apache-2.0
#include "knob/knob.h"

#include <gtest/gtest.h>

namespace rota::knob {
namespace {

constexpr Knob kTestToggle = toggle("test:alpha", true, "Turns alpha on.");
constexpr Knob kTestChoice =
    choice("test:tile", {"4", "8", "16"}, "8", "Rows of a tile.", {.stage = Stage::kCodegen});
const RegisterKnob kRegisterTestToggle(kTestToggle);
const RegisterKnob kRegisterTestChoice(kTestChoice);

TEST(Knob, DefaultsHoldWithoutARoute) {
  const KnobSet set;
  EXPECT_TRUE(set.on(kTestToggle));
  EXPECT_EQ(set.number(kTestChoice), 8);
  EXPECT_EQ(set.toRoute(), "");
}

TEST(Knob, RouteSetsValuesAndPrintsCanonically) {
  const auto set = KnobSet::parseRoute("  -test:tile=16\n-test:alpha=off ");
  ASSERT_TRUE(set.isOk()) << set.status().toString();
  EXPECT_FALSE(set->on(kTestToggle));
  EXPECT_EQ(set->number(kTestChoice), 16);
  EXPECT_EQ(set->toRoute(), "-test:alpha=off -test:tile=16");
}

TEST(Knob, DefaultValueLeavesTheCanonicalRouteEmpty) {
  const auto set = KnobSet::parseRoute("-test:tile=8");
  ASSERT_TRUE(set.isOk());
  EXPECT_EQ(set->toRoute(), "");
}

TEST(Knob, ScopedTokenActsOnMatchingSourcesOnly) {
  const auto set = KnobSet::parseRoute("-test:tile@/layer1/*=4");
  ASSERT_TRUE(set.isOk()) << set.status().toString();
  EXPECT_EQ(set->number(kTestChoice, "/layer1/conv\n/layer9/relu"), 4);
  EXPECT_EQ(set->number(kTestChoice, "/layer2/conv"), 8);
  EXPECT_EQ(set->number(kTestChoice), 8);
}

struct BadRoute {
  const char* route;
  ErrorCode code;
  const char* part;
};

TEST(Knob, ErrorsNameTokenAndColumn) {
  const BadRoute cases[] = {
      {"test:alpha=off", ErrorCode::kBadRoute, "column 1"},
      {"-test:alpha", ErrorCode::kBadRoute, "no '='"},
      {"-test:alpha=", ErrorCode::kBadRoute, "column 12"},
      {"-test:alpha=off -test:alpha=on", ErrorCode::kBadRoute, "set twice"},
      {"-test:alpha=maybe", ErrorCode::kBadRoute, "one of on, off"},
      {"-test:tile=[4|8]", ErrorCode::kBadRoute, "list of values"},
      {"-test:alpha=off -test:tyle=4", ErrorCode::kUnknownKnob, "test:tile"},
      {"-test:tile@=4", ErrorCode::kBadRoute, "after '@'"},
  };
  for (const BadRoute& c : cases) {
    const auto set = KnobSet::parseRoute(c.route);
    ASSERT_FALSE(set.isOk()) << c.route;
    EXPECT_EQ(set.status().code(), c.code) << c.route;
    EXPECT_NE(set.status().toString().find(c.part), std::string::npos) << set.status().toString();
  }
}

TEST(Knob, JsonHasTheTunersShape) {
  const std::string json = knobsToJson("0.1.0");
  EXPECT_NE(json.find("\"option\": \"-test:tile\""), std::string::npos);
  EXPECT_NE(json.find("\"allowed_values\": \"-test:tile=[4|8|16]\""), std::string::npos);
  EXPECT_NE(json.find("\"default_value\": \"8\""), std::string::npos);
}

TEST(Knob, GlobsMatch) {
  EXPECT_TRUE(globMatch("*", ""));
  EXPECT_TRUE(globMatch("/a/*/c", "/a/b/c"));
  EXPECT_TRUE(globMatch("a?c*", "abcdef"));
  EXPECT_FALSE(globMatch("a?c", "abcd"));
  EXPECT_FALSE(globMatch("", "a"));
}

}  // namespace
}  // namespace rota::knob
