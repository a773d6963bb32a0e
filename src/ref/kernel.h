// SPDX-License-Identifier: Apache-2.0
// Reference kernels (decision N19): the plain, spec-true CPU evaluation of each operator.
//
// A kernel is a function of a KernelContext. It reads dense row-major inputs, computes in int64, uint64, double or complex, and
// stores through the dtype table. Sizes come from shape inference: `output(i)` is ready to be written. A kernel whose sizes depend
// on data asks for its output with `output(i, dims)`; when the shape was known before, the dims must agree.
// Kernels do not use the heap: scratch memory comes from the context and is given back when the kernel returns. They never read
// outside their inputs; a bad index is an error that names the node. Long loops go through `threads().parallelFor`.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/attributes.h"
#include "core/thread_pool.h"

namespace rota::ref {

/// A sequence, or with `isOptional` an optional: no elements, the one tensor that it holds, or the elements of the sequence that it holds.
struct Sequence {
  DType dtype = DType::kUndefined;
  bool isOptional = false;
  bool holdsEmptySequence = false;  ///< An optional that is given, namely a sequence without elements.
  std::vector<Tensor> elements;
};

/// What a kernel runs in: the evaluator of graphs, or the runtime.
class KernelHost {
 public:
  virtual ~KernelHost() = default;
  /// Memory for output `index`, whose dims the kernel has found.
  virtual Result<MutableTensorView> allocateOutput(std::size_t index, Dims dims) = 0;
  /// 64-byte aligned memory that lives until the kernel returns; contents undefined.
  virtual Result<void*> scratch(std::size_t bytes) = 0;
  virtual ThreadPool& threads() = 0;
  virtual const Sequence* inputSequence(std::size_t index) = 0;
  virtual Sequence* outputSequence(std::size_t index) = 0;
};

class KernelContext {
 public:
  KernelContext(KernelHost& host, const Attributes& attributes, int version,
                std::span<const TensorView> inputs, std::span<const MutableTensorView> outputs)
      : host_(host),
        attributes_(attributes),
        version_(version),
        inputs_(inputs),
        outputs_(outputs) {}

  /// Operator set version at which the node's definition was taken.
  int version() const { return version_; }
  const Attributes& attributes() const { return attributes_; }

  std::size_t inputCount() const { return inputs_.size(); }
  bool hasInput(std::size_t i) const { return i < inputs_.size() && inputs_[i].isGiven(); }
  /// The input, or a view that is not given.
  TensorView input(std::size_t i) const { return i < inputs_.size() ? inputs_[i] : TensorView{}; }
  std::size_t outputCount() const { return outputs_.size(); }
  /// False for outputs that nobody asked for. An output whose shape is found by the kernel has its dtype, but no dims and no data yet.
  bool hasOutput(std::size_t i) const { return i < outputs_.size() && outputs_[i].isGiven(); }
  /// An output whose shape is known.
  MutableTensorView output(std::size_t i) const { return outputs_[i]; }
  /// An output of these dims: found by the kernel, or checked against the known shape.
  Result<MutableTensorView> output(std::size_t i, Dims dims) { return host_.allocateOutput(i, dims); }

  const Sequence* inputSequence(std::size_t i) const { return host_.inputSequence(i); }
  Sequence* outputSequence(std::size_t i) const { return host_.outputSequence(i); }

  template <typename T> Result<T*> scratch(std::int64_t count) {
    auto memory = host_.scratch(static_cast<std::size_t>(count) * sizeof(T));
    if (!memory) return memory.status();
    return static_cast<T*>(*memory);
  }
  ThreadPool& threads() const { return host_.threads(); }

 private:
  KernelHost& host_;
  const Attributes& attributes_;
  int version_;
  std::span<const TensorView> inputs_;
  std::span<const MutableTensorView> outputs_;
};

using Kernel = Status (*)(KernelContext&);

/// Registers a kernel for an operator; define one at namespace scope beside the kernel:
/// `const RegisterKernel kRelu("", "Relu", relu);`
class RegisterKernel {
 public:
  RegisterKernel(const char* domain, const char* name, Kernel kernel);
};

/// The kernel of (domain, name), or nullptr. The default domain is "".
Kernel findKernel(std::string_view domain, std::string_view name);

struct KernelName {
  std::string_view domain;
  std::string_view name;
};
/// All registered kernels, sorted.
std::vector<KernelName> registeredKernels();

}  // namespace rota::ref
