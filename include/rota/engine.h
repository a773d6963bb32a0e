// SPDX-License-Identifier: Apache-2.0
// Loading and running engines. This header and librota_runtime are all that a deployed program needs.
//
//   auto engine = rota::Engine::load("model.rota");
//   auto context = (*engine)->createContext();
//   (*context)->setInput("image", view);
//   (*context)->run();
//   rota::TensorView y = (*context)->output("logits").value();
//
// An Engine is immutable and thread-safe; contexts share it. A Context holds one request's memory and is used by one thread at a time.
// Running an engine is trusting its code; loading and inspecting are safe on any bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rota/status.h>
#include <rota/tensor_view.h>

namespace rota {

class Context;

/// What the engine says about one input or output. A dim is the number, or -1 where it depends on the request.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kUndefined;
  std::vector<std::int64_t> dims;
  bool rankKnown = true;
  bool isSequence = false;  ///< Elements have this dtype; see setInputSequence and outputSequence.
  bool isOptional = false;
  std::vector<std::string> dimNames;  ///< Symbol or expression for each dim, "" for numbers.
  std::vector<std::int64_t> minDims, optDims, maxDims;  ///< From the first profile; empty without one.
};

struct LoadOptions {
  bool verifyWeights =
      false;  ///< Hash every weight chunk (`--verify full`); header, plan and code are always verified.
  /// False: only reference kernels and the precompiled kernels of librota_runtime run; an engine that needs more (a library that may
  /// generate code, or code of its own) is refused.
  bool nativeCode = true;
  /// For engines built with `--weights external` or `stripped`: a weights file, an engine with the same weights, or the folder of the
  /// model's data files. Empty: where the engine says.
  std::string weightsFrom{};
};

class Engine {
 public:
  static Result<std::shared_ptr<Engine>> load(const std::string& path, const LoadOptions& options = {});
  virtual ~Engine() = default;

  virtual const std::vector<TensorInfo>& inputs() const = 0;
  virtual const std::vector<TensorInfo>& outputs() const = 0;
  /// The JSON manifest of the file.
  virtual std::string_view manifest() const = 0;
  /// `threads` 0: what CPU set and quota of the process give. Contexts of one engine share one pool.
  virtual Result<std::unique_ptr<Context>> createContext(int threads = 0) = 0;
  virtual std::size_t weightsBytes() const = 0;
  /// Names of the optimization profiles, in the order of the build; empty for an engine of fixed or unbounded dims.
  virtual std::vector<std::string> profileNames() const = 0;
};

/// Time and identity of one executed step, for profiles.
struct StepTime {
  std::string sources;  ///< "conv1 (Conv), relu1 (Relu)".
  std::string tactic;
  double us = 0;
};

class Context {
 public:
  virtual ~Context() = default;

  /// Binds an input to caller memory, which must stay valid until run returns. Dims are checked at prepare or run.
  virtual Status setInput(std::string_view name, const TensorView& value) = 0;
  /// Binds a sequence input, or an optional one (no element = none); the elements are copied.
  virtual Status setInputSequence(std::string_view name, std::span<const TensorView> elements) = 0;
  /// Optional: the output is written to caller memory of `capacityBytes`; otherwise the context owns it until its next run.
  virtual Status setOutputBuffer(std::string_view name, void* data, std::size_t capacityBytes) = 0;
  /// Shapes must lie in this profile from now on. "": in any; of several that fit, the one with the smallest maximum is taken.
  virtual Status useProfile(std::string_view name) = 0;
  /// Makes the fastest kernels ready for the dims of the bound inputs: plans memory, creates primitives. May allocate.
  virtual Status prepare() = 0;
  /// Runs. For prepared shapes, and for all shapes inside a profile, it allocates nothing and makes nothing ready, except for sizes without a bound.
  virtual Status run() = 0;
  /// The result of the last run with its true dims.
  virtual Result<TensorView> output(std::string_view name) const = 0;
  /// Sequences and optionals: their elements.
  virtual Result<std::vector<TensorView>> outputSequence(std::string_view name) const = 0;
  /// Bytes of the arena and growing buffers.
  virtual std::size_t activationBytes() const = 0;
  /// Runs so far that had to make something ready first, or to reserve memory for their shape: 0 for shapes that were prepared or lie in a profile.
  virtual std::uint64_t implicitPrepares() const = 0;
  /// The next runs record the time of each step.
  virtual void setProfiling(bool on) = 0;
  virtual std::vector<StepTime> profile() const = 0;
};

}  // namespace rota
