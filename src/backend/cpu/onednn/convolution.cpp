// SPDX-License-Identifier: Apache-2.0
// "onednn.convolution": convolution of any rank with bias and post-operations, float32.
//
// Inputs: source [n, c, spatial…], weights ([o, i, k…] or [g, o/g, i/g, k…], in the layout the tactic packed), bias [o] or none, then one operand per binary
// post-operation. Parameters: strides, dilations, pads_begin, pads_end, post*. A batch is cut into its images and a large image into its output channels,
// by a rule of the shape alone, so that the pool's threads share it and bits do not depend on their number. Where dims change from run to run
// (StepBinding::everyShape) our own convolution runs instead, which needs no primitive; also where the library has only plain loops, as for windows
// that dilation and padding make wider than the image in blocked layout.
#include "backend/cpu/run/convolution.h"

#include <algorithm>
#include <atomic>

#include "backend/cpu/onednn/executor.h"
#include "core/check.h"

namespace rota::onednn {
namespace {

using runtime::Operand;
using runtime::StepBinding;
using Dim = dnnl::memory::dims;

/// How one image is cut: by output channels, or by groups. Of the shape alone, so that bits do not depend on threads (decision N17).
struct Cut {
  std::int64_t width = 0;  ///< channels or groups of a part; the last part may have fewer
  std::int64_t parts = 1;
};

constexpr std::int64_t kTasks = 4;  // wanted for one convolution, images times parts
constexpr std::int64_t kChannelsPerPart =
    32;  // below it the kernels lose their blocking over output channels
constexpr std::int64_t kMacsPerPart =
    2'000'000;  // some 50 microseconds; below it handing out the part costs too much

Cut cutOf(std::int64_t images, std::int64_t macs, std::int64_t units, std::int64_t channelsPerUnit) {
  const std::int64_t wanted = std::min((kTasks + images - 1) / images, macs / kMacsPerPart);
  const std::int64_t align = (kChannelsPerPart + channelsPerUnit - 1) / channelsPerUnit;
  const std::int64_t even =
      (units + std::max<std::int64_t>(wanted, 1) - 1) / std::max<std::int64_t>(wanted, 1);
  const std::int64_t width = std::min(units, (even + align - 1) / align * align);
  return {width, (units + width - 1) / width};
}

/// One operand as a part of one image sees it: the descriptor, and the bytes from one image and from one part to the next.
struct Window {
  dnnl::memory::desc whole, tail;
  std::size_t imageStride = 0;
  std::size_t partStride = 0;

  /// `axis`: the one that the parts cut, negative for none. The first dim counts images where it equals `images` and `batched`.
  static Window of(const Operand& operand, std::int64_t images, bool batched, int axis, std::int64_t width,
                   std::int64_t tailWidth) {
    std::vector<std::int64_t> dims(operand.view.dims.begin(), operand.view.dims.end());
    const bool perImage = batched && !dims.empty() && dims[0] == images;
    if (perImage) dims[0] = 1;
    Window w;
    w.imageStride = perImage ? descriptor(dims, *operand.layout).get_size() : 0;
    if (axis >= 0) dims[static_cast<std::size_t>(axis)] = width;
    w.whole = descriptor(dims, *operand.layout);
    if (axis >= 0) {
      w.partStride = w.whole.get_size();
      dims[static_cast<std::size_t>(axis)] = tailWidth;
    }
    w.tail = descriptor(dims, *operand.layout);
    return w;
  }

  const std::byte* at(const void* data, std::size_t image, std::size_t part) const {
    return static_cast<const std::byte*>(data) + image * imageStride + part * partStride;
  }
};

class Convolution final : public runtime::StepKernel {
 public:
  explicit Convolution(const Attributes& parameters, std::vector<PostOperation> post)
      : post_(std::move(post)) {
    strides_ = *parameters.getInts("strides");
    begin_ = *parameters.getInts("pads_begin");
    end_ = *parameters.getInts("pads_end");
    for (std::int64_t d : *parameters.getInts("dilations")) dilations_.push_back(d - 1);
  }

