// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

TEST(DeformConv, OffsetsInterpolateAndTheMaskWeighs) {
  // A kernel of one element over [1, 2, 3, 4]: output i reads position i + offset.
  KernelRun run{.name = "DeformConv",
                .inputs = {makeFloats({1, 1, 4}, {1, 2, 3, 4}), makeFloats({1, 1, 1}, {10}),
                           makeFloats({1, 1, 4}, {0.5, -1, 1.5, 5}), makeFloats({1}, {1})},
                .outputTypes = {DType::kFloat32},
                .outputDims = {{1, 1, 4}}};
  // Positions 0.5, 0, 3.5 (half of the last element, half of nothing) and 8 (outside).
  EXPECT_EQ(valuesOf((*runKernel(run))[0]), (std::vector<double>{16, 11, 21, 1}));
  run.inputs.push_back(makeFloats({1, 1, 4}, {1, 0, 2, 1}));
  EXPECT_EQ(valuesOf((*runKernel(run))[0]), (std::vector<double>{16, 1, 41, 1}));
}

TEST(DeformConv, WithoutOffsetsItIsAConvolution) {
  std::vector<double> x, w;
  for (int i = 0; i < 2 * 4 * 5 * 5; ++i) x.push_back(i * 7 % 11 - 5);
  for (int i = 0; i < 6 * 2 * 3 * 2; ++i) w.push_back(i * 5 % 7 - 3);
  KernelRun conv{.name = "Conv",
                 .inputs = {makeFloats({2, 4, 5, 5}, x), makeFloats({6, 2, 3, 2}, w)},
                 .outputTypes = {DType::kFloat32},
                 .outputDims = {{2, 6, 3, 6}}};
  conv.attributes.set("group", std::int64_t{2});
  conv.attributes.set("strides", std::vector<std::int64_t>{2, 1});
  conv.attributes.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  KernelRun deform = conv;
  deform.name = "DeformConv";
  deform.attributes.set("offset_group", std::int64_t{4});
  deform.inputs.push_back(makeFloats({2, 4 * 6 * 2, 3, 6}, std::vector<double>(2 * 48 * 18, 0.0)));
  const auto y = runKernel(deform);
  ASSERT_TRUE(y.isOk()) << y.status().toString();
  EXPECT_EQ(valuesOf((*y)[0]), valuesOf((*runKernel(conv))[0]));
}

}  // namespace
}  // namespace rota::ref
