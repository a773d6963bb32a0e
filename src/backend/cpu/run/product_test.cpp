// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of any shape against sums in double, for every variant of the vector kernels that this machine has.
#include "backend/cpu/run/product.h"

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/run/convolution.h"
#include "backend/cpu/run/strides.h"

namespace rota::runtime {
namespace {

std::vector<float> randomFloats(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& v : x) v = normal(random);
  return x;
}

/// Relative to what the terms could add up to.
void expectClose(double got, double want, double magnitude, const std::string& where) {
  EXPECT_LE(std::fabs(got - want), 1e-6 * (magnitude + 1)) << where << ": " << got << " for " << want;
}

struct Case {
  std::int64_t rows, columns, depth;
  bool transposeA, transposeB;
};

TEST(Product, EveryShapeAgainstDouble) {
  const Case cases[] = {
      {1, 1, 1, false, false},       {6, 16, 5, false, false},    {7, 33, 257, false, false},
      {200, 130, 300, false, false}, {3, 40, 70, false, true},    {13, 17, 19, true, true},
      {1, 1000, 64, false, true},    {5, 32, 0, false, false},    {193, 129, 33, true, false},
      {4, 1, 513, false, true},      {1, 500, 700, false, false}, {2, 300, 260, false, false},
      {3, 128, 9, true, false},      {1, 5, 7, true, true},       {12, 64, 100, false, false}};
  for (const Case& t : cases) {
    const auto a = randomFloats(t.rows * t.depth, 1);
    const auto b = randomFloats(t.depth * t.columns, 2);
    std::vector<float> c(static_cast<std::size_t>(t.rows * t.columns), NAN);
    std::vector<float> scratch(kProductScratch);
    const MatrixPanels panels(b.data(), t.transposeB ? 1 : t.columns, t.transposeB ? t.depth : 1);
    MatrixProduct p;
    p.rows = t.rows;
    p.columns = t.columns;
    p.depth = t.depth;
    p.a = a.data();
    p.aRow = t.transposeA ? 1 : t.depth;
    p.aDepth = t.transposeA ? t.rows : 1;
    p.b = &panels;
    p.c = c.data();
    p.cRow = t.columns;
    for (std::int64_t part = 0; part < productParts(t.rows, t.columns); ++part)
      runProductPart(p, part, scratch.data());
    for (std::int64_t r = 0; r < t.rows; ++r)
      for (std::int64_t j = 0; j < t.columns; ++j) {
        double want = 0, magnitude = 0;
        for (std::int64_t d = 0; d < t.depth; ++d) {
          const double term =
              static_cast<double>(a[static_cast<std::size_t>(r * p.aRow + d * p.aDepth)]) *
              static_cast<double>(
                  b[static_cast<std::size_t>(t.transposeB ? j * t.depth + d : d * t.columns + j)]);
          want += term;
          magnitude += std::fabs(term);
        }
        expectClose(static_cast<double>(c[static_cast<std::size_t>(r * t.columns + j)]), want, magnitude,
                    std::to_string(t.rows) + "x" + std::to_string(t.columns) + "x" + std::to_string(t.depth));
      }
  }
}

TEST(Product, TilesOfEveryVariantAgree) {
  for (const simd::Kernels* k : simd::usableKernels()) {
    ASSERT_LE(k->tileColumns, simd::kMaxTileColumns);
    for (std::int64_t rows = 1; rows <= simd::kTileRows; ++rows) {
      const std::int64_t depth = 37, columns = k->tileColumns - rows;
      const auto a = randomFloats(rows * depth, 3);
      const auto b = randomFloats(depth * k->tileColumns, 4);
      std::vector<float> c(static_cast<std::size_t>(rows * k->tileColumns), 1);
      k->productTile(a.data(), depth, 1, b.data(), k->tileColumns, depth, rows, columns, c.data(),
                     k->tileColumns, true);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < k->tileColumns; ++j) {
          double want = 1, magnitude = 1;
          for (std::int64_t d = 0; d < depth && j < columns; ++d) {
            const double term = static_cast<double>(a[static_cast<std::size_t>(r * depth + d)]) *
                                static_cast<double>(b[static_cast<std::size_t>(d * k->tileColumns + j)]);
            want += term;
            magnitude += std::fabs(term);
          }
          expectClose(static_cast<double>(c[static_cast<std::size_t>(r * k->tileColumns + j)]), want,
                      magnitude, k->name);
        }
    }
  }
}

