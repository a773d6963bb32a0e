// SPDX-License-Identifier: Apache-2.0
// Facts about sizes: what requireEqual and broadcast unify, guard and refuse, and how scopes forget.
#include <random>

#include <gtest/gtest.h>

#include "core/size.h"

namespace rota {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

class SizeFactsTest : public testing::Test {
 protected:
  Size symbol(const char* name, std::int64_t lo = 1, std::int64_t hi = kMax,
              SymbolOrigin origin = SymbolOrigin::kInputDim) {
    return sizes_.newSymbol(name, {lo, hi}, origin);
  }
  Status equal(Size a, Size b) { return sizes_.requireEqual(a, b, "node", "reason"); }
  Result<Size> broadcast(Size a, Size b) { return sizes_.broadcast(a, b, "node", "reason"); }
  Size resolved(Size s) { return sizes_.resolve(s); }

  SizeContext sizes_;
  Size batch_ = symbol("batch");
  Size seq_ = symbol("seq");
  Size seq1_ = symbol("seq_b");
};

TEST_F(SizeFactsTest, YoungerSymbolGivesWay) {
  ASSERT_TRUE(equal(seq1_, seq_));
  EXPECT_EQ(resolved(seq1_ * 2), seq_ * 2);
  EXPECT_TRUE(sizes_.provablyEqual(batch_ * seq1_, batch_ * seq_));
  ASSERT_EQ(sizes_.guards().size(), 1U);
  EXPECT_EQ(sizes_.guards()[0].kind, GuardKind::kEqual);
  EXPECT_NE(sizes_.guards()[0].a, sizes_.guards()[0].b) << "a guard keeps both sides as they were";
  ASSERT_TRUE(equal(seq1_, seq_));
  EXPECT_EQ(sizes_.guards().size(), 1U) << "what is known needs no second guard";
}

TEST_F(SizeFactsTest, InputDimsStayAndFoundSizesGiveWay) {
  const Size found = symbol("found", 0, 64, SymbolOrigin::kDataDependent);
  const Size later = symbol("later");
  ASSERT_TRUE(equal(found, later));
  EXPECT_EQ(resolved(found), later);
  EXPECT_EQ(sizes_.range(later), (SizeRange{1, 64})) << "both ranges hold";
}

TEST_F(SizeFactsTest, ConstantsAreTaken) {
  ASSERT_TRUE(equal(batch_, 4));
  EXPECT_EQ(resolved(batch_ * seq_), seq_ * 4);
  const Status status = equal(batch_, 5);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.code(), ErrorCode::kShapeMismatch);
  EXPECT_EQ(status.detail().node, "node");
  EXPECT_EQ(status.detail().expected, "4");
  EXPECT_EQ(status.detail().found, "5");
}

TEST_F(SizeFactsTest, ImpossibleEqualitiesAreErrors) {
  EXPECT_FALSE(equal(3, 4));
  EXPECT_FALSE(equal(batch_, 0)) << "below its range";
  EXPECT_FALSE(equal(batch_ + 1, batch_));
  EXPECT_FALSE(equal(batch_ * 2, 7)) << "odd";
  EXPECT_FALSE(equal(batch_ * 2, seq_ * 4 + 1)) << "odd";
  EXPECT_FALSE(equal(Size::invalid(), 1));
  EXPECT_TRUE(sizes_.guards().empty());
}

TEST_F(SizeFactsTest, WhatCancelsIsCancelled) {
  ASSERT_TRUE(equal(batch_ * seq_ * 12, batch_ * seq1_ * 12));
  EXPECT_EQ(resolved(seq1_), seq_);
  const Size total = symbol("total");
  ASSERT_TRUE(equal(total + 1, seq_ + 3));
  EXPECT_EQ(resolved(total), seq_ + 2);
}

TEST_F(SizeFactsTest, CompoundAtomsAreReplaced) {
  const Size joined = *broadcast(seq_, seq1_);
  EXPECT_EQ(joined, max(seq_, seq1_));
  ASSERT_TRUE(equal(joined, seq_));
  EXPECT_EQ(resolved(joined * 2), seq_ * 2);
  ASSERT_TRUE(equal(seq1_, seq_));
  EXPECT_EQ(resolved(joined + seq1_), seq_ * 2);
}