  Status init(const Attributes& parameters) { return everyShape_.init(parameters); }

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    if (binding.everyShape) return everyShape_.prepare(binding, workspaceBytes);
    const Operand& source = binding.inputs[0];
    const Operand& weights = binding.inputs[1];
    const Operand& out = binding.outputs[0];
    workspaceBytes = 0;
    isOurs_ = false;
    images_ = out.view.count() == 0 ? 0 : source.view.dims[0];
    if (images_ == 0) return Status::ok();
    const bool grouped = weights.view.rank() > source.view.rank();
    const std::int64_t channels = out.view.dims[1];
    const std::int64_t units = weights.view.dims[0];  // groups, or output channels
    const std::int64_t perUnit = channels / units;
    const Cut cut =
        cutOf(images_, out.view.count() / images_ * (weights.view.count() / channels), units, perUnit);
    parts_ = cut.parts;
    const std::int64_t last = units - (parts_ - 1) * cut.width;
    const auto byChannel = [&](const Operand& operand, std::int64_t scale) {
      return Window::of(operand, images_, true, 1, cut.width * scale, last * scale);
    };
    source_ = grouped ? byChannel(source, source.view.dims[1] / units)
                      : Window::of(source, images_, true, -1, 0, 0);
    weights_ = Window::of(weights, images_, false, 0, cut.width, last);
    out_ = byChannel(out, perUnit);
    hasBias_ = binding.inputs.size() > 2 && binding.inputs[2].isGiven();
    if (hasBias_)
      bias_ = Window::of(binding.inputs[2], images_, false, 0, cut.width * perUnit, last * perUnit);
    extra_.clear();
    for (std::size_t i = 3; i < binding.inputs.size(); ++i) {
      const Operand& operand = binding.inputs[i];
      extra_.push_back(operand.view.dims[1] == channels && channels > 1
                           ? byChannel(operand, perUnit)
                           : Window::of(operand, images_, true, -1, 0, 0));
    }
    ROTA_RETURN_IF_ERROR(makeExecutors(binding, last != cut.width, workspaceBytes));
    isOurs_ = std::any_of(slots_.begin(), slots_.end(),
                          [](const Slot& s) { return s.whole.isPlainLoops() || s.tail.isPlainLoops(); });
    return isOurs_ ? everyShape_.prepare(binding, workspaceBytes) : Status::ok();
  }

