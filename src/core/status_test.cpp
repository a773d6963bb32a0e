// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <rota/status.h>

namespace rota {
namespace {

TEST(Status, OkHasNoDetail) {
  const Status status = Status::ok();
  EXPECT_TRUE(status.isOk());
  EXPECT_EQ(status.code(), ErrorCode::kOk);
  EXPECT_EQ(status.toString(), "ok");
}

TEST(Status, TextShowsAllPartsInOrder) {
  const Status status = Status(ErrorCode::kShapeMismatch, "cannot multiply the matrices")
                            .at("MatMul_3")
                            .expected("K = 4")
                            .found("K = 5")
                            .fix("transpose B");
  EXPECT_EQ(
      status.toString(),
      "R1204 at 'MatMul_3': cannot multiply the matrices; expected K = 4; found K = 5; do this: transpose B");
}

TEST(Status, TextLeavesOutWhatIsNotKnown) {
  EXPECT_EQ(Status(ErrorCode::kDiskFull, "the disk is full").toString(), "R1504: the disk is full");
}

TEST(Status, ChangingACopyLeavesTheOriginal) {
  const Status original = Status(ErrorCode::kUsage, "wrong").at("a");
  const Status changed = Status(original).at("b");
  EXPECT_EQ(original.detail().node, "a");
  EXPECT_EQ(changed.detail().node, "b");
  EXPECT_EQ(changed.detail().message, "wrong");
}

Result<std::vector<int>> makeOrFail(bool fail) {
  if (fail) return Status(ErrorCode::kOutOfMemory, "no memory");
  return std::vector<int>{1, 2, 3};
}

TEST(Result, HoldsAValueOrAnError) {
  auto good = makeOrFail(false);
  ASSERT_TRUE(good.isOk());
  EXPECT_EQ(good->size(), 3u);
  EXPECT_TRUE(good.status().isOk());
  const std::vector<int> moved = std::move(good).value();
  EXPECT_EQ(moved.back(), 3);
  const auto bad = makeOrFail(true);
  EXPECT_FALSE(bad.isOk());
  EXPECT_EQ(bad.status().code(), ErrorCode::kOutOfMemory);
}

TEST(StatusDeathTest, AnErrorNeedsAnErrorCode) {
  EXPECT_DEATH(static_cast<void>(Status(ErrorCode::kOk, "fine")), "R1901");
  EXPECT_DEATH(static_cast<void>(Status().at("x")), "R1901");
}

}  // namespace
}  // namespace rota
