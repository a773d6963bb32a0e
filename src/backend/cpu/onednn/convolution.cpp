// SPDX-License-Identifier: Apache-2.0
// "onednn.convolution": convolution of any rank with bias and post-operations, float32.
//
// Inputs: source [n, c, spatial…], weights ([o, i, k…] or [g, o/g, i/g, k…], in the layout the tactic packed), bias [o] or none, then one operand per binary
// post-operation. Parameters: strides, dilations, pads_begin, pads_end, post*. A batch is cut into its images, so that the pool's threads share it.
#include <algorithm>
#include <atomic>

#include "backend/cpu/onednn/executor.h"
#include "core/check.h"

namespace rota::onednn {
namespace {

using runtime::Operand;
using runtime::StepBinding;
using Dim = dnnl::memory::dims;

class Convolution final : public runtime::StepKernel {
 public:
  explicit Convolution(const Attributes& parameters, std::vector<PostOperation> post)
      : post_(std::move(post)) {
    strides_ = *parameters.getInts("strides");
    begin_ = *parameters.getInts("pads_begin");
    end_ = *parameters.getInts("pads_end");
    for (std::int64_t d : *parameters.getInts("dilations")) dilations_.push_back(d - 1);
  }

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    const Operand& source = binding.inputs[0];
    const Operand& out = binding.outputs[0];
    images_ = source.view.dims[0];
    if (images_ == 0 || out.view.count() == 0) {
      images_ = 0;
      workspaceBytes = 0;
      return Status::ok();
    }
    const auto one = [](const Operand& operand, std::int64_t images) {
      std::vector<std::int64_t> dims(operand.view.dims.begin(), operand.view.dims.end());
      if (!dims.empty() && dims[0] == images) dims[0] = 1;
      return dims;
    };
    const auto sourceDims = one(source, images_);
    const auto outDims = one(out, images_);
    const dnnl::memory::desc src = descriptor(sourceDims, *source.layout);
    const dnnl::memory::desc dst = descriptor(outDims, *out.layout);
    const dnnl::memory::desc weights = descriptor(binding.inputs[1].view.dims, *binding.inputs[1].layout);
    hasBias_ = binding.inputs.size() > 2 && binding.inputs[2].isGiven();
    std::vector<std::pair<int, dnnl::memory::desc>> fixed = {{DNNL_ARG_SRC, src},
                                                             {DNNL_ARG_WEIGHTS, weights}};
    dnnl::memory::desc bias;
    if (hasBias_) {
      bias = descriptor(binding.inputs[2].view.dims, *binding.inputs[2].layout);
      fixed.emplace_back(DNNL_ARG_BIAS, bias);
    }
    std::vector<dnnl::memory::desc> extra;
    extraStride_.clear();
    for (std::size_t i = 3; i < binding.inputs.size(); ++i) {
      const auto dims = one(binding.inputs[i], images_);
      extra.push_back(descriptor(dims, *binding.inputs[i].layout));
      const bool perImage = images_ > 1 && binding.inputs[i].view.dims[0] == images_;
      extraStride_.push_back(perImage ? extra.back().get_size() : 0);
    }
    sourceStride_ = src.get_size();
    outStride_ = dst.get_size();
    const auto maker = [&](const dnnl::primitive_attr& attributes) -> Executor::Made {
      const auto algorithm = dnnl::algorithm::convolution_direct;
      const auto kind = dnnl::prop_kind::forward_inference;
      const dnnl::convolution_forward::desc desc =
          hasBias_ ? dnnl::convolution_forward::desc(kind, algorithm, src, weights, bias, dst, strides_,
                                                     dilations_, begin_, end_)
                   : dnnl::convolution_forward::desc(kind, algorithm, src, weights, dst, strides_, dilations_,
                                                     begin_, end_);
      const dnnl::convolution_forward::primitive_desc primitive(desc, attributes, cpuEngine());
      return {dnnl::convolution_forward(primitive), primitive.scratchpad_desc()};
    };
    // One executor an image in flight: arguments hold data pointers.
    executors_.assign(static_cast<std::size_t>(
                          images_ > 1 ? std::min<std::int64_t>(images_, binding.threads->threads()) : 1),
                      Executor{});
    for (Executor& e : executors_) ROTA_RETURN_IF_ERROR(e.prepare(maker, post_, fixed, dst, extra));
    scratchStride_ = (executors_[0].workspaceBytes() + 63) / 64 * 64;
    workspaceBytes = scratchStride_ * executors_.size();
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    if (images_ == 0) return Status::ok();
    if (executors_.size() == 1) {
      for (std::int64_t i = 0; i < images_; ++i) ROTA_RETURN_IF_ERROR(runImage(binding, i, 0));
      return Status::ok();
    }
    return runShared(binding);
  }

