// SPDX-License-Identifier: Apache-2.0
// Sizes against a plain interpreter: random expressions are built twice, as a tree that is evaluated literally and as a canonical size,
// and must agree for random values of the symbols; so must the range, the printed and parsed size, the flattened program and the resolved
// size. Directed cases pin down the canonical forms that shape inference relies on.
#include "core/size.h"

#include <algorithm>
#include <memory>
#include <random>

#include <gtest/gtest.h>

namespace rota {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

class SizeTest : public testing::Test {
 protected:
  Size symbol(const char* name, std::int64_t lo = 1, std::int64_t hi = kMax) {
    return sizes_.newSymbol(name, {lo, hi}, SymbolOrigin::kInputDim);
  }
  std::string text(Size s) { return sizes_.toString(s); }

  SizeContext sizes_;
  Size a_ = symbol("a");
  Size b_ = symbol("b");
  Size h_ = symbol("h");
};

TEST_F(SizeTest, EqualPolynomialsAreEqual) {
  EXPECT_EQ((a_ + b_) * (a_ - b_), a_ * a_ - b_ * b_);
  EXPECT_EQ(a_ + b_ + 1, Size(1) + b_ + a_);
  EXPECT_EQ(a_ - a_, Size(0));
  EXPECT_NE(a_, b_);
  EXPECT_EQ(text(Size(1) + b_ * a_ * 2 - h_), "2*a*b - h + 1");
}

TEST_F(SizeTest, ConstantsRoundToMinusInfinity) {
  EXPECT_EQ(floorDiv(-7, 2), Size(-4));
  EXPECT_EQ(ceilDiv(-7, 2), Size(-3));
  EXPECT_EQ(ceilDiv(7, 2), Size(4));
  EXPECT_EQ(ceilDiv(7, -2), Size(-3));
  EXPECT_EQ(mod(-7, 3), Size(2));
  EXPECT_EQ(mod(7, -3), Size(-2));
}

TEST_F(SizeTest, OverflowIsInvalidAndStaysSo) {
  EXPECT_FALSE((Size(kMax) + 1).isValid());
  EXPECT_FALSE((Size(kMin) * -1).isValid());
  EXPECT_FALSE(floorDiv(kMin, -1).isValid());
  EXPECT_FALSE((a_ * kMax * 2).isValid());
  EXPECT_FALSE((Size::invalid() + a_).isValid());
  EXPECT_FALSE(floorDiv(a_, 0).isValid());
  EXPECT_FALSE(mod(1, 0).isValid());
  const std::vector<Size> factors{kMax, 2, 0};
  EXPECT_FALSE(product(factors).isValid());
  EXPECT_EQ(sizes_.toString(Size::invalid()), "invalid");
}

TEST_F(SizeTest, ExactDivisionCancels) {
  EXPECT_EQ(floorDiv(a_ * b_ * 768, b_), a_ * 768);
  EXPECT_EQ(floorDiv(a_ * b_ * 768, a_ * 64), b_ * 12);
  EXPECT_EQ(floorDiv((a_ + b_) * (h_ + 1), h_ + 1), a_ + b_);
  EXPECT_EQ(floorDiv(a_ * b_ + h_, a_), b_ + floorDiv(h_, a_));
  EXPECT_EQ(floorDiv(a_ * h_ + b_ * h_, a_ * h_), Size(1) + floorDiv(b_, a_));
  EXPECT_EQ(divideExact(a_ * b_, b_), a_);
  EXPECT_EQ(divideExact(a_ * b_ + 1, b_), std::nullopt);
  EXPECT_EQ(divideExact(a_ * -6, -3), a_ * 2);
  EXPECT_EQ(divideExact(7, 2), std::nullopt);
  const Size zero = symbol("maybe_zero", 0);
  EXPECT_NE(floorDiv(a_ * zero, zero), a_) << "0 / 0 has no value, so nothing may cancel";
}

TEST_F(SizeTest, StridedConvolutionsMerge) {
  Size h = h_;
  for (int layer = 0; layer < 5; ++layer) h = floorDiv(h + 2 - 3, 2) + 1;  // kernel 3, pad 1, stride 2
  EXPECT_EQ(text(h), "floordiv(h + 31, 32)");
  EXPECT_EQ(floorDiv(h_ * 4 + 6, 8), floorDiv(h_ * 2 + 3, 4));
  EXPECT_EQ(floorDiv(h_ * 5 + 7, 2), h_ * 2 + 3 + floorDiv(h_ + 1, 2));
  EXPECT_EQ(floorDiv(h_ * 32, 32), h_);
  EXPECT_EQ(floorDiv(h_ * -1, 2), ceilDiv(h_, 2) * -1);
}

TEST_F(SizeTest, ModIsReduced) {
  EXPECT_EQ(mod(h_ * 8 + 11, 8), Size(3));
  EXPECT_EQ(mod(mod(h_, 12) + a_, 4), mod(h_ + a_, 4));
  EXPECT_EQ(mod(h_ * 6, 8), mod(h_ * 3, 4) * 2);
  EXPECT_EQ(mod(a_ * b_, b_), Size(0));
  const Size small = symbol("small", 0, 7);
  EXPECT_EQ(mod(small, 8), small);
  EXPECT_EQ(floorDiv(small, 8), Size(0));
  EXPECT_EQ(floorDiv(small, a_ + 7), Size(0));
}

TEST_F(SizeTest, MinAndMaxDropWhatCannotWin) {
  EXPECT_EQ(min(a_, 1), Size(1));
  EXPECT_EQ(max(a_, 1), a_);
  EXPECT_EQ(max(a_ * b_, b_), a_ * b_);
  EXPECT_EQ(max(h_, floorDiv(h_, 2)), h_);
  EXPECT_EQ(max(min(a_, b_), a_), a_);
  EXPECT_EQ(max(max(a_, b_), max(b_, a_)), max(a_, b_));
  EXPECT_EQ(text(max(max(b_, 3), max(a_, 2))), "max(3, a, b)");
  EXPECT_EQ(min(kMax, h_), h_) << "the end of a Slice to the end";
  EXPECT_EQ(max(h_ + kMin, 0), Size(0)) << "the end of a Slice that runs backwards";
}

TEST_F(SizeTest, Ranges) {
  EXPECT_EQ(sizes_.range(a_ * b_ - b_), (SizeRange{0, kMax}));
  EXPECT_EQ(sizes_.range(h_ - floorDiv(h_, 8) * 8), (SizeRange{0, 7}));
  EXPECT_EQ(sizes_.range(h_ - min(h_, 4)).lo, 0);
  EXPECT_EQ(sizes_.range(max(a_, b_) - a_).lo, 0);
  EXPECT_EQ(sizes_.range(mod(h_, 5)), (SizeRange{0, 4}));
  EXPECT_EQ(sizes_.range(a_ * -1), (SizeRange{kMin, -1}));
  const Size x = symbol("x", 2, 10);
  EXPECT_EQ(sizes_.range(x * x - x * 3 + 1).hi, 71) << "at 10, although the terms alone allow 95";
  EXPECT_EQ(sizes_.range(floorDiv(x, 3)), (SizeRange{0, 3}));
  sizes_.setRange(*sizes_.asSymbol(x), {4, 5});
  EXPECT_EQ(sizes_.range(floorDiv(x, 3)), (SizeRange{1, 1}));
  EXPECT_EQ(sizes_.resolve(floorDiv(x, 3)), Size(1)) << "resolve uses what has become known";
}

TEST_F(SizeTest, Divisibility) {
  EXPECT_TRUE(sizes_.divisible(h_ * 6 + 9, 3));
  EXPECT_FALSE(sizes_.divisible(h_ * 6 + 9, 2));
  const Size x = symbol("x");
  sizes_.setDivisor(*sizes_.asSymbol(x), 8);
  EXPECT_TRUE(sizes_.divisible(x * 3, 24));
  EXPECT_TRUE(sizes_.divisible(x * a_ + 16, 8));
  EXPECT_FALSE(sizes_.divisible(x, 16));
  EXPECT_EQ(mod(x, 4), Size(0));
  EXPECT_EQ(floorDiv(x, 8) * 8, x);
  EXPECT_TRUE(sizes_.divisible(0, -5));
}

TEST_F(SizeTest, EvaluateRefusesWhatHasNoValue) {
  const std::vector<std::int64_t> binding{6, 3, 0};
  EXPECT_EQ(sizes_.evaluate(a_ * b_ + 1, binding), 19);
  EXPECT_EQ(sizes_.evaluate(floorDiv(a_ + 1, h_), binding), std::nullopt) << "division by zero";
  const std::vector<std::int64_t> large{kMax, 2, 1};
  EXPECT_EQ(sizes_.evaluate(a_ * b_, large), std::nullopt);
  EXPECT_EQ(sizes_.evaluate(a_ * b_ - a_, large), kMax) << "only the result has to fit";
  EXPECT_EQ(sizes_.evaluate(a_, {}), std::nullopt) << "an unbound symbol";
}

TEST_F(SizeTest, ExpressionsAreBounded) {
  // A product of sums would have 3^12 terms; nested maxima would make a tree of 2^40 leaves.
  Size sum = 1;
  Size tree = a_;
  for (int i = 0; i < 12; ++i) {
    const Size x = sizes_.newSymbol("x", {1}, SymbolOrigin::kInputDim);
    const Size y = sizes_.newSymbol("y", {1}, SymbolOrigin::kInputDim);
    sum = sum * (x + y + 1);
  }
  for (int i = 0; i < 40 && tree.isValid(); ++i) tree = floorDiv(tree * tree + b_, h_ + 7);
  EXPECT_FALSE(sum.isValid());
  EXPECT_FALSE(tree.isValid());
}

TEST_F(SizeTest, SymbolNamesAreUnique) {
  const Size again = symbol("a");
  EXPECT_EQ(text(again), "a_1");
  EXPECT_EQ(sizes_.findSymbol("a_1"), sizes_.asSymbol(again));
  EXPECT_EQ(sizes_.findSymbol("none"), std::nullopt);
  EXPECT_EQ(sizes_.asSymbol(a_ + 1), std::nullopt);
  EXPECT_EQ(sizes_.symbolsOf(floorDiv(h_, a_) + mod(h_, 3)), (std::vector<SymbolId>{0, 2}));
}

TEST_F(SizeTest, CloneKeepsEverything) {
  ASSERT_TRUE(sizes_.requireEqual(b_, a_ + 1, "n", "r"));
  const Size s = max(floorDiv(h_ + a_, 3), mod(h_, 5) + b_);
  const auto copy = sizes_.clone();
  const Size t = copy->adopt(s);
  EXPECT_EQ(copy->toString(t), sizes_.toString(s));
  EXPECT_EQ(copy->toString(copy->resolve(t)), sizes_.toString(sizes_.resolve(s)));
  EXPECT_EQ(copy->resolve(copy->symbol(1)), copy->symbol(0) + 1);
  ASSERT_EQ(copy->guards().size(), 1U);
  EXPECT_EQ(copy->guards()[0].a, copy->adopt(sizes_.guards()[0].a));
}

// --- Random expressions.

struct Tree {
  char op = 'c';  // c constant, s symbol, + - * / % m M (min, max), e (ceildiv)
  std::int64_t value = 0;
  std::unique_ptr<Tree> a;
  std::unique_ptr<Tree> b;
};

std::int64_t floorOf(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::optional<std::int64_t> interpret(const Tree& tree, const std::vector<std::int64_t>& binding) {
  if (tree.op == 'c') return tree.value;
  if (tree.op == 's') return binding[static_cast<std::size_t>(tree.value)];
  const auto a = interpret(*tree.a, binding);
  const auto b = interpret(*tree.b, binding);
  if (!a || !b) return std::nullopt;
  switch (tree.op) {
    case '+': return *a + *b;
    case '-': return *a - *b;
    case '*': return *a * *b;
    case 'm': return std::min(*a, *b);
    case 'M': return std::max(*a, *b);
    default: break;
  }
  if (*b == 0) return std::nullopt;
  if (tree.op == '/') return floorOf(*a, *b);
  if (tree.op == 'e') return -floorOf(-*a, *b);
  return *a - *b * floorOf(*a, *b);
}

Size build(const Tree& tree, const SizeContext& sizes) {
  if (tree.op == 'c') return tree.value;
  if (tree.op == 's') return sizes.symbol(static_cast<SymbolId>(tree.value));
  const Size a = build(*tree.a, sizes);
  const Size b = build(*tree.b, sizes);
  switch (tree.op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case 'm': return min(a, b);
    case 'M': return max(a, b);
    case '/': return floorDiv(a, b);
    case 'e': return ceilDiv(a, b);
    default: return mod(a, b);
  }
}

std::unique_ptr<Tree> randomTree(std::mt19937& random, int depth) {
  auto tree = std::make_unique<Tree>();
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (depth == 0 || pick(6) == 0) {
    tree->op = pick(3) == 0 ? 'c' : 's';
    tree->value = tree->op == 'c' ? pick(12) - 3 : pick(4);
    return tree;
  }
  tree->op = "++--**//%mMe"[pick(12)];
  tree->a = randomTree(random, depth - 1);
  tree->b = randomTree(random, depth - 1);
  // Divisions by constants are what shapes are made of.
  if ((tree->op == '/' || tree->op == '%' || tree->op == 'e') && pick(3) != 0) {
    tree->b = std::make_unique<Tree>();
    tree->b->value = pick(9) - 2;
    if (tree->b->value == 0) tree->b->value = 8;
  }
  return tree;
}

std::optional<std::int64_t> runProgram(const std::vector<SizeContext::FlatOp>& program, std::uint32_t result,
                                       const std::vector<std::int64_t>& binding) {
  using Op = SizeContext::Op;
  std::vector<std::optional<std::int64_t>> values;
  for (const auto& op : program) {
    std::optional<std::int64_t> a;
    std::optional<std::int64_t> b;
    if (op.op != Op::kConstant && op.op != Op::kSymbol) {
      EXPECT_LT(op.a, values.size());
      EXPECT_LT(op.b, values.size());
      a = values[op.a];
      b = values[op.b];
    }
    std::optional<std::int64_t> value;
    if (op.op == Op::kConstant) value = op.immediate;
    if (op.op == Op::kSymbol) value = binding[static_cast<std::size_t>(op.immediate)];
    if (a && b) {
      if (op.op == Op::kAdd) value = *a + *b;
      if (op.op == Op::kMul) value = *a * *b;
      if (op.op == Op::kMin) value = std::min(*a, *b);
      if (op.op == Op::kMax) value = std::max(*a, *b);
      if (op.op == Op::kFloorDiv && *b != 0) value = floorOf(*a, *b);
      if (op.op == Op::kMod && *b != 0) value = *a - *b * floorOf(*a, *b);
    }
    values.push_back(value);
  }
  return values[result];
}

TEST(RandomSizes, AgreeWithThePlainInterpreter) {
  std::mt19937 random(1);
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    SizeContext sizes;
    std::vector<SizeRange> ranges;
    for (int i = 0; i < 4; ++i) {
      const auto lo = static_cast<std::int64_t>(random() % 4);
      const bool isBounded = random() % 2 == 0;
      ranges.push_back({lo, isBounded ? lo + static_cast<std::int64_t>(random() % 9) : kMax});
      sizes.newSymbol("s" + std::to_string(i), ranges.back(), SymbolOrigin::kInputDim);
    }
    const auto tree = randomTree(random, 4);
    const Size size = build(*tree, sizes);
    if (!size.isValid()) continue;  // a division by the constant 0
    const std::string text = sizes.toString(size);
    const auto parsed = sizes.parse(text);
    ASSERT_TRUE(parsed.isOk()) << text << ": " << parsed.status().toString();
    EXPECT_EQ(*parsed, size) << text << " parses as " << sizes.toString(*parsed);
    EXPECT_EQ(sizes.resolve(size), size) << text;
    std::vector<SizeContext::FlatOp> program;
    const std::uint32_t result = sizes.flatten(size, program);
    EXPECT_EQ(sizes.flatten(size, program), result);
    const SizeRange range = sizes.range(size);
    for (int sample = 0; sample < 8; ++sample) {
      std::vector<std::int64_t> binding;
      for (const SizeRange& r : ranges) {
        const std::int64_t width = r.hi == kMax ? 40 : r.hi - r.lo + 1;
        binding.push_back(r.lo + static_cast<std::int64_t>(random() % static_cast<unsigned>(width)));
      }
      const auto expected = interpret(*tree, binding);
      if (!expected) continue;  // a division by zero, which simplification may remove
      EXPECT_EQ(sizes.evaluate(size, binding), expected) << text;
      EXPECT_EQ(runProgram(program, result, binding), expected) << text;
      EXPECT_TRUE(range.contains(*expected))
          << text << " = " << *expected << " outside [" << range.lo << ", " << range.hi << "]";
      for (std::int64_t divisor : {2, 3, 4, 8}) {
        if (sizes.divisible(size, divisor)) {
          EXPECT_EQ(*expected % divisor, 0) << text;
        }
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 10000);
}

TEST(RandomSizes, DivisionUndoesMultiplication) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    SizeContext sizes;
    for (int i = 0; i < 4; ++i) sizes.newSymbol("s" + std::to_string(i), {1}, SymbolOrigin::kInputDim);
    const auto polynomial = [&] {
      Size sum = 0;
      for (unsigned term = 0; term < 1 + random() % 4; ++term) {
        Size value = static_cast<std::int64_t>(random() % 7) + 1;
        for (unsigned factor = 0; factor < random() % 3; ++factor)
          value = value * sizes.symbol(static_cast<SymbolId>(random() % 4));
        sum = sum + value;
      }
      return sum;
    };
    const Size a = polynomial();
    const Size b = polynomial();
    EXPECT_EQ(floorDiv(a * b, b), a) << sizes.toString(a) << " times " << sizes.toString(b);
    EXPECT_EQ(mod(a * b, b), Size(0));
  }
}

}  // namespace
}  // namespace rota
