// SPDX-License-Identifier: Apache-2.0
// Resize, GridSample and Col2Im of complex tensors: the parts are what the kernel gives for each of them alone.
#include "ref/complex_parts.h"

#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

/// re, im, re, im ... as a complex tensor.
Tensor complexTensor(std::vector<std::int64_t> dims, const std::vector<float>& parts) {
  Tensor tensor = Tensor::allocate(DType::kComplex64, std::move(dims)).value();
  std::copy(parts.begin(), parts.end(), static_cast<float*>(tensor.mutableView().data));
  return tensor;
}

std::vector<float> partsOf(const Tensor& tensor) {
  const float* parts = tensor.view().as<float>();
  return {parts, parts + 2 * tensor.count()};
}

TEST(ComplexParts, ResizeInterpolatesBothParts) {
  KernelRun run{.name = "Resize",
                .inputs = {complexTensor({2}, {0, 8, 4, 0}), Tensor(), makeFloats({1}, {2})},
                .outputTypes = {DType::kComplex64},
                .outputDims = {{4}}};
  run.attributes.set("mode", std::string("linear"));
  const auto outputs = runKernel(run);
  ASSERT_TRUE(outputs.isOk()) << outputs.status().toString();
  EXPECT_EQ(partsOf((*outputs)[0]), (std::vector<float>{0, 8, 1, 6, 3, 2, 4, 0}));
}

TEST(ComplexParts, Col2ImAddsBothParts) {
  // Two blocks of two elements that overlap in the middle of an image of three.
  KernelRun run{.name = "Col2Im",
                .inputs = {complexTensor({1, 2, 2}, {1, -1, 2, -2, 3, -3, 4, -4}),
                           Tensor::ofInt64({1, 3}, {2}), Tensor::ofInt64({1, 2}, {2})},
                .outputTypes = {DType::kComplex64},
                .outputDims = {{1, 1, 1, 3}}};
  const auto outputs = runKernel(run);
  ASSERT_TRUE(outputs.isOk()) << outputs.status().toString();
  EXPECT_EQ(partsOf((*outputs)[0]), (std::vector<float>{1, -1, 5, -5, 4, -4}));
}

}  // namespace
}  // namespace rota::ref