 private:
  /// Image `index` by executor `slot`.
  Status runImage(const StepBinding& binding, std::int64_t index, std::size_t slot) {
    const auto image = static_cast<std::size_t>(index);
    const auto at = [](const void* p, std::size_t offset) -> const void* {
      return static_cast<const std::byte*>(p) + offset;
    };
    const void* fixed[3] = {at(binding.inputs[0].view.data, image * sourceStride_),
                            binding.inputs[1].view.data, hasBias_ ? binding.inputs[2].view.data : nullptr};
    const void* extra[kMaxExtra] = {};
    for (std::size_t i = 0; i < extraStride_.size(); ++i)
      extra[i] = at(binding.inputs[3 + i].view.data, image * extraStride_[i]);
    auto* out = static_cast<std::byte*>(binding.outputs[0].mutableData) + image * outStride_;
    auto* workspace = static_cast<std::byte*>(binding.workspace) + slot * scratchStride_;
    return executors_[slot].execute({fixed, hasBias_ ? 3U : 2U}, {extra, extraStride_.size()}, out,
                                    workspace);
  }

  /// Each slot takes a contiguous run of images; which images share a slot does not change any bit.
  Status runShared(const StepBinding& binding) {
    const auto slots = static_cast<std::int64_t>(executors_.size());
    std::atomic<bool> failed{false};
    binding.threads->parallelFor(slots, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t slot = begin; slot < end; ++slot) {
        for (std::int64_t i = images_ * slot / slots; i < images_ * (slot + 1) / slots; ++i) {
          if (!runImage(binding, i, static_cast<std::size_t>(slot)).isOk()) failed = true;
        }
      }
    });
    return failed ? Status(ErrorCode::kInternal, "oneDNN failed to run a convolution") : Status::ok();
  }

  static constexpr std::size_t kMaxExtra = 8;
  std::vector<PostOperation> post_;
  Dim strides_, dilations_, begin_, end_;
  std::vector<Executor> executors_;
  std::int64_t images_ = 0;
  bool hasBias_ = false;
  std::size_t sourceStride_ = 0;
  std::size_t outStride_ = 0;
  std::size_t scratchStride_ = 0;
  std::vector<std::size_t> extraStride_;
};

Result<std::unique_ptr<runtime::StepKernel>> makeConvolution(const runtime::StepKernelSpec& spec) {
  const Attributes& p = spec.step.parameters;
  for (const char* name : {"strides", "dilations", "pads_begin", "pads_end"}) {
    if (p.getInts(name) == nullptr)
      return Status(ErrorCode::kEngineDamaged, "a convolution step has no " + std::string(name));
  }
  if (spec.step.inputs.size() < 3 || spec.step.inputs.size() > 11 || spec.step.outputs.size() != 1) {
    return Status(ErrorCode::kEngineDamaged, "a convolution step has a wrong number of operands");
  }
  auto post = parsePostOperations(p);
  if (!post) return post.status();
  const auto binary =
      std::count_if(post->begin(), post->end(), [](const PostOperation& o) { return o.isBinary; });
  if (static_cast<std::size_t>(binary) + 3 != spec.step.inputs.size())
    return Status(ErrorCode::kEngineDamaged, "a convolution step misses operands of its post-operations");
  return std::unique_ptr<runtime::StepKernel>(std::make_unique<Convolution>(p, std::move(*post)));
}

const runtime::RegisterStepKernel kConvolution("onednn.convolution", makeConvolution);

}  // namespace
}  // namespace rota::onednn
