// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Values = std::vector<double>;
using Sizes = std::vector<std::int64_t>;
constexpr double kInf = std::numeric_limits<double>::infinity();

Values randomValues(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Values values(static_cast<std::size_t>(count));
  for (double& v : values) v = uniform(generator);
  return values;
}

struct Heads {
  std::int64_t batch, heads, kvHeads, queries, keys, size, valueSize;
  Values q = randomValues(batch * heads * queries * size, 1);
  Values k = randomValues(batch * kvHeads * keys * size, 2);
  Values v = randomValues(batch * kvHeads * keys * valueSize, 3);
};

using Bias = std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)>;

// Softmax(cap(q k' scale) + bias) v, element by element; [batch, heads, queries, valueSize].
Values plainAttention(const Heads& s, double scale, double cap, const Bias& bias,
                      Values* probabilities = nullptr) {
  Values y;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.heads; ++h) {
      const std::int64_t kv = b * s.kvHeads + h / (s.heads / s.kvHeads);
      for (std::int64_t i = 0; i < s.queries; ++i) {
        Values p;
        for (std::int64_t j = 0; j < s.keys; ++j) {
          double score = 0;
          for (std::int64_t d = 0; d < s.size; ++d) {
            score += s.q[static_cast<std::size_t>(((b * s.heads + h) * s.queries + i) * s.size + d)] *
                     s.k[static_cast<std::size_t>((kv * s.keys + j) * s.size + d)];
          }
          score *= scale;
          if (cap > 0) score = cap * std::tanh(score / cap);
          p.push_back(std::exp(score + bias(b, h, i, j)));
        }
        double sum = 0;
        for (const double x : p) sum += x;
        for (double& x : p) x = sum == 0 ? 0 : x / sum;
        if (probabilities != nullptr) probabilities->insert(probabilities->end(), p.begin(), p.end());
        for (std::int64_t d = 0; d < s.valueSize; ++d) {
          double out = 0;
          for (std::int64_t j = 0; j < s.keys; ++j)
            out += p[static_cast<std::size_t>(j)] *
                   s.v[static_cast<std::size_t>((kv * s.keys + j) * s.valueSize + d)];
          y.push_back(out);
        }
      }
    }
  }
  return y;
}

double noBias(std::int64_t, std::int64_t, std::int64_t, std::int64_t) { return 0; }

Tensor doubles(Sizes dims, const Values& values) {
  return makeTensor(DType::kFloat64, std::move(dims), values);
}

KernelRun attentionRun(const Heads& s) {
  return {.name = "Attention",
          .inputs = {doubles({s.batch, s.heads, s.queries, s.size}, s.q),
                     doubles({s.batch, s.kvHeads, s.keys, s.size}, s.k),
                     doubles({s.batch, s.kvHeads, s.keys, s.valueSize}, s.v)},
          .outputTypes = {DType::kFloat64},
          .outputDims = {{s.batch, s.heads, s.queries, s.valueSize}}};
}

void expectNear(const Values& found, const Values& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-12) << i;
}

void expectAttention(const KernelRun& run, const Values& expected) {
  const auto y = runKernel(run);
  ASSERT_TRUE(y.isOk()) << y.status().toString();
  expectNear(valuesOf((*y)[0]), expected);
}

TEST(Attention, GroupedHeadsLongSequencesAndSoftcap) {
  const Heads s{.batch = 2, .heads = 4, .kvHeads = 2, .queries = 70, .keys = 131, .size = 5, .valueSize = 3};
  KernelRun run = attentionRun(s);
  expectAttention(run, plainAttention(s, 1 / std::sqrt(5.0), 0, noBias));
  run.attributes.set("scale", 0.5F);
  run.attributes.set("softcap", 0.25F);
  expectAttention(run, plainAttention(s, 0.5, 0.25, noBias));
}

TEST(Attention, PackedHeadsGiveTheSameNumbers) {
  const Heads s{.batch = 1, .heads = 2, .kvHeads = 1, .queries = 3, .keys = 4, .size = 2, .valueSize = 2};
  const Values expected = plainAttention(s, 1 / std::sqrt(2.0), 0, noBias);
  const auto packed = [](const Values& v, std::int64_t heads, std::int64_t rows, std::int64_t size) {
    Values out;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t h = 0; h < heads; ++h)
        out.insert(out.end(), v.begin() + (h * rows + r) * size, v.begin() + (h * rows + r + 1) * size);
    }
    return out;
  };
  KernelRun run{
      .name = "Attention",
      .inputs = {doubles({1, 3, 4}, packed(s.q, 2, 3, 2)), doubles({1, 4, 2}, s.k), doubles({1, 4, 2}, s.v)},
      .outputTypes = {DType::kFloat64},
      .outputDims = {{1, 3, 4}}};
  run.attributes.set("q_num_heads", std::int64_t{2});
  run.attributes.set("kv_num_heads", std::int64_t{1});
  expectAttention(run, packed(expected, 2, 3, 2));
}

