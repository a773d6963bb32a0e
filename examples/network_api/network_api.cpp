// SPDX-License-Identifier: Apache-2.0
// A network without a file: written operator by operator, compiled, loaded, run, and checked against plain loops.
//
//   image [batch, 1, 12, 12] - Conv 3x3 - Relu - MaxPool 2x2 - Flatten - Gemm - Softmax - classes [batch, 10]
//
// The batch is a named dim: one engine serves every batch of its profile, here 1 to 8. The weights are drawn from a small
// generator; a real program would read them from wherever it keeps them. Exit code 0 if every answer agrees.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <rota/builder.h>
#include <rota/engine.h>
#include <rota/network.h>

namespace {

constexpr int kSize = 12;           // height and width of the image
constexpr int kFilters = 8;         // of the convolution, 3x3 each, with one pixel of padding
constexpr int kPooled = kSize / 2;  // height and width after pooling
constexpr int kFeatures = kFilters * kPooled * kPooled;
constexpr int kClasses = 10;
constexpr char kEnginePath[] = "network_api.rota";

struct Weights {
  std::vector<float> convolution;  // [kFilters, 1, 3, 3]
  std::vector<float> bias;         // [kFilters]
  std::vector<float> dense;        // [kFeatures, kClasses]
};

std::vector<float> randomFloats(int count, float scale, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = uniform(random);
  return values;
}

[[noreturn]] void fail(const rota::Status& status) {
  std::fprintf(stderr, "%s\n", status.toString().c_str());
  std::exit(1);
}

/// The value, or the end of the program with Rota's message: what went wrong, at which node, and what to do.
template <typename T> T orFail(rota::Result<T> result) {
  if (!result) fail(result.status());
  return std::move(result).value();
}

void orFail(const rota::Status& status) {
  if (!status) fail(status);
}

rota::Network describeNetwork(const Weights& weights) {
  const auto constant = [](rota::Network& net, const char* name, const std::vector<float>& values,
                           std::vector<std::int64_t> dims) {
    return orFail(net.addConstant(name, {rota::DType::kFloat32, dims, values.data()}));
  };
  rota::Network net;
  const auto image =
      orFail(net.addInput("image", rota::DType::kFloat32, {rota::Dim("batch"), 1, kSize, kSize}));
  const auto filters = constant(net, "filters", weights.convolution, {kFilters, 1, 3, 3});
  const auto bias = constant(net, "bias", weights.bias, {kFilters});
  const auto dense = constant(net, "dense", weights.dense, {kFeatures, kClasses});

  using Ints = std::vector<std::int64_t>;
  const auto convolved =
      orFail(net.add("Conv", {image, filters, bias}, {{"pads", Ints{1, 1, 1, 1}}}, "convolve"));
  const auto positive = orFail(net.add("Relu", {convolved}, {}, "positive"));
  const auto pooled =
      orFail(net.add("MaxPool", {positive}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, "pool"));
  const auto flat = orFail(net.add("Flatten", {pooled}, {}, "flatten"));
  const auto scores = orFail(net.add("Gemm", {flat, dense}, {}, "score"));
  const auto classes = orFail(net.add("Softmax", {scores}, {{"axis", std::int64_t{1}}}, "normalise"));
  orFail(net.markOutput(classes, "classes"));
  std::printf("network   image %s -> classes %s\n", net.describe(image).c_str(),
              net.describe(classes).c_str());
  return net;
}

/// The same in loops, for one image [1, kSize, kSize], in double.
std::vector<double> referenceClasses(const Weights& w, const float* image) {
  std::vector<double> logits(kClasses, 0.0);
  for (int f = 0; f < kFilters; ++f) {
    const auto convolve = [&](int y, int x) {
      double sum = w.bias[static_cast<std::size_t>(f)];
      for (int ky = 0; ky < 3; ++ky) {
        for (int kx = 0; kx < 3; ++kx) {
          const int iy = y + ky - 1, ix = x + kx - 1;
          if (iy < 0 || iy >= kSize || ix < 0 || ix >= kSize) continue;
          sum += static_cast<double>(image[iy * kSize + ix]) *
                 static_cast<double>(w.convolution[static_cast<std::size_t>((f * 3 + ky) * 3 + kx)]);
        }
      }
      return std::max(sum, 0.0);
    };
    for (int y = 0; y < kPooled; ++y) {
      for (int x = 0; x < kPooled; ++x) {
        const double pooled = std::max({convolve(2 * y, 2 * x), convolve(2 * y, 2 * x + 1),
                                        convolve(2 * y + 1, 2 * x), convolve(2 * y + 1, 2 * x + 1)});
        const int feature = (f * kPooled + y) * kPooled + x;
        for (int c = 0; c < kClasses; ++c)
          logits[static_cast<std::size_t>(c)] +=
              pooled * static_cast<double>(w.dense[static_cast<std::size_t>(feature * kClasses + c)]);
      }
    }
  }
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (double& v : logits) sum += v = std::exp(v - highest);
  for (double& v : logits) v /= sum;
  return logits;
}

/// Runs `batch` random images; the largest difference from the loops.
double largestDifference(rota::Context& context, const Weights& weights, int batch, std::mt19937& random) {
  const std::vector<float> images = randomFloats(batch * kSize * kSize, 1.0F, random);
  const std::vector<std::int64_t> dims = {batch, 1, kSize, kSize};
  orFail(context.setInput("image", {rota::DType::kFloat32, dims, images.data()}));
  orFail(context.run());
  const rota::TensorView classes = orFail(context.output("classes"));
  if (classes.dtype != rota::DType::kFloat32 || classes.rank() != 2 || classes.dims[0] != batch ||
      classes.dims[1] != kClasses) {
    std::fprintf(stderr, "the output is not float32[%d, %d]\n", batch, kClasses);
    std::exit(1);
  }
  double largest = 0;
  for (int b = 0; b < batch; ++b) {
    const std::vector<double> expected = referenceClasses(weights, images.data() + b * kSize * kSize);
    for (int c = 0; c < kClasses; ++c) {
      const double difference = std::abs(static_cast<double>(classes.as<float>()[b * kClasses + c]) -
                                         expected[static_cast<std::size_t>(c)]);
      largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
    }
  }
  return largest;
}

}  // namespace

