// SPDX-License-Identifier: Apache-2.0
#include "ref/conv.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Sizes = std::vector<std::int64_t>;

std::vector<double> smallIntegers(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> uniform(-4, 4);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& v : values) v = uniform(generator);
  return values;
}

std::int64_t countOf(const Sizes& sizes) { return elementCount(sizes); }

// Every index of `sizes` in row-major order.
template <typename F> void forEachIndex(const Sizes& sizes, F f) {
  const std::int64_t count = countOf(sizes);
  Sizes at(sizes.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    f(at, i);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
  }
}

struct ConvCase {
  std::int64_t images, channels, filters, groups;
  Sizes in, kernel, strides, dilations, pads;
};

Sizes outSizes(const ConvCase& c) {
  Sizes out;
  const std::size_t rank = c.in.size();
  for (std::size_t d = 0; d < rank; ++d)
    out.push_back(
        (c.in[d] + c.pads[d] + c.pads[rank + d] - (c.kernel[d] - 1) * c.dilations[d] - 1) / c.strides[d] + 1);
  return out;
}

// y[n, m, o] = bias[m] + sum x[n, c, o * s - p + k * d] * w[m, c, k], straight from the definition.
std::vector<double> plainConv(const ConvCase& c, const std::vector<double>& x, const std::vector<double>& w,
                              const std::vector<double>& bias) {
  const Sizes out = outSizes(c);
  const std::int64_t cg = c.channels / c.groups, mg = c.filters / c.groups;
  std::vector<double> y;
  for (std::int64_t n = 0; n < c.images; ++n) {
    for (std::int64_t m = 0; m < c.filters; ++m) {
      forEachIndex(out, [&](const Sizes& o, std::int64_t) {
        double sum = bias[static_cast<std::size_t>(m)];
        for (std::int64_t k = 0; k < cg; ++k) {
          forEachIndex(c.kernel, [&](const Sizes& at, std::int64_t kernelIndex) {
            std::int64_t offset = n * c.channels + m / mg * cg + k;
            for (std::size_t d = 0; d < c.in.size(); ++d) {
              const std::int64_t i = o[d] * c.strides[d] - c.pads[d] + at[d] * c.dilations[d];
              if (i < 0 || i >= c.in[d]) return;
              offset = offset * c.in[d] + i;
            }
            sum += x[static_cast<std::size_t>(offset)] *
                   w[static_cast<std::size_t>((m * cg + k) * countOf(c.kernel) + kernelIndex)];
          });
        }
        y.push_back(sum);
      });
    }
  }
  return y;
}

