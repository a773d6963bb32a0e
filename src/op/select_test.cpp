// SPDX-License-Identifier: Apache-2.0
// Operators that choose and order: TopK, Unique, NonZero, Compress, ReverseSequence.
#include <cmath>

#include <gtest/gtest.h>

#include "op/test_run.h"

namespace rota::op {
namespace {

TEST(Select, TopKOfTiesTakesLowerIndicesFirst) {
  // C09.
  const Tensor x = ref::makeFloats({1, 5}, {3, 3, 0, 3, 1});
  const OperatorRun largest("TopK", {x, intTensor({2})}, {}, 2);
  EXPECT_EQ(largest.text(0), "float32[1, 2] 3 3");
  EXPECT_EQ(largest.text(1), "int64[1, 2] 0 1");
  std::vector<double> many(4096);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>((i * 7) % 3);
  for (const std::int64_t isLargest : {0, 1}) {
    const OperatorRun run("TopK", {ref::makeFloats({4096}, many), intTensor({2000})},
                          attributesOf({{"largest", isLargest}}), 2);
    const auto values = run.values(0);
    const auto places = run.values(1);
    for (std::size_t i = 1; i < values.size(); ++i) {
      ASSERT_TRUE(isLargest != 0 ? values[i] <= values[i - 1] : values[i] >= values[i - 1]);
      ASSERT_TRUE(values[i] != values[i - 1] || places[i - 1] < places[i]) << i;
    }
  }
}

TEST(Select, TopKOrdersZerosAndNan) {
  const Tensor x = ref::makeFloats({5}, {-0.0, 0.0, std::nan(""), -1, 2});
  const OperatorRun largest("TopK", {x, intTensor({5})}, {}, 2);
  EXPECT_EQ(largest.text(1), "int64[5] 2 4 0 1 3");
  const OperatorRun smallest("TopK", {x, intTensor({5})}, attributesOf({{"largest", std::int64_t{0}}}), 2);
  EXPECT_EQ(smallest.text(1), "int64[5] 3 0 1 4 2");
}

TEST(Select, TopKOfOtherTypesAxesAndVersions) {
  const Tensor x = Tensor::ofInt64(
      {std::numeric_limits<std::int64_t>::min(), 1, std::numeric_limits<std::int64_t>::max(), 3}, {2, 2});
  const OperatorRun columns("TopK", {x, intTensor({1})}, attributesOf({{"axis", std::int64_t{0}}}), 2);
  EXPECT_EQ(columns.text(1), "int64[1, 2] 1 1");
  EXPECT_EQ(OperatorRun("TopK", {countingFloats({3})}, attributesOf({{"k", std::int64_t{1}}}), 2, 9).text(0),
            "float32[1] 2");
  EXPECT_EQ(OperatorRun("TopK", {countingFloats({3}), intTensor({4})}, {}, 2).text(0), "R1204");
  EXPECT_EQ(OperatorRun("TopK", {countingFloats({3}), intTensor({0})}, {}, 2).text(0), "float32[0]");
  TestGraph g;
  auto* y = g.input("y", DType::kFloat16, "[N, 8]");
  const auto outputs = g.add("TopK", {y, g.ints({3})}, {}, 2);
  EXPECT_EQ(g.typeOf(outputs[0]), "float16[N, 3]");
  EXPECT_EQ(g.typeOf(outputs[1]), "int64[N, 3]");
}

TEST(Select, UniqueSortedAndByFirstOccurrence) {
  const Tensor x = ref::makeFloats({6}, {2, 1, 1, 3, 4, 3});
  const OperatorRun first("Unique", {x}, attributesOf({{"sorted", std::int64_t{0}}}), 4);
  EXPECT_EQ(first.text(0), "float32[4] 2 1 3 4");
  EXPECT_EQ(first.text(1), "int64[4] 0 1 3 4");
  EXPECT_EQ(first.text(2), "int64[6] 0 1 1 2 3 2");
  EXPECT_EQ(first.text(3), "int64[4] 1 2 2 1");
  const OperatorRun sorted("Unique", {x}, {}, 4);
  EXPECT_EQ(sorted.text(0), "float32[4] 1 2 3 4");
  EXPECT_EQ(sorted.text(1), "int64[4] 1 0 3 4");
  EXPECT_EQ(sorted.text(2), "int64[6] 1 0 0 2 3 2");
  EXPECT_EQ(sorted.text(3), "int64[4] 2 1 2 1");
}

TEST(Select, UniqueSlicesNanAndNothing) {
  const Tensor x = ref::makeFloats({3, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4});
  const OperatorRun rows("Unique", {x}, attributesOf({{"axis", std::int64_t{0}}}), 4);
  EXPECT_EQ(rows.text(0), "float32[2, 3] 1 0 0 2 3 4");
  EXPECT_EQ(rows.text(2), "int64[3] 0 0 1");
  const OperatorRun columns("Unique", {ref::makeFloats({2, 3}, {2, 1, 2, 2, 1, 2})},
                            attributesOf({{"axis", std::int64_t{1}}}), 4);
  EXPECT_EQ(columns.text(0), "float32[2, 2] 1 2 1 2");
  EXPECT_EQ(columns.text(3), "int64[2] 1 2");
  EXPECT_EQ(OperatorRun("Unique", {ref::makeFloats({3}, {std::nan(""), 1, std::nan("")})}).text(),
            "float32[2] 1 nan");
  EXPECT_EQ(OperatorRun("Unique", {ref::makeFloats({0}, {})}).text(), "float32[0]");
}

TEST(Select, NonZeroFromNoneToAll) {
  // C15 (a).
  std::vector<double> values(6400, 0);
  EXPECT_EQ(OperatorRun("NonZero", {ref::makeFloats({100, 64}, values)}).text(), "int64[2, 0]");
  values[65] = std::nan("");
  EXPECT_EQ(OperatorRun("NonZero", {ref::makeFloats({100, 64}, values)}).text(), "int64[2, 1] 1 1");
  values.assign(6400, -1);
  EXPECT_EQ(OperatorRun("NonZero", {ref::makeFloats({100, 64}, values)}).text().substr(0, 13),
            "int64[2, 6400");
  EXPECT_EQ(OperatorRun("NonZero", {ref::makeFloats({}, {1})}).text(), "int64[0, 1]");
  TestGraph g;
  auto* found = g.add("NonZero", {g.input("x", DType::kFloat32, "[100, 64]")})[0];
  ASSERT_EQ(found->type.shape.rank(), 2U);
  EXPECT_EQ(g.graph().sizes().range(found->type.shape.dims[1]).hi, 6400);
  EXPECT_EQ(g.typeOf(g.add("Transpose", {found})[0]).substr(0, 6), "int64[");
}

TEST(Select, Compress) {
  const Tensor x = countingFloats({2, 3});
  const Tensor keep = ref::makeTensor(DType::kBool, {2}, {0, 1});
  EXPECT_EQ(OperatorRun("Compress", {x, keep}, attributesOf({{"axis", std::int64_t{1}}})).text(),
            "float32[2, 1] 1 4");
  EXPECT_EQ(OperatorRun("Compress", {x, keep}).text(), "float32[1] 1");
  EXPECT_EQ(OperatorRun("Compress", {x, ref::makeTensor(DType::kBool, {4}, {0, 0, 0, 1})},
                        attributesOf({{"axis", std::int64_t{1}}}))
                .text(),
            "R1406");
}

TEST(Select, ReverseSequence) {
  const Tensor x = countingFloats({3, 2});
  EXPECT_EQ(OperatorRun("ReverseSequence", {x, intTensor({3, 2})}).text(), "float32[3, 2] 4 3 2 1 0 5");
  const Attributes batchFirst =
      attributesOf({{"batch_axis", std::int64_t{0}}, {"time_axis", std::int64_t{1}}});
  EXPECT_EQ(OperatorRun("ReverseSequence", {x, intTensor({1, 2, 0})}, batchFirst).text(),
            "float32[3, 2] 0 1 3 2 4 5");
  EXPECT_EQ(OperatorRun("ReverseSequence", {x, intTensor({4, 1})}).text(), "R1406");
}

}  // namespace
}  // namespace rota::op