double postInDouble(simd::Post kind, double x, double alpha, double beta, double operand) {
  switch (kind) {
    case simd::Post::kRelu: return x > 0 ? x : alpha * x;
    case simd::Post::kSigmoid: return 1 / (1 + std::exp(-x));
    case simd::Post::kTanh: return std::tanh(x);
    case simd::Post::kGeluErf: return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case simd::Post::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case simd::Post::kSwish: return x / (1 + std::exp(-alpha * x));
    case simd::Post::kHardSwish: return x * std::min(6.0, std::max(0.0, x + 3)) / 6;
    case simd::Post::kClip: return std::min(beta, std::max(alpha, x));
    case simd::Post::kElu: return x > 0 ? x : alpha * std::expm1(x);
    case simd::Post::kLinear: return alpha * x + beta;
    case simd::Post::kAdd: return x + operand;
    case simd::Post::kMul: return x * operand;
    case simd::Post::kSub: return x - operand;
    case simd::Post::kCount: break;
  }
  return NAN;
}

TEST(Product, OperationsAfterIt) {
  for (const simd::Kernels* k : simd::usableKernels())
    for (int kind = 0; kind < simd::kPosts; ++kind)
      for (const std::int64_t period : {0, 1, 8, 16, 32}) {
        const std::int64_t n = period > 1 ? 96 : 37;
        const auto x = randomFloats(n, 5);
        const auto operand = randomFloats(n, 6);
        std::vector<float> y = x;
        k->post[kind](y.data(), n, 0.25F, 0.75F, operand.data(), period);
        for (std::int64_t i = 0; i < n; ++i) {
          const auto o = static_cast<std::size_t>(period == 0 ? i : i % period);
          const double want =
              postInDouble(static_cast<simd::Post>(kind), static_cast<double>(x[static_cast<std::size_t>(i)]),
                           0.25, 0.75, static_cast<double>(operand[o]));
          EXPECT_NEAR(static_cast<double>(y[static_cast<std::size_t>(i)]), want, 1e-6 * (1 + std::fabs(want)))
              << k->name << " post " << kind << " period " << period;
        }
        float specials[2] = {NAN, -INFINITY};
        k->post[static_cast<int>(simd::Post::kRelu)](specials, 2, 0, 0, nullptr, 0);
        EXPECT_TRUE(std::isnan(specials[0]));
        EXPECT_EQ(specials[1], 0);
      }
}

/// A tensor in some layout, with its logical elements.
struct Laid {
  std::vector<std::int64_t> dims;
  Layout layout;
  std::vector<float> logical, memory;

  std::size_t placeOf(std::int64_t index) const {
    std::array<std::int64_t, kMaxRank> at{};
    for (std::size_t d = dims.size(); d-- > 0;) {
      at[d] = index % dims[d];
      index /= dims[d];
    }
    const PhysicalDims loops = physicalDims(dims, &layout);
    std::int64_t place = 0;
    for (std::size_t k = 0; k < loops.rank; ++k) {
      place = place * loops.size[k] + at[loops.axis[k]] / loops.unit[k];
      at[loops.axis[k]] %= loops.unit[k];
    }
    return static_cast<std::size_t>(place);
  }
  Laid(std::vector<std::int64_t> d, Layout l, unsigned seed) : dims(std::move(d)), layout(std::move(l)) {
    logical = randomFloats(elementCount(dims), seed);
    memory.resize(static_cast<std::size_t>(physicalDims(dims, &layout).count()));
    for (std::size_t i = 0; i < logical.size(); ++i)
      memory[placeOf(static_cast<std::int64_t>(i))] = logical[i];
  }
  Operand operand() {
    Operand o;
    o.view = {DType::kFloat32, dims, memory.data()};
    o.mutableData = memory.data();
    o.layout = &layout;
    return o;
  }
  float at(std::int64_t index) const { return memory[placeOf(index)]; }
};

