// SPDX-License-Identifier: Apache-2.0
// For tests only: runs one reference kernel on tensors made of doubles, without graph or inference.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/element_access.h"
#include "ref/kernel.h"

namespace rota::ref {

/// A tensor of `dtype` with these values.
inline Tensor makeTensor(DType dtype, std::vector<std::int64_t> dims, const std::vector<double>& values) {
  Tensor tensor = Tensor::allocate(dtype, std::move(dims)).value();
  storeFromDouble(tensor.mutableView(), 0, tensor.count(), values.data());
  return tensor;
}
inline Tensor makeFloats(std::vector<std::int64_t> dims, const std::vector<double>& values) {
  return makeTensor(DType::kFloat32, std::move(dims), values);
}
inline std::vector<double> valuesOf(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.count()));
  loadAsDouble(tensor.view(), 0, tensor.count(), values.data());
  return values;
}

/// What a kernel is run on. Outputs are given as dtype and dims; dims that the kernel finds replace them.
struct KernelRun {
  std::string name;
  int version = 21;
  Attributes attributes{};
  std::vector<Tensor> inputs{};
  std::vector<DType> outputTypes{};
  std::vector<std::vector<std::int64_t>> outputDims{};
  int threads = 2;
};

class TestHost final : public KernelHost {
 public:
  TestHost(std::vector<Tensor>& outputs, const std::vector<DType>& types, int threads)
      : outputs_(outputs),
        types_(types),
        pool_(threads) {}
  Result<MutableTensorView> allocateOutput(std::size_t index, Dims dims) override {
    if (!std::equal(dims.begin(), dims.end(), outputs_[index].dims().begin(), outputs_[index].dims().end())) {
      outputs_[index] = Tensor::allocate(types_[index], {dims.begin(), dims.end()}).value();
    }
    return outputs_[index].mutableView();
  }
  Result<void*> scratch(std::size_t bytes) override {
    scratch_.push_back(Buffer::allocate(bytes).value());
    return static_cast<void*>(scratch_.back()->mutableData());
  }
  ThreadPool& threads() override { return pool_; }
  const Sequence* inputSequence(std::size_t) override { return nullptr; }
  Sequence* outputSequence(std::size_t) override { return nullptr; }

 private:
  std::vector<Tensor>& outputs_;
  const std::vector<DType>& types_;
  ThreadPool pool_;
  std::vector<std::shared_ptr<Buffer>> scratch_;
};

/// The outputs, or the kernel's error.
inline Result<std::vector<Tensor>> runKernel(const KernelRun& run) {
  const Kernel kernel = findKernel("", run.name);
  if (kernel == nullptr) return Status(ErrorCode::kUnsupportedOperator, "No kernel named " + run.name);
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < run.outputTypes.size(); ++i) {
    outputs.push_back(Tensor::allocate(run.outputTypes[i], run.outputDims[i]).value());
  }
  std::vector<TensorView> inputViews;
  for (const Tensor& input : run.inputs) inputViews.push_back(input.isGiven() ? input.view() : TensorView{});
  std::vector<MutableTensorView> outputViews;
  for (Tensor& output : outputs) outputViews.push_back(output.mutableView());
  TestHost host(outputs, run.outputTypes, run.threads);
  KernelContext context(host, run.attributes, run.version, inputViews, outputViews);
  if (Status status = kernel(context); !status.isOk()) return status;
  return outputs;
}

}  // namespace rota::ref