TEST(Attention, MasksAddOrDisallowAndBroadcast) {
  const Heads s{.batch = 2, .heads = 2, .kvHeads = 2, .queries = 3, .keys = 4, .size = 3, .valueSize = 2};
  KernelRun run = attentionRun(s);
  const Values added = randomValues(2 * 1 * 3 * 4, 9);
  run.inputs.push_back(doubles({2, 1, 3, 4}, added));
  expectAttention(run, plainAttention(s, 1 / std::sqrt(3.0), 0,
                                      [&](std::int64_t b, std::int64_t, std::int64_t i, std::int64_t j) {
                                        return added[static_cast<std::size_t>((b * 3 + i) * 4 + j)];
                                      }));
  // Query 1 may see no key: zeros, not NaN. The mask is shorter than the keys: the last is disallowed.
  const Values allowed = {1, 0, 1, 0, 0, 0, 1, 1, 1};
  run.inputs[3] = makeTensor(DType::kBool, {3, 3}, allowed);
  expectAttention(
      run, plainAttention(s, 1 / std::sqrt(3.0), 0,
                          [&](std::int64_t, std::int64_t, std::int64_t i, std::int64_t j) {
                            return j < 3 && allowed[static_cast<std::size_t>(i * 3 + j)] != 0 ? 0 : -kInf;
                          }));
  run.inputs[3] = makeTensor(DType::kBool, {5, 4}, Values(20, 1));
  EXPECT_EQ(runKernel(run).status().code(), ErrorCode::kShapeMismatch);
}

TEST(Attention, CausalWindowsAndValidLengths) {
  const Heads s{.batch = 2, .heads = 1, .kvHeads = 1, .queries = 3, .keys = 6, .size = 2, .valueSize = 2};
  KernelRun run = attentionRun(s);
  run.attributes.set("is_causal", std::int64_t{1});
  const double scale = 1 / std::sqrt(2.0);
  expectAttention(run,
                  plainAttention(s, scale, 0, [](std::int64_t, std::int64_t, std::int64_t i, std::int64_t j) {
                    return j <= i ? 0 : -kInf;
                  }));
  run.inputs.resize(7);
  run.inputs[6] =
      Tensor::ofInt64({6, 2}, {2});  // batch 1 has fewer keys than queries: its first query sees none
  const std::int64_t valid[] = {6, 2};
  expectAttention(
      run, plainAttention(s, scale, 0, [&](std::int64_t b, std::int64_t, std::int64_t i, std::int64_t j) {
        return j < valid[b] && j <= i + valid[b] - 3 ? 0 : -kInf;
      }));
  run.attributes.set("is_causal", std::int64_t{0});
  run.attributes.set("left_window_size", std::int64_t{1});
  run.attributes.set("right_window_size", std::int64_t{2});
  expectAttention(
      run, plainAttention(s, scale, 0, [&](std::int64_t b, std::int64_t, std::int64_t i, std::int64_t j) {
        const std::int64_t position = i + valid[b] - 3;
        return j < valid[b] && j >= position - 1 && j <= position + 2 ? 0 : -kInf;
      }));
}

TEST(Attention, PastIsPutBeforeTheNewKeys) {
  const Heads s{.batch = 1, .heads = 1, .kvHeads = 1, .queries = 2, .keys = 5, .size = 2, .valueSize = 3};
  KernelRun run = attentionRun(s);
  const auto part = [](const Values& v, std::int64_t first, std::int64_t last) {
    return Values(v.begin() + first, v.begin() + last);
  };
  run.inputs[1] = doubles({1, 1, 2, 2}, part(s.k, 6, 10));
  run.inputs[2] = doubles({1, 1, 2, 3}, part(s.v, 9, 15));
  run.inputs.resize(6);
  run.inputs[4] = doubles({1, 1, 3, 2}, part(s.k, 0, 6));
  run.inputs[5] = doubles({1, 1, 3, 3}, part(s.v, 0, 9));
  run.attributes.set("is_causal", std::int64_t{1});
  run.attributes.set("qk_matmul_output_mode", std::int64_t{3});
  for (const Sizes& dims : {Sizes{1, 1, 5, 2}, Sizes{1, 1, 5, 3}, Sizes{1, 1, 2, 5}})
    run.outputDims.push_back(dims), run.outputTypes.push_back(DType::kFloat64);
  const auto y = runKernel(run);
  ASSERT_TRUE(y.isOk()) << y.status().toString();
  Values probabilities;
  expectNear(valuesOf((*y)[0]), plainAttention(
                                    s, 1 / std::sqrt(2.0), 0,
                                    [](std::int64_t, std::int64_t, std::int64_t i, std::int64_t j) {
                                      return j <= i + 3 ? 0 : -kInf;
                                    },
                                    &probabilities));
  EXPECT_EQ(valuesOf((*y)[1]), s.k);
  EXPECT_EQ(valuesOf((*y)[2]), s.v);
  expectNear(valuesOf((*y)[3]), probabilities);
}

TEST(RotaryEmbedding, RotatesHalvesOrNeighboursByPosition) {
  const Values cosines = {1, 1, 0, 0.5}, sines = {0, 0, 1, 0.5};  // two positions of two angles
  KernelRun run{
      .name = "RotaryEmbedding",
      .inputs = {makeFloats({1, 1, 2, 5}, {1, 2, 3, 4, 9, 1, 2, 3, 4, 9}), makeFloats({2, 2}, cosines),
                 makeFloats({2, 2}, sines), Tensor::ofInt64({1, 0}, {1, 2})},
      .outputTypes = {DType::kFloat32},
      .outputDims = {{1, 1, 2, 5}}};
  run.attributes.set("rotary_embedding_dim", std::int64_t{4});
  EXPECT_EQ(valuesOf((*runKernel(run))[0]), (Values{-3, -1, 1, 3, 9, 1, 2, 3, 4, 9}));
  run.attributes.set("interleaved", std::int64_t{1});
  EXPECT_EQ(valuesOf((*runKernel(run))[0]), (Values{-2, 1, -0.5, 3.5, 9, 1, 2, 3, 4, 9}));
  run.inputs[3] = Tensor::ofInt64({1, 2}, {1, 2});
  EXPECT_EQ(runKernel(run).status().code(), ErrorCode::kBadIndex);
}

}  // namespace
}  // namespace rota::ref
