// SPDX-License-Identifier: Apache-2.0
#include "core/tensor.h"

#include <cstring>
#include <limits>

#include <gtest/gtest.h>

namespace rota {
namespace {

TEST(Buffer, IsZeroedAlignedAndWritable) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{3} << 20}) {
    auto buffer = Buffer::allocate(size);
    ASSERT_TRUE(buffer.isOk());
    EXPECT_EQ((*buffer)->size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*buffer)->data()) % 64, 0u);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ((*buffer)->data()[i], std::byte{0});
    if (size > 0) (*buffer)->mutableData()[size - 1] = std::byte{1};
  }
}

TEST(Buffer, AnImpossibleSizeIsAnError) {
  EXPECT_EQ(Buffer::allocate(std::size_t{1} << 60).status().code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(Buffer::allocate(std::numeric_limits<std::size_t>::max()).status().code(),
            ErrorCode::kOutOfMemory);
}

TEST(Buffer, WrappedBytesKeepTheirOwnerAndAreReadOnly) {
  auto owner = std::make_shared<std::vector<int>>(std::vector<int>{1, 2, 3});
  std::weak_ptr<std::vector<int>> watch = owner;
  auto buffer = Buffer::wrap(owner->data(), 12, owner);
  owner.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(buffer->mutableData(), nullptr);
  auto tensor = Tensor::over(DType::kInt32, {2}, buffer, 4);
  ASSERT_TRUE(tensor.isOk());
  buffer.reset();
  EXPECT_EQ(intAt(tensor->view(), 1), 3);
  *tensor = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, RefusesBadDimsStringsAndShortBuffers) {
  EXPECT_EQ(Tensor::allocate(DType::kFloat32, {2, -1}).status().code(), ErrorCode::kModelTooLarge);
  EXPECT_EQ(Tensor::allocate(DType::kFloat32, {std::int64_t{1} << 40, std::int64_t{1} << 40}).status().code(),
            ErrorCode::kModelTooLarge);
  EXPECT_EQ(Tensor::allocate(DType::kString, {1}).status().code(), ErrorCode::kUnsupportedType);
  EXPECT_EQ(Tensor::allocate(DType::kUndefined, {1}).status().code(), ErrorCode::kUnsupportedType);
  auto buffer = Buffer::allocate(8).value();
  EXPECT_TRUE(Tensor::over(DType::kFloat32, {2}, buffer).isOk());
  EXPECT_EQ(Tensor::over(DType::kFloat32, {3}, buffer).status().code(), ErrorCode::kModelInvalid);
  EXPECT_EQ(Tensor::over(DType::kFloat32, {1}, buffer, 5).status().code(), ErrorCode::kModelInvalid);
  EXPECT_EQ(Tensor::over(DType::kFloat32, {0}, buffer, 9).status().code(), ErrorCode::kModelInvalid);
}

TEST(Tensor, ScalarsEmptyAndNotGiven) {
  const Tensor scalar = Tensor::ofFloat({2.5f}, {});
  EXPECT_EQ(scalar.count(), 1);
  EXPECT_EQ(realAt(scalar.view(), 0), 2.5);
  const Tensor empty = Tensor::ofInt64({}, {3, 0});
  EXPECT_EQ(empty.bytes(), 0u);
  EXPECT_TRUE(intsOf(empty.view()).empty());
  const Tensor none;
  EXPECT_FALSE(none.isGiven());
  EXPECT_EQ(none.data(), nullptr);
}

TEST(Tensor, CopiesShareTheirBytes) {
  const Tensor a = Tensor::ofInt64({1, 2}, {2});
  const Tensor b = a;
  EXPECT_EQ(a.data(), b.data());
}

TEST(Tensor, IntAtSaturatesUint64AndReadsPackedTypes) {
  auto wide = Tensor::allocate(DType::kUInt64, {1}).value();
  std::memset(wide.mutableData(), 0xff, 8);
  EXPECT_EQ(intAt(wide.view(), 0), std::numeric_limits<std::int64_t>::max());
  auto packed = Tensor::allocate(DType::kInt4, {3}).value();
  packed.mutableData()[0] = std::byte{0x8f};
  packed.mutableData()[1] = std::byte{0x07};
  EXPECT_EQ(intsOf(packed.view()), (std::vector<std::int64_t>{-1, -8, 7}));
  auto flags = Tensor::allocate(DType::kBool, {2}).value();
  flags.mutableData()[1] = std::byte{2};
  EXPECT_EQ(intsOf(flags.view()), (std::vector<std::int64_t>{0, 1}));
}

TEST(TensorDeathTest, WrongTypesAndIndicesAreBugs) {
  const Tensor reals = Tensor::ofFloat({1}, {1});
  EXPECT_DEATH(intAt(reals.view(), 0), "R1901");
  EXPECT_DEATH(realAt(reals.view(), 1), "R1901");
}

}  // namespace
}  // namespace rota
