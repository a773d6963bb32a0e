// SPDX-License-Identifier: Apache-2.0
// Stacking and slicing along every axis, packed types included: a stack sliced again gives its parts.
#include "op/stack_tensors.h"

#include <numeric>

#include <gtest/gtest.h>

#include "core/element_access.h"

namespace rota::op {
namespace {

Tensor filled(DType dtype, const std::vector<std::int64_t>& dims, std::int64_t first) {
  auto tensor = Tensor::allocate(dtype, dims);
  const MutableTensorView view = tensor->mutableView();
  for (std::int64_t i = 0; i < view.count(); ++i) {
    const std::int64_t value = first + i;
    storeFromInt64(view, i, 1, &value);
  }
  return *tensor;
}

TEST(StackTensors, SlicesOfAStackAreItsParts) {
  for (DType dtype : {DType::kFloat32, DType::kInt64, DType::kBool, DType::kInt4, DType::kUInt2}) {
    const std::vector<Tensor> parts{filled(dtype, {3, 5}, 0), filled(dtype, {3, 5}, 2),
                                    filled(dtype, {3, 5}, -1)};
    for (std::int64_t axis = -3; axis < 3; ++axis) {
      for (bool reverse : {false, true}) {
        const auto stacked = stackTensors(parts, axis, reverse, DType::kUndefined, {});
        ASSERT_TRUE(stacked.isOk());
        const std::int64_t at = axis < 0 ? axis + 3 : axis;
        EXPECT_EQ(stacked->dims()[static_cast<std::size_t>(at)], 3);
        for (std::int64_t k = 0; k < 3; ++k) {
          const auto slice = sliceTensor(*stacked, at, reverse ? 2 - k : k);
          ASSERT_TRUE(slice.isOk());
          const Tensor& part = parts[static_cast<std::size_t>(k)];
          ASSERT_EQ(slice->dims(), part.dims());
          for (std::int64_t i = 0; i < part.count(); ++i) {
            ASSERT_EQ(realAt(slice->view(), i), realAt(part.view(), i))
                << info(dtype).name << " axis " << axis << " element " << i;
          }
        }
      }
    }
  }
}

TEST(StackTensors, NothingGivesAnEmptyTensor) {
  const auto stacked = stackTensors({}, 1, false, DType::kFloat32, {4, 2});
  ASSERT_TRUE(stacked.isOk());
  EXPECT_EQ(stacked->dims(), (std::vector<std::int64_t>{4, 0, 2}));
  EXPECT_FALSE(stackTensors({}, 0, false, DType::kUndefined, {}).isOk());
}

TEST(StackTensors, DifferentPartsAreRefused) {
  const auto shapes = stackTensors({filled(DType::kInt64, {2}, 0), filled(DType::kInt64, {3}, 0)}, 0, false,
                                   DType::kUndefined, {});
  ASSERT_FALSE(shapes.isOk());
  EXPECT_EQ(shapes.status().code(), ErrorCode::kShapeMismatch);
  EXPECT_FALSE(stackTensors({filled(DType::kInt64, {2}, 0)}, 2, false, DType::kUndefined, {}).isOk());
  EXPECT_FALSE(stackTensors({filled(DType::kInt64, {2}, 0)}, -3, false, DType::kUndefined, {}).isOk());
}

}  // namespace
}  // namespace rota::op
