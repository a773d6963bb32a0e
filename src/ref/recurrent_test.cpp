// SPDX-License-Identifier: Apache-2.0
#include "ref/recurrent.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Sizes = std::vector<std::int64_t>;
using Values = std::vector<double>;
constexpr std::int64_t kT = 5, kN = 3, kI = 4, kH = 3;

Values randomValues(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Values values(static_cast<std::size_t>(count));
  for (double& v : values) v = uniform(generator);
  return values;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Inputs of a layer in layout 0, all in float64.
struct Layer {
  std::int64_t gates;
  std::int64_t directions;
  Values x = randomValues(kT * kN * kI, 1);
  Values w = randomValues(directions * gates * kH * kI, 2);
  Values r = randomValues(directions * gates * kH * kH, 3);
  Values b = randomValues(directions * 2 * gates * kH, 4);
  Sizes lengths = {5, 3, 1};
  Values h = randomValues(directions * kN * kH, 5);
  Values c = randomValues(directions * kN * kH, 6);
  Values p = randomValues(directions * 3 * kH, 7);
};

// A state update of one cell: sums of the gates from x and from h (biases apart), and the state.
struct PlainStep {
  std::function<double(std::int64_t gate, std::int64_t j)> fromX, fromH, peephole;
  std::function<double(std::int64_t gate, std::int64_t j, const Values& state)> fromState;
  Values& h;
  Values& c;
  std::int64_t direction;
};
using Cell = std::function<void(PlainStep&)>;

struct Outputs {
  Values y, yh, yc;
};

// The plain loop over directions, sequences and steps.
Outputs plainLayer(const Layer& layer, bool reverseOnly, const Cell& cell) {
  Outputs out{Values(static_cast<std::size_t>(kT * layer.directions * kN * kH)), {}, {}};
  for (std::int64_t d = 0; d < layer.directions; ++d) {
    for (std::int64_t n = 0; n < kN; ++n) {
      const auto state = [&](const Values& from) {
        const auto begin = from.begin() + (d * kN + n) * kH;
        return Values(begin, begin + kH);
      };
      Values h = state(layer.h), c = state(layer.c);
      for (std::int64_t s = 0; s < layer.lengths[static_cast<std::size_t>(n)]; ++s) {
        const std::int64_t t = d == 1 || reverseOnly ? layer.lengths[static_cast<std::size_t>(n)] - 1 - s : s;
        const auto at = [](const Values& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; };
        const std::int64_t gateSize = layer.gates * kH;
        PlainStep step{
            [&](std::int64_t gate, std::int64_t j) {
              double sum = at(layer.b, d * 2 * gateSize + gate * kH + j);
              for (std::int64_t i = 0; i < kI; ++i)
                sum +=
                    at(layer.w, (d * gateSize + gate * kH + j) * kI + i) * at(layer.x, (t * kN + n) * kI + i);
              return sum;
            },
            {},
            [&](std::int64_t gate, std::int64_t j) { return at(layer.p, d * 3 * kH + gate * kH + j); },
            [&](std::int64_t gate, std::int64_t j, const Values& from) {
              double sum = at(layer.b, (d * 2 + 1) * gateSize + gate * kH + j);
              for (std::int64_t i = 0; i < kH; ++i)
                sum += at(layer.r, (d * gateSize + gate * kH + j) * kH + i) * at(from, i);
              return sum;
            },
            h,
            c,
            d};
        const Values before = h;
        step.fromH = [&, before](std::int64_t gate, std::int64_t j) {
          return step.fromState(gate, j, before);
        };
        cell(step);
        std::copy(h.begin(), h.end(), out.y.begin() + ((t * layer.directions + d) * kN + n) * kH);
      }
      out.yh.insert(out.yh.end(), h.begin(), h.end());
      out.yc.insert(out.yc.end(), c.begin(), c.end());
    }
  }
  return out;
}

KernelRun layerRun(const char* name, const Layer& layer) {
  const bool lstm = std::string(name) == "LSTM";
  const auto tensor = [](Sizes dims, const Values& values) {
    return makeTensor(DType::kFloat64, std::move(dims), values);
  };
  Values lengths(layer.lengths.begin(), layer.lengths.end());
  KernelRun run{
      .name = name,
      .inputs = {tensor({kT, kN, kI}, layer.x), tensor({layer.directions, layer.gates * kH, kI}, layer.w),
                 tensor({layer.directions, layer.gates * kH, kH}, layer.r),
                 tensor({layer.directions, 2 * layer.gates * kH}, layer.b),
                 makeTensor(DType::kInt32, {kN}, lengths), tensor({layer.directions, kN, kH}, layer.h)},
      .outputTypes = {DType::kFloat64, DType::kFloat64},
      .outputDims = {{kT, layer.directions, kN, kH}, {layer.directions, kN, kH}}};
  if (lstm) {
    run.inputs.push_back(tensor({layer.directions, kN, kH}, layer.c));
    run.inputs.push_back(tensor({layer.directions, 3 * kH}, layer.p));
    run.outputTypes.push_back(DType::kFloat64);
    run.outputDims.push_back({layer.directions, kN, kH});
  }
  if (layer.directions == 2) run.attributes.set("direction", std::string("bidirectional"));
  return run;
}

void expectNear(const Tensor& found, const Values& expected, const char* what) {
  const Values values = valuesOf(found);
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], 1e-12) << what << " " << i;
}

