// SPDX-License-Identifier: Apache-2.0
// LinearAttention, CausalConvWithState, Det.
#include <cmath>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Values = std::vector<double>;

// One head, two tokens, keys of size 2, values of size 1.
KernelRun twoTokens(const char* rule) {
  KernelRun run{.name = "LinearAttention",
                .inputs = {makeFloats({1, 2, 2}, {1, 0, 1, 1}), makeFloats({1, 2, 2}, {1, 2, 0, 1}),
                           makeFloats({1, 2, 1}, {3, 5}), Tensor(), Tensor(), Tensor()},
                .outputTypes = {DType::kFloat32, DType::kFloat32},
                .outputDims = {{1, 2, 1}, {1, 1, 2, 1}}};
  run.attributes.set("q_num_heads", std::int64_t{1});
  run.attributes.set("kv_num_heads", std::int64_t{1});
  run.attributes.set("scale", 1.0F);
  run.attributes.set("update_rule", std::string(rule));
  return run;
}

void expectTwoTokens(const KernelRun& run, const Values& y, const Values& state) {
  const auto found = runKernel(run);
  ASSERT_TRUE(found.isOk()) << found.status().toString();
  EXPECT_EQ(valuesOf((*found)[0]), y);
  EXPECT_EQ(valuesOf((*found)[1]), state);
}

TEST(LinearAttention, EachRuleByHand) {
  // State after token 1: k v = [3, 6]; token 2 adds [0, 5].
  expectTwoTokens(twoTokens("linear"), {3, 14}, {3, 11});
  KernelRun gated = twoTokens("gated");
  gated.inputs[4] = makeTensor(DType::kFloat64, {1, 2, 1}, {0, std::log(0.5)});
  expectTwoTokens(gated, {3, 9.5}, {1.5, 8});
  KernelRun delta = twoTokens("delta");
  delta.inputs[5] = makeFloats({1, 2, 1}, {1, 0.5});
  // Token 2 retrieves k' S = 6 and writes 0.5 * (5 - 6) at the second key.
  expectTwoTokens(delta, {3, 8.5}, {3, 5.5});
}

TEST(LinearAttention, StateContinuesAndRulesNeedTheirInputs) {
  KernelRun run = twoTokens("linear");
  run.inputs[3] = makeFloats({1, 1, 2, 1}, {10, 20});
  expectTwoTokens(run, {13, 44}, {13, 31});
  EXPECT_EQ(runKernel(twoTokens("delta")).status().code(), ErrorCode::kMissingInput);
  EXPECT_EQ(runKernel(twoTokens("cubic")).status().code(), ErrorCode::kBadAttribute);
}

TEST(CausalConvWithState, SeesThePastAndHandsItOn) {
  KernelRun run{.name = "CausalConvWithState",
                .inputs = {makeFloats({1, 2, 2}, {1, 2, 3, 4}), makeFloats({2, 1, 3}, {1, 10, 100, 1, 1, 1}),
                           makeFloats({2}, {0, 0.5})},
                .outputTypes = {DType::kFloat32, DType::kFloat32},
                .outputDims = {{1, 2, 2}, {1, 2, 2}}};
  expectTwoTokens(run, {100, 210, 3.5, 7.5}, {1, 2, 3, 4});
  run.inputs.push_back(makeFloats({1, 2, 2}, {5, 6, 7, 8}));
  expectTwoTokens(run, {165, 216, 18.5, 15.5}, {1, 2, 3, 4});
  run.attributes.set("activation", std::string("silu"));
  EXPECT_NEAR(valuesOf((*runKernel(run))[0])[3], 15.5 / (1 + std::exp(-15.5)), 1e-5);
}

TEST(Det, PivotsAndBatches) {
  const KernelRun run{.name = "Det",
                      .inputs = {makeFloats({3, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4, 5, 0, 0, -3})},
                      .outputTypes = {DType::kFloat32},
                      .outputDims = {{3}}};
  EXPECT_EQ(valuesOf((*runKernel(run))[0]), (Values{-6, 0, -15}));
}

}  // namespace
}  // namespace rota::ref
