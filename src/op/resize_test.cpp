// SPDX-License-Identifier: Apache-2.0
// Resize, Upsample, GridSample and AffineGrid: sizes, coordinates, borders.
#include <cmath>

#include <gtest/gtest.h>

#include "op/test_run.h"

namespace rota::op {
namespace {

Attributes resizeAttributes(const char* mode, const char* coordinates,
                            const char* rounding = "round_prefer_floor") {
  return attributesOf({{"mode", std::string(mode)},
                       {"coordinate_transformation_mode", std::string(coordinates)},
                       {"nearest_mode", std::string(rounding)}});
}

/// One axis resized by a scale or to a size.
std::string resizeRow(const Tensor& x, float scale, std::int64_t size, Attributes attributes,
                      int version = 19) {
  const Tensor scales = scale > 0 ? Tensor::ofFloat({scale}, {1}) : Tensor();
  const Tensor sizes = size >= 0 ? intTensor({size}) : Tensor();
  return OperatorRun("Resize", {x, Tensor(), scales, sizes}, std::move(attributes), 1, version).text();
}

TEST(Resize, NearestRoundings) {
  const Tensor x = countingFloats({4});
  // Asymmetric by 2: places 0, 0.5, 1, ...
  EXPECT_EQ(resizeRow(x, 2, -1, resizeAttributes("nearest", "asymmetric")), "float32[8] 0 0 1 1 2 2 3 3");
  EXPECT_EQ(resizeRow(x, 2, -1, resizeAttributes("nearest", "asymmetric", "round_prefer_ceil")),
            "float32[8] 0 1 1 2 2 3 3 3");
  EXPECT_EQ(resizeRow(x, 2, -1, resizeAttributes("nearest", "asymmetric", "floor")),
            "float32[8] 0 0 1 1 2 2 3 3");
  EXPECT_EQ(resizeRow(x, 2, -1, resizeAttributes("nearest", "asymmetric", "ceil")),
            "float32[8] 0 1 1 2 2 3 3 3");
  EXPECT_EQ(resizeRow(x, 2, -1, resizeAttributes("nearest", "half_pixel")), "float32[8] 0 0 1 1 2 2 3 3");
  EXPECT_EQ(resizeRow(x, 0, 2, resizeAttributes("nearest", "half_pixel", "floor")), "float32[2] 0 2");
  EXPECT_EQ(resizeRow(x, 0, 7, resizeAttributes("nearest", "align_corners", "floor")),
            "float32[7] 0 0 1 1 2 2 3");
  EXPECT_EQ(resizeRow(x, 0, 3, resizeAttributes("nearest", "sideways")), "R1206");
  // A scale of 0.1 in float32 still picks whole places.
  EXPECT_EQ(resizeRow(countingFloats({30}), 0.1F, -1, resizeAttributes("nearest", "asymmetric", "floor")),
            "float32[3] 0 10 20");
}

TEST(Resize, LinearCoordinates) {
  const Tensor x = countingFloats({4});
  EXPECT_EQ(resizeRow(x, 2, -1, resizeAttributes("linear", "half_pixel")),
            "float32[8] 0 0.25 0.75 1.25 1.75 2.25 2.75 3");
  EXPECT_EQ(resizeRow(x, 0, 7, resizeAttributes("linear", "align_corners")),
            "float32[7] 0 0.5 1 1.5 2 2.5 3");
  EXPECT_EQ(resizeRow(x, 0, 1, resizeAttributes("linear", "align_corners")), "float32[1] 0");
  EXPECT_EQ(resizeRow(x, 0, 1, resizeAttributes("linear", "pytorch_half_pixel")), "float32[1] 0");
  EXPECT_EQ(resizeRow(x, 0, 1, resizeAttributes("linear", "half_pixel")), "float32[1] 1.5");
  EXPECT_EQ(resizeRow(x, 0, 4, resizeAttributes("linear", "half_pixel")), "float32[4] 0 1 2 3");
}

TEST(Resize, IntegersRoundAndSaturate) {
  Attributes cubic = resizeAttributes("cubic", "half_pixel");
  const Tensor x = ref::makeTensor(DType::kUInt8, {4}, {0, 255, 255, 0});
  const OperatorRun run("Resize", {x, Tensor(), Tensor::ofFloat({2}, {1})}, cubic);
  for (const double value : run.values())
    EXPECT_TRUE(value >= 0 && value <= 255 && value == std::floor(value));
  const Tensor y = ref::makeTensor(DType::kInt8, {2}, {0, 1});
  EXPECT_EQ(OperatorRun("Resize", {y, Tensor(), Tensor::ofFloat({2}, {1})},
                        resizeAttributes("linear", "half_pixel"))
                .text(),
            "int8[4] 0 0 1 1");
}

TEST(Resize, AntialiasAveragesWhenShrinking) {
  Attributes attributes = resizeAttributes("linear", "half_pixel");
  attributes.set("antialias", std::int64_t{1});
  attributes.set("exclude_outside", std::int64_t{1});
  // A triangle of reach 2 around 0.5 and 2.5.
  const OperatorRun run("Resize", {ref::makeFloats({4}, {0, 0, 4, 4}), Tensor(), Tensor(), intTensor({2})},
                        attributes);
  const auto values = run.values();
  ASSERT_EQ(values.size(), 2U);
  EXPECT_NEAR(values[0], 4 * 0.25 / 1.75, 1e-6);
  EXPECT_NEAR(values[1], 4 * 1.5 / 1.75, 1e-6);
}

TEST(Resize, AxesPolicyAndRegion) {
  const Tensor x = countingFloats({1, 2, 4});
  Attributes attributes = resizeAttributes("nearest", "half_pixel");
  attributes.set("axes", std::vector<std::int64_t>{1, 2});
  attributes.set("keep_aspect_ratio_policy", std::string("not_larger"));
  EXPECT_EQ(
      OperatorRun("Resize", {x, Tensor(), Tensor(), intTensor({6, 6})}, attributes).text().substr(0, 16),
      "float32[1, 3, 6]");
  attributes.set("keep_aspect_ratio_policy", std::string("not_smaller"));
  EXPECT_EQ(
      OperatorRun("Resize", {x, Tensor(), Tensor(), intTensor({6, 6})}, attributes).text().substr(0, 17),
      "float32[1, 6, 12]");
  Attributes crop = resizeAttributes("linear", "tf_crop_and_resize");
  crop.set("extrapolation_value", -1.0F);
  EXPECT_EQ(
      OperatorRun("Resize",
                  {countingFloats({5}), Tensor::ofFloat({0.25F, 1.25F}, {2}), Tensor(), intTensor({3})}, crop)
          .text(),
      "float32[3] 1 3 -1");
}

TEST(Resize, OldFormsAreAsymmetric) {
  EXPECT_EQ(
      OperatorRun("Upsample", {countingFloats({2})}, attributesOf({{"scales", std::vector<float>{2}}}), 1, 7)
          .text(),
      "float32[4] 0 0 1 1");
  EXPECT_EQ(OperatorRun("Upsample", {countingFloats({2}), Tensor::ofFloat({2}, {1})},
                        attributesOf({{"mode", std::string("linear")}}), 1, 9)
                .text(),
            "float32[4] 0 0.5 1 1");
  EXPECT_EQ(OperatorRun("Resize", {countingFloats({4}), Tensor::ofFloat({0.6F}, {1})}, {}, 1, 10).text(),
            "float32[2] 0 2");
}

TEST(Resize, SymbolicSizes) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, 3, H, 7]");
  const auto byScale = [&](std::vector<float> scales) {
    return g.type("Resize", {x, nullptr, g.constant(Tensor::ofFloat(std::move(scales), {4}))}, {}, 19);
  };
  EXPECT_EQ(byScale({1, 1, 2, 2}), "float32[N, 3, 2*H, 14]");
  EXPECT_EQ(byScale({1, 1, 0.5, 0.7F}), "float32[N, 3, floordiv(H, 2), 4]");
  EXPECT_EQ(byScale({1, 1, -1, 1}), "R1204");
  auto* sizes =
      g.add("Concat", {g.add("Slice", {g.add("Shape", {x})[0], g.ints({0}), g.ints({3})})[0], g.ints({20})},
            attributesOf({{"axis", std::int64_t{0}}}))[0];
  EXPECT_EQ(g.type("Resize", {x, nullptr, nullptr, sizes}, {}, 19), "float32[N, 3, H, 20]");
  EXPECT_EQ(g.type("Resize", {x}, {}, 19), "R1207");
}