  Status run(const StepBinding& binding) override {
    if (binding.everyShape || isOurs_) return everyShape_.run(binding);
    const std::int64_t tasks = images_ * parts_;
    const auto slots = static_cast<std::int64_t>(images_ == 0 ? 0 : slots_.size());
    if (slots <= 1) {
      for (std::int64_t t = 0; t < tasks; ++t) ROTA_RETURN_IF_ERROR(runTask(binding, t, 0));
      return Status::ok();
    }
    std::atomic<bool> failed{false};
    binding.threads->parallelFor(slots, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t slot = begin; slot < end; ++slot) {
        for (std::int64_t t = tasks * slot / slots; t < tasks * (slot + 1) / slots; ++t) {
          if (!runTask(binding, t, static_cast<std::size_t>(slot)).isOk()) failed = true;
        }
      }
    });
    return failed ? Status(ErrorCode::kInternal, "oneDNN failed to run a convolution") : Status::ok();
  }

 private:
  /// What a thread works with: arguments hold data pointers, so each has its own.
  struct Slot {
    Executor whole, tail;
  };

  Status makeExecutors(const StepBinding& binding, bool hasTail, std::size_t& workspaceBytes) {
    const std::int64_t tasks = images_ * parts_;
    slots_.clear();
    slots_.resize(static_cast<std::size_t>(std::min<std::int64_t>(tasks, binding.threads->threads())));
    std::size_t scratch = 0;
    for (Slot& slot : slots_) {
      ROTA_RETURN_IF_ERROR(makeExecutor(slot.whole, &Window::whole));
      scratch = std::max(scratch, slot.whole.workspaceBytes());
      if (!hasTail) continue;
      ROTA_RETURN_IF_ERROR(makeExecutor(slot.tail, &Window::tail));
      scratch = std::max(scratch, slot.tail.workspaceBytes());
    }
    hasTail_ = hasTail;
    scratchStride_ = (scratch + 63) / 64 * 64;
    workspaceBytes = scratchStride_ * slots_.size();
    return Status::ok();
  }

  Status makeExecutor(Executor& executor, dnnl::memory::desc Window::* which) {
    const dnnl::memory::desc &source = source_.*which, &weights = weights_.*which, &out = out_.*which;
    std::vector<std::pair<int, dnnl::memory::desc>> fixed = {{DNNL_ARG_SRC, source},
                                                             {DNNL_ARG_WEIGHTS, weights}};
    if (hasBias_) fixed.emplace_back(DNNL_ARG_BIAS, bias_.*which);
    std::vector<dnnl::memory::desc> extra;
    for (const Window& w : extra_) extra.push_back(w.*which);
    const auto maker = [&](const dnnl::primitive_attr& attributes) -> Executor::Made {
      const auto algorithm = dnnl::algorithm::convolution_direct;
      const auto kind = dnnl::prop_kind::forward_inference;
      const dnnl::convolution_forward::desc desc =
          hasBias_ ? dnnl::convolution_forward::desc(kind, algorithm, source, weights, bias_.*which, out,
                                                     strides_, dilations_, begin_, end_)
                   : dnnl::convolution_forward::desc(kind, algorithm, source, weights, out, strides_,
                                                     dilations_, begin_, end_);
      const dnnl::convolution_forward::primitive_desc primitive(desc, attributes, cpuEngine());
      return {primitive, dnnl::convolution_forward(primitive)};
    };
    return executor.prepare(maker, post_, fixed, out, extra);
  }

  /// Task: a part of an image; neighbours share the image.
  Status runTask(const StepBinding& binding, std::int64_t task, std::size_t slot) {
    const auto image = static_cast<std::size_t>(task / parts_),
               part = static_cast<std::size_t>(task % parts_);
    const auto data = [&](std::size_t i) { return binding.inputs[i].view.data; };
    const void* fixed[3] = {source_.at(data(0), image, part), weights_.at(data(1), image, part),
                            hasBias_ ? bias_.at(data(2), image, part) : nullptr};
    const void* extra[kMaxExtra] = {};
    for (std::size_t i = 0; i < extra_.size(); ++i) extra[i] = extra_[i].at(data(3 + i), image, part);
    auto* out = static_cast<std::byte*>(binding.outputs[0].mutableData) + image * out_.imageStride +
                part * out_.partStride;
    auto* workspace = static_cast<std::byte*>(binding.workspace) + slot * scratchStride_;
    Slot& s = slots_[slot];
    Executor& executor = hasTail_ && static_cast<std::int64_t>(part) + 1 == parts_ ? s.tail : s.whole;
    return executor.execute({fixed, hasBias_ ? 3U : 2U}, {extra, extra_.size()}, out, workspace);
  }

  static constexpr std::size_t kMaxExtra = 8;
  runtime::EveryShapeConvolution everyShape_;
  std::vector<PostOperation> post_;
  Dim strides_, dilations_, begin_, end_;
  std::vector<Slot> slots_;
  std::int64_t images_ = 0;
  std::int64_t parts_ = 1;
  bool hasBias_ = false;
  bool hasTail_ = false;
  bool isOurs_ = false;  // the library has only plain loops for these shapes
  Window source_, weights_, out_, bias_;
  std::vector<Window> extra_;
  std::size_t scratchStride_ = 0;
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
  auto kernel = std::make_unique<Convolution>(p, std::move(*post));
  ROTA_RETURN_IF_ERROR(kernel->init(p));
  return std::unique_ptr<runtime::StepKernel>(std::move(kernel));
}

const runtime::RegisterStepKernel kConvolution("onednn.convolution", makeConvolution);

}  // namespace
}  // namespace rota::onednn