void expectLayer(const KernelRun& run, const Outputs& expected) {
  const auto y = runKernel(run);
  ASSERT_TRUE(y.isOk()) << y.status().toString();
  expectNear((*y)[0], expected.y, "Y");
  expectNear((*y)[1], expected.yh, "Y_h");
  if (y->size() > 2) expectNear((*y)[2], expected.yc, "Y_c");
}

double clip(double x, double limit) { return std::clamp(x, -limit, limit); }

Cell lstmCell(double limit, const std::function<double(double)>& g) {
  return [=](PlainStep& s) {
    for (std::int64_t j = 0; j < kH; ++j) {
      double& c = s.c[static_cast<std::size_t>(j)];
      const double i = sigmoid(clip(s.fromX(0, j) + s.fromH(0, j) + s.peephole(0, j) * c, limit));
      const double f = sigmoid(clip(s.fromX(2, j) + s.fromH(2, j) + s.peephole(2, j) * c, limit));
      c = f * c + i * g(clip(s.fromX(3, j) + s.fromH(3, j), limit));
      const double o = sigmoid(clip(s.fromX(1, j) + s.fromH(1, j) + s.peephole(1, j) * c, limit));
      s.h[static_cast<std::size_t>(j)] = o * std::tanh(clip(c, limit));
    }
  };
}

Cell gruCell(bool linearBeforeReset, double limit) {
  return [=](PlainStep& s) {
    Values reset(kH), z(kH);
    for (std::int64_t j = 0; j < kH; ++j) {
      z[static_cast<std::size_t>(j)] = sigmoid(clip(s.fromX(0, j) + s.fromH(0, j), limit));
      reset[static_cast<std::size_t>(j)] = sigmoid(clip(s.fromX(1, j) + s.fromH(1, j), limit));
    }
    Values resetState(kH);
    for (std::size_t j = 0; j < kH; ++j) resetState[j] = reset[j] * s.h[j];
    Values next(kH);
    for (std::int64_t j = 0; j < kH; ++j) {
      const double hidden = linearBeforeReset ? reset[static_cast<std::size_t>(j)] * s.fromH(2, j)
                                              : s.fromState(2, j, resetState);
      const double candidate = std::tanh(clip(s.fromX(2, j) + hidden, limit));
      next[static_cast<std::size_t>(j)] = (1 - z[static_cast<std::size_t>(j)]) * candidate +
                                          z[static_cast<std::size_t>(j)] * s.h[static_cast<std::size_t>(j)];
    }
    s.h = next;
  };
}

constexpr double kNoLimit = 1e300;

TEST(Lstm, BidirectionalWithLengthsStatesAndPeepholesEqualsThePlainLoop) {
  const Layer layer{.gates = 4, .directions = 2};
  expectLayer(layerRun("LSTM", layer),
              plainLayer(layer, false, lstmCell(kNoLimit, [](double x) { return std::tanh(x); })));
}

TEST(Lstm, ClipAndActivationsPerDirection) {
  const Layer layer{.gates = 4, .directions = 2};
  KernelRun run = layerRun("LSTM", layer);
  run.attributes.set("clip", 0.5F);
  run.attributes.set("activations",
                     std::vector<std::string>{"Sigmoid", "Tanh", "Tanh", "sigmoid", "LeakyRelu", "tanh"});
  run.attributes.set("activation_alpha", std::vector<float>{0.25F});
  const Cell forward = lstmCell(0.5, [](double x) { return std::tanh(x); });
  const Cell backward = lstmCell(0.5, [](double x) { return x >= 0 ? x : 0.25 * x; });
  expectLayer(run,
              plainLayer(layer, false, [&](PlainStep& s) { (s.direction == 0 ? forward : backward)(s); }));
}