TEST(GridSample, CubicNeighboursAreClampedOneByOne) {
  // C07.
  const Tensor x = ref::makeFloats({1, 1, 4, 4}, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  const Attributes cubic = attributesOf({{"mode", std::string("cubic")},
                                         {"padding_mode", std::string("border")},
                                         {"align_corners", std::int64_t{1}}});
  const auto values =
      OperatorRun("GridSample", {x, ref::makeFloats({1, 1, 1, 2}, {-1.1, 0})}, cubic, 1, 20).values();
  ASSERT_EQ(values.size(), 1U);
  EXPECT_NEAR(values[0], -0.08128, 1e-5);
}

TEST(GridSample, StrangeCoordinatesDoNoHarm) {
  const Tensor x = countingFloats({1, 1, 3, 3});
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor grid = ref::makeFloats({1, 1, 5, 2}, {std::nan(""), 0, 1e38, -1e38, inf, 0, -inf, inf, 0, 0});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const std::int64_t align : {0, 1}) {
        const OperatorRun run("GridSample", {x, grid},
                              attributesOf({{"mode", std::string(mode)},
                                            {"padding_mode", std::string(padding)},
                                            {"align_corners", align}}),
                              1, 20);
        const auto values = run.values();
        ASSERT_EQ(values.size(), 5U) << run.status().toString();
        EXPECT_DOUBLE_EQ(values[4], 4) << mode << ' ' << padding;
        if (std::string_view(padding) == "zeros") {
          for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(values[i], 0) << mode << ' ' << i;
        }
      }
    }
  }
}