TEST_F(SizeFactsTest, BroadcastResultsSimplifyLater) {
  const Size joined = *broadcast(seq_, seq1_);
  ASSERT_TRUE(equal(seq1_, seq_));
  EXPECT_EQ(resolved(joined), seq_);
}

TEST_F(SizeFactsTest, ExactDivisionsAreLearnt) {
  // Reshape to [-1, 8] of seq elements.
  const Size rows = floorDiv(seq_, 8);
  EXPECT_NE(rows * 8, seq_);
  ASSERT_TRUE(equal(rows * 8, seq_));
  EXPECT_EQ(resolved(rows * 8), seq_);
  EXPECT_TRUE(sizes_.divisible(seq_, 4));
  // And with a symbolic divisor.
  const Size columns = floorDiv(seq_ + 3, batch_);
  ASSERT_TRUE(equal(mod(seq_ + 3, batch_), 0));
  EXPECT_EQ(resolved(columns * batch_), seq_ + 3);
  EXPECT_EQ(mod(seq_ + 3, batch_), Size(0));
}

TEST_F(SizeFactsTest, BroadcastOfConstantsAndOnes) {
  EXPECT_EQ(*broadcast(3, 1), Size(3));
  EXPECT_EQ(*broadcast(1, seq_), seq_);
  EXPECT_EQ(*broadcast(seq_, seq_), seq_);
  EXPECT_EQ(*broadcast(0, 1), Size(0));
  EXPECT_FALSE(broadcast(3, 4));
  EXPECT_FALSE(broadcast(0, 2));
  EXPECT_TRUE(sizes_.guards().empty());
}

TEST_F(SizeFactsTest, BroadcastOfASymbolAndAConstant) {
  EXPECT_EQ(*broadcast(seq_, 8), Size(8));
  ASSERT_EQ(sizes_.guards().size(), 1U);
  EXPECT_EQ(sizes_.guards()[0].kind, GuardKind::kBroadcast);
  EXPECT_EQ(resolved(seq_), seq_) << "it may be 1 as well as 8";
  const Size wide = symbol("wide", 2);
  EXPECT_EQ(*broadcast(8, wide), Size(8));
  EXPECT_EQ(resolved(wide), Size(8)) << "it cannot be 1";
  const Size narrow = symbol("narrow", 0, 4);
  EXPECT_EQ(*broadcast(8, narrow), Size(8));
  EXPECT_EQ(resolved(narrow), Size(1)) << "it cannot be 8";
  const Size never = symbol("never", 2, 4);
  EXPECT_FALSE(broadcast(8, never));
}

TEST_F(SizeFactsTest, BroadcastOfSymbolsIsRightForAllowedValues) {
  const Size maybe0 = symbol("maybe0", 0);
  const Size maybe0b = symbol("maybe0b", 0);
  const Size two = symbol("two", 2);
  const std::vector<std::pair<Size, Size>> cases{{seq_, seq1_}, {maybe0, maybe0b}, {maybe0, seq_},
                                                 {two, maybe0}, {maybe0, 8},       {0, maybe0}};
  for (const auto& [a, b] : cases) {
    const auto result = broadcast(a, b);
    ASSERT_TRUE(result.isOk());
    for (std::int64_t va = 0; va < 10; ++va) {
      for (std::int64_t vb = 0; vb < 10; ++vb) {
        const bool fits = va == vb || va == 1 || vb == 1;
        if (!fits) continue;
        std::vector<std::int64_t> binding(sizes_.symbols().size(), 1);
        const auto bind = [&](Size s, std::int64_t v) {
          if (const auto id = sizes_.asSymbol(s)) {
            binding[*id] = v;
            return sizes_.symbols()[*id].range.contains(v);
          }
          return s.is(v);
        };
        if (!bind(a, va) || !bind(b, vb)) continue;
        EXPECT_EQ(sizes_.evaluate(*result, binding), va == 1 ? vb : va)
            << sizes_.toString(*result) << " of " << va << " and " << vb;
      }
    }
  }
}