TEST(Lstm, LayoutOneIsTheTranspose) {
  const Layer layer{.gates = 4, .directions = 2};
  const auto expected = runKernel(layerRun("LSTM", layer));
  KernelRun run = layerRun("LSTM", layer);
  run.attributes.set("layout", std::int64_t{1});
  const auto swapped = [](const Values& v, std::int64_t a, std::int64_t b, std::int64_t inner) {
    Values out;
    for (std::int64_t j = 0; j < b; ++j) {
      for (std::int64_t i = 0; i < a; ++i)
        out.insert(out.end(), v.begin() + (i * b + j) * inner, v.begin() + (i * b + j + 1) * inner);
    }
    return out;
  };
  run.inputs[0] = makeTensor(DType::kFloat64, {kN, kT, kI}, swapped(layer.x, kT, kN, kI));
  run.inputs[5] = makeTensor(DType::kFloat64, {kN, 2, kH}, swapped(layer.h, 2, kN, kH));
  run.inputs[6] = makeTensor(DType::kFloat64, {kN, 2, kH}, swapped(layer.c, 2, kN, kH));
  run.outputDims = {{kN, kT, 2, kH}, {kN, 2, kH}, {kN, 2, kH}};
  const auto y = runKernel(run);
  ASSERT_TRUE(y.isOk()) << y.status().toString();
  // [T, D, N, H] to [N, T, D, H].
  expectNear((*y)[0], swapped(valuesOf((*expected)[0]), kT * 2, kN, kH), "Y");
  expectNear((*y)[1], swapped(valuesOf((*expected)[1]), 2, kN, kH), "Y_h");
  expectNear((*y)[2], swapped(valuesOf((*expected)[2]), 2, kN, kH), "Y_c");
}

TEST(Gru, BothFormsOfTheResetGateBothDirections) {
  const Layer layer{.gates = 3, .directions = 2};
  for (const bool linear : {false, true}) {
    KernelRun run = layerRun("GRU", layer);
    run.attributes.set("linear_before_reset", std::int64_t{linear});
    expectLayer(run, plainLayer(layer, false, gruCell(linear, kNoLimit)));
    run.attributes.set("clip", 0.5F);
    expectLayer(run, plainLayer(layer, false, gruCell(linear, 0.5)));
  }
}

TEST(Rnn, ReverseStartsAtEachSequencesOwnEnd) {
  const Layer layer{.gates = 1, .directions = 1};
  KernelRun run = layerRun("RNN", layer);
  run.attributes.set("direction", std::string("reverse"));
  expectLayer(run, plainLayer(layer, true, [](PlainStep& s) {
                Values next(kH);
                for (std::int64_t j = 0; j < kH; ++j)
                  next[static_cast<std::size_t>(j)] = std::tanh(s.fromX(0, j) + s.fromH(0, j));
                s.h = next;
              }));
}

TEST(Rnn, OptionalInputsMayBeMissing) {
  Layer layer{.gates = 1, .directions = 1};
  KernelRun run = layerRun("RNN", layer);
  run.inputs.resize(3);
  std::fill(layer.b.begin(), layer.b.end(), 0.0);
  std::fill(layer.h.begin(), layer.h.end(), 0.0);
  layer.lengths = {kT, kT, kT};
  KernelRun given = layerRun("RNN", layer);
  const auto y = runKernel(run), expected = runKernel(given);
  ASSERT_TRUE(y.isOk() && expected.isOk());
  EXPECT_EQ(valuesOf((*y)[0]), valuesOf((*expected)[0]));
}

TEST(Rnn, LengthsOutsideTheSequenceAndUnknownFunctionsAreErrors) {
  Layer layer{.gates = 1, .directions = 1};
  layer.lengths = {5, 6, 1};
  EXPECT_EQ(runKernel(layerRun("RNN", layer)).status().code(), ErrorCode::kBadIndex);
  layer.lengths = {5, 5, 5};
  KernelRun run = layerRun("RNN", layer);
  run.attributes.set("activations", std::vector<std::string>{"Gaussian"});
  EXPECT_EQ(runKernel(run).status().code(), ErrorCode::kBadAttribute);
}

}  // namespace
}  // namespace rota::ref
