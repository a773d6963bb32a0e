// SPDX-License-Identifier: Apache-2.0
// Profiles, shapes that nobody prepares, and guards of branches and bodies.
#include <numeric>

#include <gtest/gtest.h>

#include "runtime/context.h"
#include "runtime/testing.h"

namespace rota::runtime {
namespace {

using testing::boolTensor;
using testing::dimsOf;
using testing::floatsOf;
using testing::outputOf;
using testing::ProgramBuilder;
using testing::runWith;

Tensor rows(std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(2 * n));
  std::iota(x.begin(), x.end(), 1.0F);
  return Tensor::ofFloat(std::move(x), {n, 2});
}

/// y = x + x with x of [n, 2], and profiles for 1 to 4 and 3 to 32 rows.
ProgramBuilder twoProfiles() {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n");
  const std::int32_t x = b.input("x", {n, b.number(2)});
  b.bindLastSymbol(x, 0);
  const std::int32_t t = b.value("t", b.at(x).dims);
  b.step(0, "ref:Add", {x, x}, {t});
  const std::int32_t y = b.value("y", b.at(x).dims, DType::kFloat32, Storage::kOutput);
  b.step(0, "ref:Mul", {t, t}, {y});
  b.output(y);
  b.program.profiles.push_back({"small", {{x, {1, 2}, {2, 2}, {4, 2}}}});
  b.program.profiles.push_back({"large", {{x, {3, 2}, {8, 2}, {32, 2}}}});
  return b;
}

TEST(Profile, EveryShapeInsideRunsAndMemoryStays) {
  auto context = twoProfiles().context();
  const std::size_t bytes = context->activationBytes();
  for (std::int64_t n : {1, 32, 4, 17, 3, 2, 31}) {
    ASSERT_TRUE(runWith(*context, {{"x", rows(n)}}));
    EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{n, 2}));
    const auto y = floatsOf(outputOf(*context, "y"));
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(y[i], 4 * static_cast<float>(i + 1) * static_cast<float>(i + 1));
  }
  EXPECT_EQ(context->implicitPrepares(), 0U);
  EXPECT_EQ(context->activationBytes(), bytes);
}

TEST(Profile, ByName) {
  auto context = twoProfiles().context();
  const Tensor x = rows(4);
  ASSERT_TRUE(context->useProfile("large").isOk());
  ASSERT_TRUE(context->setInput("x", x.view()).isOk());
  ASSERT_TRUE(context->run().isOk());
  const Tensor two = rows(2);
  ASSERT_TRUE(context->setInput("x", two.view()).isOk());
  for (const Status& refused : {context->run(), context->prepare()}) {
    EXPECT_EQ(refused.code(), ErrorCode::kOutOfProfile);
    EXPECT_EQ(refused.detail().node, "dim 0 of input 'x' ('n')");
    EXPECT_EQ(refused.detail().expected, "3 to 32 (profile 'large')");
    EXPECT_EQ(refused.detail().found, "2");
  }
  ASSERT_TRUE(context->useProfile("").isOk());
  ASSERT_TRUE(context->run().isOk());
  const Status unknown = context->useProfile("huge");
  EXPECT_EQ(unknown.code(), ErrorCode::kUnknownName);
  EXPECT_EQ(unknown.detail().expected, "'small', 'large'");
}

TEST(Profile, OneThatIsTooLargeForTheMachineLeavesTheOthers) {
  ProgramBuilder b = twoProfiles();
  b.program.symbols[0].range.hi = std::int64_t{1} << 50;
  b.program.profiles.push_back(
      {"absurd", {{b.program.blocks[0].params[0], {64, 2}, {64, 2}, {std::int64_t{1} << 46, 2}}}});
  auto context = b.context();
  ASSERT_NE(context, nullptr);
  for (std::int64_t n : {2, 20, 64, 2}) {  // 64: a small shape of the absurd profile gets what it needs
    SCOPED_TRACE(n);
    ASSERT_TRUE(runWith(*context, {{"x", rows(n)}}));
    EXPECT_EQ(floatsOf(outputOf(*context, "y")).back(), 16 * static_cast<float>(n * n));
  }
  const std::int64_t dims[2] = {std::int64_t{1} << 45, 2};
  const Tensor some = rows(1);
  ASSERT_TRUE(context->setInput("x", TensorView{DType::kFloat32, dims, some.data()}).isOk());
  EXPECT_EQ(context->prepare().code(), ErrorCode::kOutOfMemory);
  ASSERT_TRUE(runWith(*context, {{"x", rows(3)}})) << "the shapes before still run";
}

TEST(Profile, PreparedAndOtherShapesTakeTurns) {
  auto context = twoProfiles().context();
  const Tensor three = rows(3);
  ASSERT_TRUE(context->setInput("x", three.view()).isOk());
  ASSERT_TRUE(context->prepare().isOk());
  for (int round = 0; round < 3; ++round)
    for (std::int64_t n : {3, 20}) {
      ASSERT_TRUE(runWith(*context, {{"x", rows(n)}}));
      EXPECT_EQ(floatsOf(outputOf(*context, "y")).back(), 16 * static_cast<float>(n * n));
    }
  EXPECT_EQ(context->implicitPrepares(), 0U);
}

