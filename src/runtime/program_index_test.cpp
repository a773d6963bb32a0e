// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_index.h"

#include <gtest/gtest.h>

#include "runtime/testing.h"

namespace rota::runtime {
namespace {

using testing::ProgramBuilder;

TEST(ProgramIndex, WhatALoopReadsLivesUntilItEnds) {
  ProgramBuilder b;
  const std::int32_t x = b.input("x", b.dims({4}));
  const std::int32_t outer = b.value("outer", b.dims({4}));
  b.step(0, "ref:Add", {x, x}, {outer});
  const std::int32_t other = b.value("other", b.dims({4}));
  b.step(0, "ref:Add", {outer, x}, {other});
  const std::uint32_t body = b.block("body");
  b.param(body, "turn", {}, DType::kInt64);
  const std::int32_t go = b.param(body, "go", {}, DType::kBool);
  const std::int32_t state = b.param(body, "state", b.dims({4}));
  const std::int32_t early = b.value("early", b.at(state).dims);
  b.step(body, "ref:Add", {state, outer}, {early});
  const std::int32_t late = b.value("late", b.at(state).dims);
  b.step(body, "ref:Add", {early, x}, {late});
  b.program.blocks[body].results = {go, late};
  const std::int32_t y = b.value("y", b.dims({4}));
  b.step(0, "flow.loop", {kNone, kNone, other}, {y}).blocks = {body};
  const std::int32_t z = b.value("z", b.dims({4}));
  b.step(0, "ref:Add", {y, y}, {z});
  b.output(z);
  ASSERT_TRUE(validate(b.program).isOk());
  const ProgramIndex index(b.program);

  const LiveRange loop = index.block(0).steps[2].range;
  EXPECT_LT(loop.first, loop.last);
  EXPECT_EQ(index.lifetime(outer).last, loop.last) << "read again in every turn";
  EXPECT_EQ(index.lifetime(other).last, loop.last) << "the initial value is read in the first turn";
  EXPECT_LT(index.lifetime(early).last, loop.last) << "a value of one turn ends with its last use";
  EXPECT_EQ(index.lifetime(y).first, loop.last);
  ASSERT_EQ(index.block(0).steps[2].carried.size(), 1u);
  EXPECT_TRUE(index.block(0).steps[2].carried[0].direct);
  EXPECT_TRUE(index.value(late).movable);
  EXPECT_FALSE(index.value(early).movable);
  EXPECT_FALSE(index.block(body).steps[0].dynamic);
  EXPECT_EQ(index.stepCount(), 6u);
}

TEST(ProgramIndex, BranchesShareMemory) {
  ProgramBuilder b;
  const std::int32_t go = b.input("go", {}, DType::kBool);
  const std::int32_t x = b.input("x", b.dims({4}));
  std::int32_t inner[2];
  std::uint32_t blocks[2];
  for (int i = 0; i < 2; ++i) {
    blocks[i] = b.block(i == 0 ? "then" : "else");
    inner[i] = b.value("inner", b.dims({4}));
    b.step(blocks[i], "ref:Add", {x, x}, {inner[i]});
    b.program.blocks[blocks[i]].results = {inner[i]};
  }
  const std::int32_t y = b.value("y", b.dims({4}));
  b.step(0, "flow.if", {go}, {y}).blocks = {blocks[0], blocks[1]};
  b.output(y);
  ASSERT_TRUE(validate(b.program).isOk());
  const ProgramIndex index(b.program);
  EXPECT_LT(index.lifetime(inner[0]).last, index.lifetime(inner[1]).first);
  EXPECT_EQ(index.lifetime(y).first, index.lifetime(inner[0]).last) << "copied where the first branch ends";
}

TEST(ProgramIndex, AliasesExtendTheirRoots) {
  ProgramBuilder b;
  const std::int32_t x = b.input("x", b.dims({4}));
  const std::int32_t t = b.value("t", b.dims({4}));
  b.step(0, "ref:Add", {x, x}, {t});
  const std::int32_t square = b.alias("square", t, b.dims({2, 2}));
  const std::int32_t row = b.alias("row", square, b.dims({2}), 8);
  const std::int32_t u = b.value("u", b.dims({4}));
  b.step(0, "ref:Add", {x, x}, {u});
  const std::int32_t y = b.value("y", b.dims({2}));
  b.step(0, "ref:Add", {row, row}, {y});
  b.output(y);
  b.output(u);
  const ProgramIndex index(b.program);
  EXPECT_EQ(index.value(row).root, t);
  EXPECT_EQ(index.value(t).aliases, (std::vector<std::int32_t>{square, row}));
  EXPECT_EQ(index.lifetime(t).last, index.block(0).steps[2].range.first);
}

}  // namespace
}  // namespace rota::runtime