TEST_F(SizeFactsTest, DimsAreNotNegative) {
  const Size read = symbol("read", std::numeric_limits<std::int64_t>::min());
  const Size rows = floorDiv(read + 15, 16);
  const Size pairs = rows * 2 - read;
  EXPECT_NE(max(rows, 0), rows);
  sizes_.pushScope(3);
  sizes_.assumeNonNegative(rows);
  sizes_.assumeNonNegative(pairs);
  EXPECT_EQ(max(rows, 0), rows);
  EXPECT_EQ(sizes_.range(rows * batch_ + 1).lo, 1);
  EXPECT_EQ(sizes_.range(pairs).lo, 0);
  const auto copy = sizes_.clone();
  EXPECT_EQ(copy->range(copy->adopt(rows)).lo, 0);
  sizes_.popScope();
  EXPECT_LT(sizes_.range(rows).lo, 0);
  sizes_.assumeNonNegative(read);
  EXPECT_EQ(sizes_.range(rows).lo, 0);
}

TEST_F(SizeFactsTest, ScopesForget) {
  sizes_.pushScope(7);
  ASSERT_TRUE(equal(seq_, 1));
  EXPECT_EQ(resolved(seq_), Size(1));
  sizes_.pushScope(8);
  ASSERT_TRUE(equal(batch_, 2));
  sizes_.popScope();
  EXPECT_EQ(resolved(batch_), batch_);
  EXPECT_EQ(resolved(seq_), Size(1));
  sizes_.popScope();
  EXPECT_EQ(resolved(seq_), seq_);
  ASSERT_EQ(sizes_.guards().size(), 2U);
  EXPECT_EQ(sizes_.guards()[0].scope, 7U);
  EXPECT_EQ(sizes_.guards()[1].scope, 8U);
  ASSERT_TRUE(equal(seq_, 3)) << "what held in one branch does not bind the other";
  sizes_.pushScope(7);
  sizes_.popScope();
  ASSERT_EQ(sizes_.guards().size(), 2U) << "a block that is inferred again starts without guards";
  EXPECT_EQ(sizes_.guards()[0].scope, 8U);
  EXPECT_EQ(sizes_.guards()[1].scope, 0U);
}

TEST_F(SizeFactsTest, RandomEqualitiesStayConsistent) {
  // Equalities that hold for a hidden binding never contradict each other, and resolving never changes a value under it.
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    SizeContext sizes;
    std::vector<std::int64_t> hidden;
    std::vector<Size> pool;
    for (int i = 0; i < 6; ++i) {
      hidden.push_back(1 + static_cast<std::int64_t>(random() % 4));
      pool.push_back(sizes.newSymbol("s" + std::to_string(i), {1}, SymbolOrigin::kInputDim));
    }
    const auto any = [&] { return pool[random() % pool.size()]; };
    for (int i = 0; i < 14; ++i) {
      const Size a = any();
      const Size b = any();
      const unsigned op = static_cast<unsigned>(random() % 6);
      pool.push_back(op == 0   ? a + b
                     : op == 1 ? a * b
                     : op == 2 ? max(a, b)
                     : op == 3 ? min(a, b)
                     : op == 4 ? floorDiv(a, 2) + 1
                               : a + 1);
    }
    for (int i = 0; i < 60; ++i) {
      const Size a = any();
      const Size b = any();
      const auto va = sizes.evaluate(a, hidden);
      if (!va || va != sizes.evaluate(b, hidden)) continue;
      const Status status = sizes.requireEqual(a, b, "node", "reason");
      ASSERT_TRUE(status.isOk()) << status.toString();
    }
    for (Size s : pool) {
      const Size resolved = sizes.resolve(s);
      EXPECT_EQ(sizes.evaluate(resolved, hidden), sizes.evaluate(s, hidden))
          << sizes.toString(s) << " became " << sizes.toString(resolved);
    }
    for (const SizeGuard& guard : sizes.guards())
      EXPECT_EQ(sizes.evaluate(guard.a, hidden), sizes.evaluate(guard.b, hidden));
  }
}

}  // namespace
}  // namespace rota
