// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <rota/dtype.h>

namespace rota {
namespace {

TEST(DType, NamesAndOnnxNumbersAreUniqueAndFindTheirRow) {
  std::set<std::string> names;
  std::set<int> numbers;
  for (const DTypeInfo& row : dtypeTable()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(numbers.insert(row.onnx).second) << row.name;
    EXPECT_EQ(dtypeFromName(row.name), row.dtype);
    EXPECT_EQ(dtypeFromOnnx(row.onnx), row.dtype);
    EXPECT_EQ(info(row.dtype).name, row.name);
  }
  EXPECT_EQ(numbers.size(), 27u);
  EXPECT_EQ(*numbers.rbegin(), 26);  // ONNX numbers its types 0 to 26 without a gap.
}

TEST(DType, UnknownNamesAndNumbersAreUndefined) {
  EXPECT_EQ(dtypeFromName("float31"), DType::kUndefined);
  EXPECT_EQ(dtypeFromOnnx(-1), DType::kUndefined);
  EXPECT_EQ(dtypeFromOnnx(1000), DType::kUndefined);
}

TEST(DType, NumpyCodesStateTheSizeOfTheElement) {
  for (const DTypeInfo& row : dtypeTable()) {
    if (row.numpy == nullptr) continue;
    EXPECT_EQ(std::stoi(std::string(row.numpy).substr(2)) * 8, row.bits) << row.name;
  }
}

TEST(DType, ClassesAndComputeTypesAgree) {
  for (const DTypeInfo& row : dtypeTable()) {
    if (row.dtypeClass == DTypeClass::kFloat) {
      EXPECT_EQ(row.compute, ComputeType::kDouble) << row.name;
    }
    if (row.dtypeClass == DTypeClass::kSigned) {
      EXPECT_EQ(row.compute, ComputeType::kInt64) << row.name;
    }
    if (row.compute == ComputeType::kUInt64) {
      EXPECT_EQ(row.bits, 64) << row.name;
    }
  }
  EXPECT_TRUE(isFloat(DType::kFloat4E2M1));
  EXPECT_TRUE(isInteger(DType::kUInt2));
  EXPECT_FALSE(isInteger(DType::kBool));
}

TEST(DType, PackedBytesRoundUp) {
  EXPECT_EQ(packedBytes(0, 4), 0u);
  EXPECT_EQ(packedBytes(3, 4), 2u);
  EXPECT_EQ(packedBytes(5, 2), 2u);
  EXPECT_EQ(packedBytes(5, 32), 20u);
}

}  // namespace
}  // namespace rota
