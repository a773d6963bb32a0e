// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft by hand; tests/test_microsoft_operators.py compares them with ONNX Runtime.
#include <cmath>

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Values = std::vector<double>;

// Runs a com.microsoft kernel through the test host, which looks up the default domain only.
Result<std::vector<Tensor>> runMicrosoft(const KernelRun& run) {
  const Kernel kernel = findKernel("com.microsoft", run.name);
  EXPECT_NE(kernel, nullptr) << run.name;
  std::vector<Tensor> outputs;
  std::vector<TensorView> inputs;
  std::vector<MutableTensorView> views;
  for (std::size_t i = 0; i < run.outputTypes.size(); ++i)
    outputs.push_back(Tensor::allocate(run.outputTypes[i], run.outputDims[i]).value());
  for (const Tensor& input : run.inputs) inputs.push_back(input.isGiven() ? input.view() : TensorView{});
  for (Tensor& output : outputs) views.push_back(output.mutableView());
  TestHost host(outputs, run.outputTypes, run.threads);
  KernelContext context(host, run.attributes, 1, inputs, views);
  if (Status status = kernel(context); !status.isOk()) return status;
  return outputs;
}

Values firstOf(const KernelRun& run) {
  const auto y = runMicrosoft(run);
  EXPECT_TRUE(y.isOk()) << y.status().toString();
  return y.isOk() ? valuesOf((*y)[0]) : Values{};
}

TEST(Microsoft, SkipLayerNormalizationGivesTheSumToo) {
  const auto y = runMicrosoft(
      {.name = "SkipSimplifiedLayerNormalization",
       .inputs = {makeFloats({2, 2}, {1, 2, 3, 4}), makeFloats({1, 2}, {2, 2}), makeFloats({2}, {1, 10})},
       .outputTypes = {DType::kFloat32, DType::kFloat32, DType::kFloat32, DType::kFloat32},
       .outputDims = {{2, 2}, {2, 1}, {2, 1}, {2, 2}}});
  ASSERT_TRUE(y.isOk()) << y.status().toString();
  EXPECT_EQ(valuesOf((*y)[3]), (Values{3, 4, 5, 6}));
  EXPECT_NEAR(valuesOf((*y)[0])[1], 40 / std::sqrt(12.5), 1e-5);
  EXPECT_NEAR(valuesOf((*y)[2])[1], 1 / std::sqrt(30.5), 1e-6);
}

TEST(Microsoft, MatMulNBitsTakesTheLowNibbleFirstAndReordersByGroups) {
  KernelRun run{.name = "MatMulNBits",
                .inputs = {makeFloats({1, 4}, {1, 10, 100, 1000}),
                           makeTensor(DType::kUInt8, {1, 2, 1}, {0x98, 0xBA}), makeFloats({2}, {1, 2})},
                .outputTypes = {DType::kFloat32},
                .outputDims = {{1, 1}}};
  for (const auto& [name, value] :
       {std::pair("K", 4), std::pair("N", 1), std::pair("bits", 4), std::pair("block_size", 2)}) {
    run.attributes.set(name, std::int64_t{value});
  }
  EXPECT_EQ(firstOf(run), (Values{6410}));                       // weights 0, 1 times 1 and 2, 3 times 2
  run.inputs.push_back(makeTensor(DType::kUInt8, {1}, {0xA9}));  // zero points 9 and 10
  EXPECT_EQ(firstOf(run), (Values{1 * -1 + 10 * 0 + 100 * 0 + 1000 * 2}));
  run.inputs.push_back(makeTensor(DType::kInt32, {4}, {0, 0, 0, 1}));
  EXPECT_EQ(firstOf(run), (Values{-1 + 100 + 2000}));
  run.inputs[4] = makeTensor(DType::kInt32, {4}, {0, 0, 0, 2});
  EXPECT_EQ(runMicrosoft(run).status().code(), ErrorCode::kBadIndex);
}

TEST(Microsoft, GroupQueryAttentionWritesBehindTheValidKeysOfItsBuffer) {
  // One head of size 1; batch 0 has one valid key in a buffer of three, batch 1 two.
  KernelRun run{.name = "GroupQueryAttention",
                .inputs = {makeFloats({2, 1, 1}, {0, 0}), makeFloats({2, 1, 1}, {7, 8}),
                           makeFloats({2, 1, 1}, {70, 80}), makeFloats({2, 1, 3, 1}, {1, 2, 3, 4, 5, 6}),
                           makeFloats({2, 1, 3, 1}, {10, 20, 30, 40, 50, 60}),
                           makeTensor(DType::kInt32, {2}, {1, 2}), makeTensor(DType::kInt32, {}, {3})},
                .outputTypes = {DType::kFloat32, DType::kFloat32, DType::kFloat32},
                .outputDims = {{2, 1, 1}, {2, 1, 3, 1}, {2, 1, 3, 1}}};
  run.attributes.set("num_heads", std::int64_t{1});
  run.attributes.set("kv_num_heads", std::int64_t{1});
  const auto y = runMicrosoft(run);
  ASSERT_TRUE(y.isOk()) << y.status().toString();
  EXPECT_EQ(valuesOf((*y)[1]), (Values{1, 7, 3, 4, 5, 8}));
  const Values means = valuesOf((*y)[0]);  // a query of zero weighs all keys alike
  EXPECT_NEAR(means[0], (10 + 70) / 2.0, 1e-5);
  EXPECT_NEAR(means[1], (40 + 50 + 80) / 3.0, 1e-5);
  run.inputs[5] = makeTensor(DType::kInt32, {2}, {1, 3});
  EXPECT_EQ(runMicrosoft(run).status().code(), ErrorCode::kBadIndex);
}

TEST(Microsoft, QuantisedSumsRoundToEvenAndSaturate) {
  const auto u8 = [](std::vector<std::int64_t> dims, const Values& v) {
    return makeTensor(DType::kUInt8, std::move(dims), v);
  };
  EXPECT_EQ(firstOf({.name = "QLinearAdd",
                     .inputs = {u8({3}, {11, 13, 255}), makeFloats({}, {0.5}), u8({}, {10}), u8({1}, {0}),
                                makeFloats({}, {1}), u8({}, {0}), makeFloats({}, {1}), u8({}, {1})},
                     .outputTypes = {DType::kUInt8},
                     .outputDims = {{3}}}),
            (Values{1, 3, 123}));  // 0.5, 1.5 and 122.5
}

TEST(Microsoft, EmbeddingsRefuseIdsOutsideTheirTables) {
  KernelRun run{.name = "EmbedLayerNormalization",
                .inputs = {makeTensor(DType::kInt32, {1, 2}, {0, 1}), Tensor(),
                           makeFloats({2, 2}, {1, 2, 3, 4}), makeFloats({2, 2}, {0, 0, 0, 2}), Tensor(),
                           makeFloats({2}, {1, 1}), makeFloats({2}, {0, 5})},
                .outputTypes = {DType::kFloat32},
                .outputDims = {{1, 2, 2}}};
  const Values y = firstOf(run);
  ASSERT_EQ(y.size(), 4U);
  EXPECT_NEAR(y[0], -1, 1e-5);
  EXPECT_NEAR(y[3], 6, 1e-5);
  run.inputs[0] = makeTensor(DType::kInt32, {1, 2}, {0, 2});
  EXPECT_EQ(runMicrosoft(run).status().code(), ErrorCode::kBadIndex);
}

}  // namespace
}  // namespace rota::ref
