// SPDX-License-Identifier: Apache-2.0
#include "runtime/size_program.h"

#include <limits>

#include <gtest/gtest.h>

#include "runtime/testing.h"

namespace rota::runtime {
namespace {

using Op = SizeContext::Op;
using testing::ProgramBuilder;

TEST(SizeProgram, FloorsAndModuloFollowTheSignOfTheDivisor) {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n");
  const std::uint32_t three = b.number(3);
  const std::uint32_t quotient = b.combine(Op::kFloorDiv, n, three);
  const std::uint32_t rest = b.combine(Op::kMod, n, three);
  const SizeProgram sizes(b.program);
  const auto check = [&](std::int64_t value, std::int64_t q, std::int64_t r) {
    SizeValues values(sizes);
    values.setSymbol(0, value);
    values.evaluate();
    EXPECT_EQ(values.value(quotient), q) << value;
    EXPECT_EQ(values.value(rest), r) << value;
  };
  check(7, 2, 1);
  check(-7, -3, 2);
  check(6, 2, 0);
  check(-6, -2, 0);
}

TEST(SizeProgram, WhatCannotBeComputedIsUnknown) {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n");
  const std::uint32_t square = b.combine(Op::kMul, n, n);
  const std::uint32_t inverse = b.combine(Op::kFloorDiv, b.number(1), n);
  const std::uint32_t after = b.combine(Op::kAdd, square, inverse);
  const SizeProgram sizes(b.program);
  SizeValues values(sizes);
  values.evaluate();
  EXPECT_FALSE(values.isKnown(n));
  values.setSymbol(0, std::int64_t{1} << 40);
  values.evaluate();
  EXPECT_FALSE(values.isKnown(square)) << "overflow";
  EXPECT_TRUE(values.isKnown(inverse));
  EXPECT_FALSE(values.isKnown(after));
  values.setSymbol(0, 0);
  values.evaluate();
  EXPECT_TRUE(values.isKnown(square));
  EXPECT_FALSE(values.isKnown(inverse)) << "division by zero";
}

TEST(SizeProgram, StagesFollowTheSymbolsFoundWhileRunning) {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n");
  const std::uint32_t k = b.symbol("k", SymbolOrigin::kDataDependent, {0, 10});
  const std::uint32_t m = b.symbol("m", SymbolOrigin::kHostResolved, {1, 4});
  const std::uint32_t fixed = b.combine(Op::kMul, n, b.number(2));
  const std::uint32_t first = b.combine(Op::kAdd, fixed, k);
  const std::uint32_t both = b.combine(Op::kMul, first, m);
  b.program.guards.push_back({Guard::Kind::kEqual, n, fixed, "", ""});
  b.program.guards.push_back({Guard::Kind::kEqual, both, fixed, "", ""});
  const SizeProgram sizes(b.program);
  EXPECT_FALSE(sizes.isDynamic(fixed));
  EXPECT_TRUE(sizes.isDynamic(both));
  EXPECT_EQ(sizes.staticGuards().size(), 1u);
  EXPECT_EQ(sizes.guards(1).size(), 1u);
  EXPECT_EQ(sizes.guards(2).size(), 1u);

  SizeValues values(sizes);
  values.setSymbol(0, 5);
  values.evaluate();
  EXPECT_TRUE(values.isKnown(fixed));
  EXPECT_FALSE(values.isKnown(first));
  const auto bounds = values.bounds();
  EXPECT_EQ(bounds[first].lo, 10);
  EXPECT_EQ(bounds[first].hi, 20);
  EXPECT_EQ(bounds[both].hi, 80);
  values.bind(2, 3);
  EXPECT_FALSE(values.isKnown(both));
  values.bind(1, 7);
  EXPECT_EQ(values.value(first), 17);
  EXPECT_EQ(values.value(both), 51);
  values.forget(1);
  EXPECT_FALSE(values.isKnown(both));
  EXPECT_TRUE(values.isKnown(m));
}

TEST(SizeProgram, NoBoundStaysNoBound) {
  ProgramBuilder b;
  constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();
  const std::uint32_t k = b.symbol("k", SymbolOrigin::kDataDependent, {0, kNoBound});
  const std::uint32_t more = b.combine(Op::kAdd, k, b.number(5));
  const std::uint32_t times = b.combine(Op::kMul, k, b.number(3));
  const std::uint32_t part = b.combine(Op::kFloorDiv, k, b.number(4));
  const std::uint32_t rest = b.combine(Op::kMod, k, b.number(4));
  const std::uint32_t capped = b.combine(Op::kMin, more, b.number(100));
  const SizeProgram sizes(b.program);
  SizeValues values(sizes);
  values.evaluate();
  const auto bounds = values.bounds();
  for (std::uint32_t entry : {k, more, times, part}) EXPECT_EQ(bounds[entry].hi, kNoBound) << entry;
  EXPECT_EQ(bounds[rest].hi, 3);
  EXPECT_EQ(bounds[capped].hi, 100);
  EXPECT_EQ(bounds[more].lo, 5);
}

}  // namespace
}  // namespace rota::runtime
