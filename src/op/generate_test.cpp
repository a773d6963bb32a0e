// SPDX-License-Identifier: Apache-2.0
// Operators that write values of their own: Constant, ConstantOfShape, Range, EyeLike, OneHot, Trilu.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "op/test_run.h"

namespace rota::op {
namespace {

TEST(Generate, ConstantsOfEveryAttribute) {
  EXPECT_EQ(
      OperatorRun("Constant", std::vector<Tensor>{}, attributesOf({{"value", intTensor({1, 2})}})).text(),
      "int64[2] 1 2");
  EXPECT_EQ(
      OperatorRun("Constant", std::vector<Tensor>{}, attributesOf({{"value_int", std::int64_t{7}}})).text(),
      "int64[] 7");
  EXPECT_EQ(OperatorRun("Constant", std::vector<Tensor>{},
                        attributesOf({{"value_ints", std::vector<std::int64_t>{7, 8}}}))
                .text(),
            "int64[2] 7 8");
  EXPECT_EQ(OperatorRun("Constant", std::vector<Tensor>{}, attributesOf({{"value_float", 0.5F}})).text(),
            "float32[] 0.5");
  EXPECT_EQ(OperatorRun("Constant", std::vector<Tensor>{},
                        attributesOf({{"value_floats", std::vector<float>{0.5F}}}))
                .text(),
            "float32[1] 0.5");
  EXPECT_EQ(OperatorRun("Constant", std::vector<Tensor>{}, attributesOf({{"value_string", std::string("a")}}))
                .text(),
            "R1203");
  EXPECT_EQ(OperatorRun("Constant", std::vector<Tensor>{}).text(), "R1206");
}

TEST(Generate, ConstantOfShape) {
  EXPECT_EQ(OperatorRun("ConstantOfShape", {intTensor({2, 1})},
                        attributesOf({{"value", ref::makeTensor(DType::kInt8, {1}, {3})}}))
                .text(),
            "int8[2, 1] 3 3");
  EXPECT_EQ(OperatorRun("ConstantOfShape", {Tensor::ofInt64({}, {0})}).text(), "float32[] 0");
  EXPECT_EQ(OperatorRun("ConstantOfShape", {intTensor({0, 3})}).text(), "float32[0, 3]");
  EXPECT_EQ(OperatorRun("ConstantOfShape", {intTensor({-1})}).text(), "R1204");
  TestGraph g;
  auto* ones = g.add("ConstantOfShape", {g.ints({2})}, attributesOf({{"value", intTensor({5})}}))[0];
  EXPECT_EQ(g.contentsOf(ones), "{5, 5}");
}

TEST(Generate, Range) {
  EXPECT_EQ(OperatorRun("Range", {intScalar(10), intScalar(4), intScalar(-2)}).text(), "int64[3] 10 8 6");
  EXPECT_EQ(OperatorRun("Range", {intScalar(4), intScalar(4), intScalar(1)}).text(), "int64[0]");
  EXPECT_EQ(OperatorRun("Range", {intScalar(0), intScalar(4), intScalar(0)}).text(), "R1409");
  EXPECT_EQ(
      OperatorRun("Range", {ref::makeFloats({}, {1}), ref::makeFloats({}, {2}), ref::makeFloats({}, {0.3})})
          .text(),
      "float32[4] 1 1.3 1.6 1.9");
  EXPECT_EQ(OperatorRun("Range", {ref::makeFloats({}, {0}), ref::makeFloats({}, {std::nan("")}),
                                  ref::makeFloats({}, {1})})
                .status()
                .code(),
            ErrorCode::kModelTooLarge);
  TestGraph g;
  auto* n = g.add("Gather", {g.add("Shape", {g.input("x", DType::kFloat32, "[N, 2]")})[0], g.scalar(0)})[0];
  EXPECT_EQ(g.type("Range", {g.scalar(0), n, g.scalar(1)}), "int64[N]");
  EXPECT_EQ(g.type("Range", {g.scalar(1), n, g.scalar(2)}), "int64[floordiv(N, 2)]");
  EXPECT_EQ(g.contentsOf(g.add("Range", {g.scalar(0), g.scalar(3), g.scalar(1)})[0]), "{0, 1, 2}");
  EXPECT_EQ(g.type("Range", {g.scalar(0), n, g.scalar(0)}), "R1409");
}

TEST(Generate, EyeLike) {
  const Tensor x = countingFloats({2, 3});
  EXPECT_EQ(
      OperatorRun("EyeLike", {x}, attributesOf({{"k", std::int64_t{1}}, {"dtype", std::int64_t{7}}})).text(),
      "int64[2, 3] 0 1 0 0 0 1");
  EXPECT_EQ(OperatorRun("EyeLike", {x}, attributesOf({{"k", std::int64_t{-1}}})).text(),
            "float32[2, 3] 0 0 0 1 0 0");
  EXPECT_EQ(
      OperatorRun("EyeLike", {x}, attributesOf({{"k", std::numeric_limits<std::int64_t>::min()}})).text(),
      "float32[2, 3] 0 0 0 0 0 0");
  EXPECT_EQ(OperatorRun("EyeLike", {countingFloats({2})}).text(), "R1204");
}

TEST(Generate, OneHotMarksNothingForIndicesOutside) {
  const Tensor values = ref::makeFloats({2}, {-1, 1});
  EXPECT_EQ(OperatorRun("OneHot", {intTensor({1, -1, 3, -4}), intScalar(3), values}).text(),
            "float32[4, 3] -1 1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1");
  EXPECT_EQ(OperatorRun("OneHot", {intTensor({1, 0}), ref::makeFloats({}, {2}), values},
                        attributesOf({{"axis", std::int64_t{0}}}))
                .text(),
            "float32[2, 2] -1 1 1 -1");
}

TEST(Generate, Trilu) {
  const Tensor x = ref::makeFloats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Attributes lower = attributesOf({{"upper", std::int64_t{0}}});
  EXPECT_EQ(OperatorRun("Trilu", {x}).text(), "float32[2, 3] 1 2 3 0 5 6");
  EXPECT_EQ(OperatorRun("Trilu", {x, intScalar(1)}).text(), "float32[2, 3] 0 2 3 0 0 6");
  EXPECT_EQ(OperatorRun("Trilu", {x}, lower).text(), "float32[2, 3] 1 0 0 4 5 0");
  EXPECT_EQ(OperatorRun("Trilu", {x, intScalar(-5)}, lower).text(), "float32[2, 3] 0 0 0 0 0 0");
  EXPECT_EQ(OperatorRun("Trilu", {x, intScalar(9)}, lower).values(), ref::valuesOf(x));
}

}  // namespace
}  // namespace rota::op