struct ConvolutionCase {
  const char* name;
  std::int64_t images, groups, in, out;
  std::vector<std::int64_t> size, kernel, stride, dilation, pad;
  std::int32_t block;  // 0: plain
};

std::vector<std::int64_t> joined(std::vector<std::int64_t> head, const std::vector<std::int64_t>& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

/// The element of the result at (image, channel, position), before the operations after it.
double convolved(const ConvolutionCase& c, const Laid& x, const Laid& w, std::int64_t image,
                 std::int64_t channel, const std::vector<std::int64_t>& position) {
  const std::int64_t inGroup = c.in / c.groups;
  const std::int64_t group = channel / (c.out / c.groups);
  const std::int64_t points = elementCount(c.kernel);
  const std::int64_t pixels = elementCount(c.size);
  double sum = 0;
  for (std::int64_t i = 0; i < inGroup; ++i)
    for (std::int64_t k = 0; k < points; ++k) {
      std::int64_t rest = k, place = 0;
      std::vector<std::int64_t> at(c.kernel.size());
      bool inside = true;
      for (std::size_t d = c.kernel.size(); d-- > 0;) {
        at[d] = position[d] * c.stride[d] - c.pad[d] + rest % c.kernel[d] * c.dilation[d];
        rest /= c.kernel[d];
        inside = inside && at[d] >= 0 && at[d] < c.size[d];
      }
      if (!inside) continue;
      for (std::size_t d = 0; d < at.size(); ++d) place = place * c.size[d] + at[d];
      sum += static_cast<double>(
                 x.logical[static_cast<std::size_t>((image * c.in + group * inGroup + i) * pixels + place)]) *
             static_cast<double>(w.logical[static_cast<std::size_t>((channel * inGroup + i) * points + k)]);
    }
  return sum;
}

void runConvolution(const ConvolutionCase& c, ThreadPool& threads) {
  SCOPED_TRACE(c.name);
  std::vector<std::int64_t> outSize;
  for (std::size_t d = 0; d < c.size.size(); ++d)
    outSize.push_back((c.size[d] + 2 * c.pad[d] - (c.kernel[d] - 1) * c.dilation[d] - 1) / c.stride[d] + 1);
  Layout blocked, source, weights;
  const bool isDepthwise = c.groups == c.in && c.groups > 1;
  const bool isFirst = c.groups == 1 && c.in < 8;
  if (c.block != 0) {
    blocked.blocks = {{1, c.block}};
    if (!isFirst) source = blocked;
    const auto grouped = static_cast<std::uint8_t>(c.groups > 1 ? 1 : 0);
    if (isDepthwise) {
      weights.blocks = {{0, c.block}};
    } else if (isFirst) {
      weights.order = {0};
      for (std::size_t d = 0; d < c.size.size(); ++d)
        weights.order.push_back(static_cast<std::uint8_t>(d + 2));
      weights.order.push_back(1);
      weights.blocks = {{0, c.block}};
    } else {
      weights.blocks = {{static_cast<std::uint8_t>(1 + grouped), c.block}, {grouped, c.block}};
    }
  }
  const auto weightDims = c.groups > 1 ? joined({c.groups, c.out / c.groups, c.in / c.groups}, c.kernel)
                                       : joined({c.out, c.in}, c.kernel);
  Laid x(joined({c.images, c.in}, c.size), source, 11);
  Laid w(weightDims, weights, 12);
  Laid bias({c.out}, {}, 13);
  Laid each(joined({c.images, c.out}, outSize), blocked, 14);
  Laid channel(joined({1, c.out}, std::vector<std::int64_t>(outSize.size(), 1)), {}, 15);
  Laid y(joined({c.images, c.out}, outSize), blocked, 16);
  Attributes parameters;
  parameters.set("strides", c.stride);
  parameters.set("dilations", c.dilation);
  parameters.set("pads_begin", c.pad);
  parameters.set("pads_end", c.pad);
  parameters.set("post", std::vector<std::string>{"add", "relu", "mul"});
  parameters.set("post_alpha", std::vector<float>{0, 0.5F, 0});
  parameters.set("post_beta", std::vector<float>{0, 0, 0});
  EveryShapeConvolution convolution;
  ASSERT_TRUE(convolution.init(parameters).isOk());
  const std::vector<Operand> inputs = {x.operand(), w.operand(), bias.operand(), each.operand(),
                                       channel.operand()};
  const std::vector<Operand> outputs = {y.operand()};
  StepBinding binding;
  binding.inputs = inputs;
  binding.outputs = outputs;
  binding.threads = &threads;
  std::size_t bytes = 0;
  const Status prepared = convolution.prepare(binding, bytes);
  ASSERT_TRUE(prepared.isOk()) << prepared.toString();
  std::vector<std::max_align_t> workspace(bytes / sizeof(std::max_align_t) + 1);
  binding.workspace = workspace.data();
  ASSERT_TRUE(convolution.run(binding).isOk());
  const std::int64_t pixels = elementCount(outSize);
  const auto magnitude = static_cast<double>(c.in / c.groups * elementCount(c.kernel));
  for (std::int64_t i = 0; i < c.images * c.out * pixels; ++i) {
    std::vector<std::int64_t> position(outSize.size());
    std::int64_t rest = i % pixels;
    for (std::size_t d = outSize.size(); d-- > 0;) {
      position[d] = rest % outSize[d];
      rest /= outSize[d];
    }
    const std::int64_t o = i / pixels % c.out;
    double want = convolved(c, x, w, i / (pixels * c.out), o, position) +
                  static_cast<double>(bias.logical[static_cast<std::size_t>(o)]) +
                  static_cast<double>(each.logical[static_cast<std::size_t>(i)]);
    want = (want > 0 ? want : 0.5 * want) * static_cast<double>(channel.logical[static_cast<std::size_t>(o)]);
    expectClose(static_cast<double>(y.at(i)), want, magnitude, "element " + std::to_string(i));
  }
}

TEST(EveryShapeConvolution, AgainstDouble) {
  ThreadPool threads(2);
  std::vector<ConvolutionCase> cases = {
      {"plain", 2, 1, 5, 7, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 0},
      {"plain, strided, dilated", 1, 1, 3, 19, {13, 10}, {3, 2}, {2, 3}, {2, 1}, {2, 0}, 0},
      {"plain pointwise", 1, 1, 12, 5, {7, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0},
      {"plain groups, 1-D", 2, 4, 12, 8, {21}, {5}, {1}, {1}, {2}, 0},
      {"plain depthwise, 3-D", 1, 6, 6, 6, {4, 5, 6}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 0}, 0},
  };
  for (const std::int32_t block : {8, 16}) {
    const simd::Kernels& k = simd::kernels();
    if ((block == 8 ? k.convolve8 : k.convolve16) == nullptr) continue;
    const std::int64_t b = block;
    cases.push_back({"dense", 2, 1, 2 * b, 3 * b, {7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, block});
    cases.push_back({"dense, strided, dilated", 1, 1, b, b, {14, 15}, {3, 3}, {2, 1}, {1, 3}, {1, 3}, block});
    cases.push_back(
        {"dense pointwise, one pixel", 3, 1, b, 2 * b, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, block});
    cases.push_back({"first layer", 2, 1, 3, 2 * b, {20, 17}, {7, 7}, {2, 2}, {1, 1}, {3, 3}, block});
    cases.push_back({"groups", 1, 2, 2 * b, 4 * b, {6, 25}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, block});
    cases.push_back({"depthwise", 2, 10 * b, 10 * b, 10 * b, {9, 12}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, block});
    cases.push_back({"dense, 3-D", 1, 1, b, b, {3, 4, 5}, {3, 3, 3}, {1, 1, 2}, {1, 1, 1}, {1, 1, 1}, block});
    cases.push_back({"many output blocks, 1-D", 1, 1, b, 19 * b, {40}, {3}, {1}, {2}, {2}, block});
  }
  for (const ConvolutionCase& c : cases) runConvolution(c, threads);
}

}  // namespace
}  // namespace rota::runtime