Sizes joined(std::int64_t a, std::int64_t b, const Sizes& rest) {
  Sizes all = {a, b};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

void setWindow(Attributes& attributes, const ConvCase& c) {
  attributes.set("strides", c.strides);
  attributes.set("dilations", c.dilations);
  attributes.set("pads", c.pads);
  attributes.set("group", c.groups);
}

TEST(Conv, FollowsTheDefinitionInOneTwoAndThreeAxes) {
  const ConvCase cases[] = {
      {2, 3, 4, 1, {9}, {3}, {2}, {1}, {1, 1}},
      {1, 4, 6, 2, {7, 8}, {3, 2}, {1, 2}, {2, 1}, {2, 0, 1, 1}},
      {2, 6, 6, 6, {12, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {1, 2, 3, 1, {4, 5, 6}, {2, 3, 3}, {1, 2, 1}, {1, 1, 2}, {0, 1, 2, 1, 0, 2}},
      {1, 33, 70, 1, {13, 13}, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
      {1, 1, 1, 1, {1, 2}, {3, 5}, {3, 3}, {1, 1}, {4, 6, 4, 6}},  // windows in the padding only
      {1, 8, 16, 2, {17, 23}, {3, 4}, {2, 3}, {2, 2}, {3, 1, 2, 4}},
      {2,
       2,
       4,
       2,
       {7, 1100},
       {3, 5},
       {2, 3},
       {1, 3},
       {1, 4, 2, 7}},  // rows longer than what is loaded at once
      {1, 3, 3, 3, {5, 4, 9}, {2, 3, 3}, {1, 2, 2}, {2, 1, 1}, {0, 1, 2, 1, 0, 2}},
      {1, 2, 2, 2, {6, 7}, {2, 2}, {1, 1}, {5, 6}, {0, 0, 0, 0}},   // one position
      {1, 2, 2, 2, {9, 9}, {1, 1}, {4, 5}, {1, 1}, {0, 0, 0, 0}},   // most of the image is never read
      {70, 1, 1, 1, {4, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1, 1, 1}},  // more images than parts
  };
  for (const ConvCase& c : cases) {
    const Sizes wDims = joined(c.filters, c.channels / c.groups, c.kernel);
    const Sizes xDims = joined(c.images, c.channels, c.in);
    const auto x = smallIntegers(countOf(xDims), 1), w = smallIntegers(countOf(wDims), 2),
               bias = smallIntegers(c.filters, 3);
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
      KernelRun run{.name = "Conv",
                    .inputs = {makeTensor(dtype, xDims, x), makeTensor(dtype, wDims, w),
                               makeTensor(dtype, {c.filters}, bias)},
                    .outputTypes = {dtype},
                    .outputDims = {joined(c.images, c.filters, outSizes(c))}};
      setWindow(run.attributes, c);
      const auto y = runKernel(run);
      ASSERT_TRUE(y.isOk()) << y.status().toString();
      EXPECT_EQ(valuesOf((*y)[0]), plainConv(c, x, w, bias));
    }
  }
}

TEST(Conv, SameUpperAndLowerDifferWhereThePaddingIsOdd) {
  KernelRun run{.name = "Conv",
                .inputs = {makeFloats({1, 1, 4}, {1, 2, 3, 4}), makeFloats({1, 1, 2}, {1, 10})},
                .outputTypes = {DType::kFloat32},
                .outputDims = {{1, 1, 4}}};
  run.attributes.set("auto_pad", std::string("SAME_UPPER"));
  EXPECT_EQ(valuesOf((*runKernel(run))[0]), (std::vector<double>{21, 32, 43, 4}));
  run.attributes.set("auto_pad", std::string("SAME_LOWER"));
  EXPECT_EQ(valuesOf((*runKernel(run))[0]), (std::vector<double>{10, 21, 32, 43}));
}

TEST(Conv, ShapesThatDisagreeAreAnError) {
  const auto y = runKernel({.name = "Conv",
                            .inputs = {makeFloats({1, 2, 4, 4}, std::vector<double>(32)),
                                       makeFloats({1, 2, 3, 3, 3}, std::vector<double>(54))},
                            .outputTypes = {DType::kFloat32},
                            .outputDims = {{1, 1, 2, 2}}});
  ASSERT_FALSE(y.isOk());
  EXPECT_EQ(y.status().code(), ErrorCode::kShapeMismatch);
}

// Scatters every input element over the output, straight from the definition.
std::vector<double> plainTranspose(const ConvCase& c, const Sizes& out, const std::vector<double>& x,
                                   const std::vector<double>& w) {
  const std::int64_t cg = c.channels / c.groups, mg = c.filters / c.groups;
  std::vector<double> y(static_cast<std::size_t>(c.images * c.filters * countOf(out)));
  for (std::int64_t n = 0; n < c.images; ++n) {
    for (std::int64_t channel = 0; channel < c.channels; ++channel) {
      forEachIndex(c.in, [&](const Sizes& i, std::int64_t inIndex) {
        const double value =
            x[static_cast<std::size_t>((n * c.channels + channel) * countOf(c.in) + inIndex)];
        for (std::int64_t m = 0; m < mg; ++m) {
          forEachIndex(c.kernel, [&](const Sizes& k, std::int64_t kernelIndex) {
            std::int64_t offset = n * c.filters + channel / cg * mg + m;
            for (std::size_t d = 0; d < out.size(); ++d) {
              const std::int64_t o = i[d] * c.strides[d] + k[d] * c.dilations[d] - c.pads[d];
              if (o < 0 || o >= out[d]) return;
              offset = offset * out[d] + o;
            }
            y[static_cast<std::size_t>(offset)] +=
                value * w[static_cast<std::size_t>((channel * mg + m) * countOf(c.kernel) + kernelIndex)];
          });
        }
      });
    }
  }
  return y;
}

TEST(ConvTranspose, FollowsTheDefinition) {
  const ConvCase cases[] = {
      {1, 2, 3, 1, {5}, {4}, {3}, {1}, {1, 2}},
      {2, 4, 4, 2, {3, 4}, {3, 3}, {2, 3}, {1, 1}, {1, 0, 1, 0}},
      {1, 3, 2, 1, {4, 4}, {3, 2}, {2, 2}, {2, 3}, {0, 1, 2, 0}},
      {1, 2, 2, 2, {3, 2, 3}, {2, 3, 1}, {2, 1, 2}, {1, 2, 1}, {0, 1, 0, 0, 1, 0}},
      {1, 2, 2, 1, {3, 3}, {2, 2}, {4, 4}, {1, 1}, {0, 0, 0, 0}},  // gaps between the windows
      {1, 1, 1, 1, {6}, {3}, {4}, {2}, {0, 0}},  // kernel positions share a factor with the stride
      {2, 4, 10, 2, {5, 6}, {3, 4}, {2, 3}, {1, 2}, {1, 2, 0, 1}},
      {1, 2, 5, 1, {3, 2, 3}, {2, 3, 1}, {2, 1, 2}, {1, 2, 1}, {0, 1, 0, 0, 1, 0}},
      {1, 3, 3, 3, {2, 150}, {3, 3}, {2, 1}, {1, 3}, {3, 1, 0, 2}},
      {1, 2, 2, 2, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {4, 4, 0, 0}},  // most of the result is cut off
  };
  for (const ConvCase& c : cases) {
    Sizes out;
    const std::size_t rank = c.in.size();
    for (std::size_t d = 0; d < rank; ++d) {
      out.push_back(c.strides[d] * (c.in[d] - 1) + (c.kernel[d] - 1) * c.dilations[d] + 1 - c.pads[d] -
                    c.pads[rank + d] + (c.strides[d] > 1 ? 1 : 0));
    }
    const Sizes xDims = joined(c.images, c.channels, c.in),
                wDims = joined(c.channels, c.filters / c.groups, c.kernel);
    const auto x = smallIntegers(countOf(xDims), 4), w = smallIntegers(countOf(wDims), 5);
    KernelRun run{.name = "ConvTranspose",
                  .inputs = {makeFloats(xDims, x), makeFloats(wDims, w)},
                  .outputTypes = {DType::kFloat32},
                  .outputDims = {joined(c.images, c.filters, out)}};
    setWindow(run.attributes, c);
    const auto y = runKernel(run);
    ASSERT_TRUE(y.isOk()) << y.status().toString();
    EXPECT_EQ(valuesOf((*y)[0]), plainTranspose(c, out, x, w));
  }
}

TEST(ConvTranspose, AutoPadWithOutputPaddingEqualsExplicitPads) {
  const auto x = smallIntegers(18, 6), w = smallIntegers(18, 7);
  KernelRun run{.name = "ConvTranspose",
                .inputs = {makeFloats({1, 2, 3, 3}, x), makeFloats({2, 1, 3, 3}, w)},
                .outputTypes = {DType::kFloat32},
                .outputDims = {{1, 1, 6, 6}}};
  run.attributes.set("strides", Sizes{2, 2});
  run.attributes.set("output_padding", Sizes{1, 1});
  KernelRun same = run;
  run.attributes.set("pads", Sizes{1, 1, 1, 1});
  same.attributes.set("auto_pad", std::string("SAME_UPPER"));
  const auto expected = valuesOf((*runKernel(run))[0]);
  EXPECT_EQ(valuesOf((*runKernel(same))[0]), expected);
  EXPECT_NE(expected, std::vector<double>(36, 0.0));
}

}  // namespace
}  // namespace rota::ref