int main() {
  std::mt19937 random(1);
  Weights weights;
  weights.convolution = randomFloats(kFilters * 9, 0.6F, random);
  weights.bias = randomFloats(kFilters, 0.2F, random);
  weights.dense = randomFloats(kFeatures * kClasses, 0.2F, random);

  rota::Network net = describeNetwork(weights);
  rota::BuilderConfig config;
  config.profiles.push_back(
      {"batches", {{"image", {{1, 4, 8}, {1, 1, 1}, {kSize, kSize, kSize}, {kSize, kSize, kSize}}}}});
  const rota::BuildReport report = orFail(rota::buildEngine(net, config, kEnginePath));
  std::printf("engine    %s, %llu bytes, built in %.3f s\n", kEnginePath,
              static_cast<unsigned long long>(report.engineBytes), report.seconds);
  for (const rota::TacticChoice& choice : report.choices) {
    std::string sources = choice.sources;
    std::replace(sources.begin(), sources.end(), '\n', ' ');
    std::printf("  %-22s by %s\n", sources.c_str(), choice.tactic.c_str());
  }

  const std::shared_ptr<rota::Engine> engine = orFail(rota::Engine::load(kEnginePath));
  std::remove(kEnginePath);  // loaded is mapped: the file may go
  const std::unique_ptr<rota::Context> context = orFail(engine->createContext(1));
  bool right = true;
  for (const int batch : {1, 5, 8}) {
    const double difference = largestDifference(*context, weights, batch, random);
    std::printf("batch %d   largest difference from the loops %.1e\n", batch, difference);
    right = right && difference < 1e-5;
  }
  std::puts(right ? "All answers agree." : "The answers differ.");
  return right ? 0 : 1;
}