TEST(GridSample, ThreeAxesAndReflection) {
  const Tensor x = countingFloats({1, 1, 2, 2, 2});
  EXPECT_EQ(OperatorRun("GridSample", {x, ref::makeFloats({1, 1, 1, 1, 3}, {0, 0, 0})}, {}, 1, 20).text(),
            "float32[1, 1, 1, 1, 1] 3.5");
  const Tensor row = countingFloats({1, 1, 4});
  const Attributes reflect = attributesOf({{"padding_mode", std::string("reflection")},
                                           {"align_corners", std::int64_t{1}},
                                           {"mode", std::string("nearest")}});
  // Place 4 mirrors at 3 to 2.
  EXPECT_EQ(
      OperatorRun("GridSample", {row, ref::makeFloats({1, 1, 1}, {1 + 2.0 / 3})}, reflect, 1, 20).text(),
      "float32[1, 1, 1] 2");
  EXPECT_EQ(OperatorRun("GridSample", {row, ref::makeFloats({1, 1, 2}, {0, 0})}, reflect, 1, 20).text(),
            "R1204");
}

TEST(AffineGrid, IdentityGivesThePositionsThemselves) {
  const Tensor theta = ref::makeFloats({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  EXPECT_EQ(OperatorRun("AffineGrid", {theta, intTensor({1, 1, 1, 2})}, {}, 1, 20).text(),
            "float32[1, 1, 2, 2] -0.5 0 0.5 0");
  EXPECT_EQ(OperatorRun("AffineGrid", {theta, intTensor({1, 1, 2, 3})},
                        attributesOf({{"align_corners", std::int64_t{1}}}), 1, 20)
                .text(),
            "float32[1, 2, 3, 2] -1 -1 0 -1 1 -1 -1 1 0 1 1 1");
  EXPECT_EQ(OperatorRun("AffineGrid", {theta, intTensor({1, 1, 2})}, {}, 1, 20).text(), "R1204");
}

}  // namespace
}  // namespace rota::op
