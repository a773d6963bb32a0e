// SPDX-License-Identifier: Apache-2.0
// For tests and benchmarks only: the forms in which products reach the reference, with their arithmetic, so that bench/reference_products.cpp
// and src/ref/product_speed_test.cpp measure the same.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ref/test_host.h"

namespace rota::ref {

struct SpeedCase {
  std::string name;
  double flop = 0;  ///< Two for each multiplication with addition.
  KernelRun run{};
};

/// Small numbers, the same each time.
inline Tensor speedTensor(DType dtype, std::vector<std::int64_t> dims) {
  Tensor tensor = Tensor::allocate(dtype, std::move(dims)).value();
  std::vector<double> values(static_cast<std::size_t>(tensor.count()));
  const double scale = isFloat(dtype) ? 1.0 / 64 : 1.0 / 8;
  std::uint32_t state = 1;
  for (double& v : values) {
    state = state * 1664525U + 1013904223U;
    v = (static_cast<double>(state >> 24U) - 128) * scale;
  }
  storeFromDouble(tensor.mutableView(), 0, tensor.count(), values.data());
  return tensor;
}

namespace speed_detail {

using DimList = std::vector<std::int64_t>;

inline Attributes with(std::vector<std::pair<std::string, Attribute>> entries) {
  Attributes attributes;
  for (auto& [name, value] : entries) attributes.set(name, std::move(value));
  return attributes;
}
inline Attributes window(std::int64_t group, std::int64_t stride, std::int64_t pad,
                         std::int64_t dilation = 1) {
  return with({{"group", group},
               {"strides", DimList{stride, stride}},
               {"pads", DimList{pad, pad, pad, pad}},
               {"dilations", DimList{dilation, dilation}}});
}
inline double count(const DimList& dims) { return static_cast<double>(elementCount(dims)); }

inline SpeedCase matMul(std::string name, DType dtype, DimList a, DimList b, DimList y) {
  const double flop = 2 * count(y) * static_cast<double>(a.back());
  return {std::move(name),
          flop,
          {.name = "MatMul",
           .inputs = {speedTensor(dtype, std::move(a)), speedTensor(dtype, std::move(b))},
           .outputTypes = {dtype},
           .outputDims = {std::move(y)},
           .threads = 1}};
}
inline SpeedCase gemm(std::string name, std::int64_t transA, std::int64_t transB) {
  return {std::move(name),
          2.0 * 512 * 512 * 512,
          {.name = "Gemm",
           .attributes = with({{"transA", transA}, {"transB", transB}}),
           .inputs = {speedTensor(DType::kFloat32, {512, 512}), speedTensor(DType::kFloat32, {512, 512}),
                      speedTensor(DType::kFloat32, {512})},
           .outputTypes = {DType::kFloat32},
           .outputDims = {{512, 512}},
           .threads = 1}};
}
inline SpeedCase conv(std::string name, DType dtype, DimList x, DimList w, DimList y, Attributes attributes,
                      const char* op = "Conv") {
  const double flop = 2 * count(y) * count(w) / static_cast<double>(w[0]);
  const DType out = std::string(op) == "ConvInteger" ? DType::kInt32 : dtype;
  return {std::move(name),
          flop,
          {.name = op,
           .attributes = std::move(attributes),
           .inputs = {speedTensor(dtype, std::move(x)), speedTensor(dtype, std::move(w))},
           .outputTypes = {out},
           .outputDims = {std::move(y)},
           .threads = 1}};
}
inline SpeedCase convTranspose(std::string name, DimList x, DimList w, DimList y, Attributes attributes) {
  const double flop = 2 * count(x) * count(w) / static_cast<double>(w[0]);
  return {std::move(name),
          flop,
          {.name = "ConvTranspose",
           .attributes = std::move(attributes),
           .inputs = {speedTensor(DType::kFloat32, std::move(x)), speedTensor(DType::kFloat32, std::move(w))},
           .outputTypes = {DType::kFloat32},
           .outputDims = {std::move(y)},
           .threads = 1}};
}
inline SpeedCase einsum(const std::string& equation, DimList a, DimList b, DimList y, double flop) {
  return {"Einsum " + equation,
          flop,
          {.name = "Einsum",
           .attributes = with({{"equation", equation}}),
           .inputs = {speedTensor(DType::kFloat32, std::move(a)), speedTensor(DType::kFloat32, std::move(b))},
           .outputTypes = {DType::kFloat32},
           .outputDims = {std::move(y)},
           .threads = 1}};
}
inline SpeedCase attention(std::string name, std::int64_t queries, std::int64_t keys) {
  const Tensor kv = speedTensor(DType::kFloat32, {1, 12, keys, 64});
  return {std::move(name),
          4.0 * 12 * 64 * static_cast<double>(queries * keys),
          {.name = "Attention",
           .version = 23,
           .inputs = {speedTensor(DType::kFloat32, {1, 12, queries, 64}), kv, kv},
           .outputTypes = {DType::kFloat32},
           .outputDims = {{1, 12, queries, 64}},
           .threads = 1}};
}
inline SpeedCase recurrent(std::string name, std::int64_t gates) {
  constexpr std::int64_t kSteps = 32, kSize = 256;
  return {name + " 256, 32 steps, batch 8",
          2.0 * kSteps * 8 * static_cast<double>(gates) * kSize * kSize * 2,
          {.name = name,
           .attributes = with({{"hidden_size", kSize}}),
           .inputs = {speedTensor(DType::kFloat32, {kSteps, 8, kSize}),
                      speedTensor(DType::kFloat32, {1, gates * kSize, kSize}),
                      speedTensor(DType::kFloat32, {1, gates * kSize, kSize})},
           .outputTypes = {DType::kFloat32},
           .outputDims = {{kSteps, 1, 8, kSize}},
           .threads = 1}};
}

}  // namespace speed_detail

inline std::vector<SpeedCase> speedCases() {
  using namespace speed_detail;
  constexpr DType kF32 = DType::kFloat32;
  const DimList square{512, 512};
  std::vector<SpeedCase> cases = {
      matMul("MatMul 512^3", kF32, square, square, square),
      matMul("MatMul 512^3 float16", DType::kFloat16, square, square, square),
      matMul("MatMul 512^3 bfloat16", DType::kBFloat16, square, square, square),
      matMul("MatMul 512^3 float64", DType::kFloat64, square, square, square),
      matMul("MatMul 512^3 int32", DType::kInt32, square, square, square),
      matMul("MatMul 512^3 int64", DType::kInt64, square, square, square),
      matMul("MatMul row x 2048^2", kF32, {1, 2048}, {2048, 2048}, {1, 2048}),
      matMul("MatMul row x 2048^2 float16", DType::kFloat16, {1, 2048}, {2048, 2048}, {1, 2048}),
      matMul("MatMul 8 rows x 2048^2", kF32, {8, 2048}, {2048, 2048}, {8, 2048}),
      matMul("MatMul 2048^2 x column", kF32, {2048, 2048}, {2048, 1}, {2048, 1}),
      matMul("MatMul 96 x (64 x 64 x 64)", kF32, {96, 64, 64}, {96, 64, 64}, {96, 64, 64}),
      matMul("MatMul 4096 x (16 x 32 x 16)", kF32, {4096, 16, 32}, {4096, 32, 16}, {4096, 16, 16}),
      matMul("MatMul 2 x 1024 x 768 x 768", kF32, {2, 1024, 768}, {768, 768}, {2, 1024, 768}),
      gemm("Gemm 512^3 transB", 0, 1),
      gemm("Gemm 512^3 transA", 1, 0),
      gemm("Gemm 512^3 transA transB", 1, 1),
      conv("Conv 3x3 64 to 64, 56^2", kF32, {1, 64, 56, 56}, {64, 64, 3, 3}, {1, 64, 56, 56},
           window(1, 1, 1)),
      conv("Conv 3x3 64 to 64, 56^2 float16", DType::kFloat16, {1, 64, 56, 56}, {64, 64, 3, 3},
           {1, 64, 56, 56}, window(1, 1, 1)),
      conv("Conv 1x1 256 to 256, 28^2", kF32, {1, 256, 28, 28}, {256, 256, 1, 1}, {1, 256, 28, 28},
           window(1, 1, 0)),
      conv("Conv 7x7/2 3 to 64, 112^2", kF32, {1, 3, 224, 224}, {64, 3, 7, 7}, {1, 64, 112, 112},
           window(1, 2, 3)),
      conv("Conv 3x3 512 to 512, 7^2", kF32, {1, 512, 7, 7}, {512, 512, 3, 3}, {1, 512, 7, 7},
           window(1, 1, 1)),
      conv("Conv 3x3 dilated 64 to 64, 28^2", kF32, {1, 64, 28, 28}, {64, 64, 3, 3}, {1, 64, 28, 28},
           window(1, 1, 2, 2)),
      conv("Conv 3x3 32 groups of 4, 56^2", kF32, {1, 128, 56, 56}, {128, 4, 3, 3}, {1, 128, 56, 56},
           window(32, 1, 1)),
      conv("Conv 3x3 depthwise 256, 28^2", kF32, {1, 256, 28, 28}, {256, 1, 3, 3}, {1, 256, 28, 28},
           window(256, 1, 1)),
      conv("Conv 3x3/2 depthwise 256, 28^2", kF32, {1, 256, 28, 28}, {256, 1, 3, 3}, {1, 256, 14, 14},
           window(256, 2, 1)),
      conv("Conv 3x3 depthwise 960, 7^2", kF32, {1, 960, 7, 7}, {960, 1, 3, 3}, {1, 960, 7, 7},
           window(960, 1, 1)),
      conv("Conv 7x7 depthwise 192, 28^2", kF32, {1, 192, 28, 28}, {192, 1, 7, 7}, {1, 192, 28, 28},
           window(192, 1, 3)),
      conv("Conv 3x3 depthwise 256, 28^2 float16", DType::kFloat16, {1, 256, 28, 28}, {256, 1, 3, 3},
           {1, 256, 28, 28}, window(256, 1, 1)),
      conv("ConvInteger 3x3 64 to 64, 28^2", DType::kUInt8, {1, 64, 28, 28}, {64, 64, 3, 3}, {1, 64, 28, 28},
           window(1, 1, 1), "ConvInteger"),
      convTranspose("ConvTranspose 4x4/2 64 to 32, 28^2", {1, 64, 28, 28}, {64, 32, 4, 4}, {1, 32, 56, 56},
                    window(1, 2, 1)),
      convTranspose("ConvTranspose 2x2/2 64 to 64, 28^2", {1, 64, 28, 28}, {64, 64, 2, 2}, {1, 64, 56, 56},
                    window(1, 2, 0)),
      convTranspose("ConvTranspose 4x4/2 depthwise 64, 28^2", {1, 64, 28, 28}, {64, 1, 4, 4}, {1, 64, 56, 56},
                    window(64, 2, 1)),
      einsum("ij,jk->ik", square, square, square, 2.0 * 512 * 512 * 512),
      einsum("bhid,bhjd->bhij", {2, 8, 128, 64}, {2, 8, 128, 64}, {2, 8, 128, 128},
             2.0 * 16 * 128 * 128 * 64),
      einsum("bhij,bhjd->bihd", {2, 8, 128, 128}, {2, 8, 128, 64}, {2, 128, 8, 64},
             2.0 * 16 * 128 * 128 * 64),
      einsum("bhwc,hkc->bhwk", {1, 28, 28, 64}, {28, 28, 64}, {1, 28, 28, 28}, 2.0 * 28 * 28 * 28 * 64),
      einsum("bi,oi->bo", {1, 1024}, {1024, 1024}, {1, 1024}, 2.0 * 1024 * 1024),
      attention("Attention 12 x 256 x 256 x 64", 256, 256),
      attention("Attention 12 x 1 x 2048 x 64", 1, 2048),
      recurrent("LSTM", 4),
      recurrent("GRU", 3),
  };
  SpeedCase integer = matMul("MatMulInteger 512^3", DType::kUInt8, square, square, square);
  integer.run.name = "MatMulInteger";
  integer.run.outputTypes = {DType::kInt32};
  cases.push_back(std::move(integer));
  return cases;
}

/// A kernel that is run again and again on the same memory, so that only the kernel is measured.
class SpeedRun {
 public:
  explicit SpeedRun(const SpeedCase& test) : test_(test), kernel_(findKernel("", test.run.name)) {
    for (std::size_t i = 0; i < test.run.outputTypes.size(); ++i)
      outputs_.push_back(Tensor::allocate(test.run.outputTypes[i], test.run.outputDims[i]).value());
    for (const Tensor& input : test.run.inputs) inputs_.push_back(input.view());
    for (Tensor& output : outputs_) views_.push_back(output.mutableView());
  }
  Status once() {
    TestHost host(outputs_, test_.run.outputTypes, test_.run.threads);
    KernelContext context(host, test_.run.attributes, test_.run.version, inputs_, views_);
    return kernel_(context);
  }

 private:
  const SpeedCase& test_;
  Kernel kernel_;
  std::vector<Tensor> outputs_;
  std::vector<TensorView> inputs_;
  std::vector<MutableTensorView> views_;
};

}  // namespace rota::ref