/// A branch that needs n = 4 and looks at x [n, 2] as [n - 3, 2], another one that passes x on; `go` chooses.
ProgramBuilder guardedBranch() {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n");
  const std::int32_t x = b.input("x", {n, b.number(2)});
  b.bindLastSymbol(x, 0);
  const std::int32_t go = b.input("go", {}, DType::kBool);
  const std::uint32_t four = b.number(4);
  const std::uint32_t less = b.combine(SizeContext::Op::kAdd, n, b.number(-3));
  const std::uint32_t thenBlock = b.block("then");
  const std::int32_t view = b.alias("view", x, {less, b.number(2)});
  const std::int32_t sum = b.unranked("sum");
  b.step(thenBlock, "ref:Add", {view, view}, {sum});
  b.at(sum).rankKnown = true;
  b.at(sum).dims = {less, b.number(2)};
  b.at(sum).storage = Storage::kArena;
  b.program.blocks[thenBlock].results = {sum};
  const std::uint32_t elseBlock = b.block("else");
  b.program.blocks[elseBlock].results = {x};
  const std::int32_t y = b.unranked("y", DType::kFloat32, Storage::kOutput);
  b.step(0, "flow.if", {go}, {y}).blocks = {thenBlock, elseBlock};
  b.output(y);
  Guard guard;
  guard.a = n;
  guard.b = four;
  guard.node = "then/slice (Slice)";
  guard.reason = "rows of x";
  guard.block = thenBlock;
  b.program.guards.push_back(guard);
  return b;
}

TEST(Guards, OfABranchThatIsNotTakenRefuseNothing) {
  auto context = guardedBranch().context();
  ASSERT_TRUE(runWith(*context, {{"x", rows(4)}, {"go", boolTensor(true)}}));
  EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{1, 2}));
  // Five rows break the guard, two rows make a negative size: both only where the branch runs.
  for (std::int64_t n : {5, 2}) {
    SCOPED_TRACE(n);
    const Tensor x = rows(n);
    const Tensor no = boolTensor(false);
    const Tensor yes = boolTensor(true);
    ASSERT_TRUE(runWith(*context, {{"x", x}, {"go", no}}));
    EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{n, 2}));
    ASSERT_TRUE(context->setInput("x", x.view()).isOk());
    ASSERT_TRUE(context->setInput("go", yes.view()).isOk());
    for (const bool prepares : {false, true}) {
      if (prepares) {
        ASSERT_TRUE(context->prepare().isOk());
      }
      const Status refused = context->run();
      EXPECT_EQ(refused.code(), ErrorCode::kShapeGuard);
      EXPECT_EQ(refused.detail().node, "then/slice (Slice)");
      EXPECT_EQ(refused.detail().expected, "'n' = '4' (rows of x)");
      EXPECT_EQ(refused.detail().found, std::to_string(n) + " and 4, where 'n' is dim 0 of input 'x'");
    }
  }
}

TEST(Guards, NegativeSizesNameTheDimAndTheInput) {
  ProgramBuilder b = guardedBranch();
  b.program.guards.clear();
  auto context = b.context();
  const Tensor x = rows(2);
  const Tensor yes = boolTensor(true);
  ASSERT_TRUE(runWith(*context, {{"x", x}, {"go", boolTensor(false)}}));
  ASSERT_TRUE(context->setInput("x", x.view()).isOk());
  ASSERT_TRUE(context->setInput("go", yes.view()).isOk());
  const Status refused = context->run();
  EXPECT_EQ(refused.code(), ErrorCode::kShapeGuard);
  EXPECT_EQ(refused.detail().expected, "0 or more for 'n + -3', dim 0 of value 'view'");
  EXPECT_EQ(refused.detail().found, "-1, where 'n' is dim 0 of input 'x'");
}

TEST(Guards, OfABodyHoldForEachTurnAndForNoTurnAtAll) {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n");
  const std::int32_t x = b.input("x", {n, b.number(2)});
  b.bindLastSymbol(x, 0);
  const std::int32_t trips = b.input("trips", {}, DType::kInt64);
  const std::uint32_t body = b.block("body");
  b.param(body, "turn", {}, DType::kInt64);
  const std::int32_t goIn = b.param(body, "go_in", {}, DType::kBool);
  const std::int32_t state = b.param(body, "state", b.at(x).dims);
  const std::int32_t next = b.value("next", b.at(x).dims);
  b.step(body, "ref:Add", {state, x}, {next});
  b.program.blocks[body].results = {goIn, next};
  const std::int32_t y = b.value("y", b.at(x).dims, DType::kFloat32, Storage::kOutput);
  b.step(0, "flow.loop", {trips, kNone, x}, {y}).blocks = {body};
  b.output(y);
  Guard guard;
  guard.a = n;
  guard.b = b.number(3);
  guard.node = "body/add (Add)";
  guard.block = body;
  b.program.guards.push_back(guard);
  auto context = b.context();
  ASSERT_TRUE(runWith(*context, {{"x", rows(3)}, {"trips", Tensor::ofInt64({2}, {})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")).front(), 3);
  ASSERT_TRUE(runWith(*context, {{"x", rows(5)}, {"trips", Tensor::ofInt64({0}, {})}}));
  EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{5, 2}));
  const Tensor five = rows(5);
  const Tensor once = Tensor::ofInt64({1}, {});
  ASSERT_TRUE(context->setInput("x", five.view()).isOk());
  ASSERT_TRUE(context->setInput("trips", once.view()).isOk());
  EXPECT_EQ(context->run().detail().node, "body/add (Add)");
}

TEST(Guards, OfAnUnknownBlockAreRefusedAtLoading) {
  ProgramBuilder b = guardedBranch();
  b.program.guards[0].block = 17;
  EXPECT_EQ(b.load().status().code(), ErrorCode::kEngineDamaged);
}

}  // namespace
}  // namespace rota::runtime
