// SPDX-License-Identifier: Apache-2.0
// Kernels that steps name. A kernel object belongs to one step of one context.
//
// `prepare` is called when shapes are bound: it may create primitives and report the workspace it wants. `run` may not allocate, compile or
// lock; it takes all pointers from the binding, since they may differ from run to run. Where dims are found while running, `prepare` is called
// again for new dims before `run`. Errors carry no node name: the runtime adds the step's sources. Tested by src/runtime/step_kernel_test.cpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/thread_pool.h"
#include "runtime/program.h"

namespace rota::runtime {

/// A bound operand: dims are logical, `layout` says how they lie.
struct Operand {
  TensorView view;  ///< For outputs the data is written through `mutableData`.
  void* mutableData = nullptr;
  const Layout* layout = nullptr;
  bool isConstant = false;
  bool isGiven() const { return view.isGiven(); }
};

/// Gives memory to outputs whose dims the kernel finds (decision N4).
class OutputSizer {
 public:
  virtual ~OutputSizer() = default;
  /// Fixes the dims of output `index` and returns its memory.
  virtual Result<void*> sizeOutput(std::size_t index, Dims dims) = 0;
};

struct StepBinding {
  std::span<const Operand> inputs;
  std::span<const Operand> outputs;
  void* workspace = nullptr;  ///< As many bytes as prepare asked for; 64-byte aligned.
  ThreadPool* threads = nullptr;
  std::span<const std::int64_t>
      sizes;  ///< Values of the program's size entries under the bound shapes; parameters name entries by index.
  OutputSizer* sizer = nullptr;  ///< Only while running; for outputs that have no dims in the binding.
  /// Dims may differ from run to run without anybody preparing them (N18): `prepare` is called before such a run and must be quick, create no
  /// primitives, and allocate nothing once it has seen the largest dims.
  bool everyShape = false;
};

class StepKernel {
 public:
  virtual ~StepKernel() = default;
  /// Dims of operands are valid, data pointers only of constants.
  virtual Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) = 0;
  virtual Status run(const StepBinding& binding) = 0;
};

struct StepKernelSpec {
  const Step& step;
  const Program& program;
};
using StepKernelFactory = Result<std::unique_ptr<StepKernel>> (*)(const StepKernelSpec& spec);

/// At namespace scope beside the kernel: `const RegisterStepKernel kPointwise("cpu.pointwise", makePointwise);`
/// Modules (oneDNN) register when they are opened.
class RegisterStepKernel {
 public:
  RegisterStepKernel(const char* name, StepKernelFactory factory);
};
StepKernelFactory findStepKernel(std::string_view name);

/// At namespace scope of a module: the version of the library it stands on ("3.0.0"); engines are refused where it does not fit.
class RegisterKernelModule {
 public:
  RegisterKernelModule(const char* library, const char* version);
};
/// The version that an open module has registered, or "".
std::string kernelModuleVersion(std::string_view library);

/// Opens `librota_<library>.so` beside the runtime library, once; kLibraryMissing with the searched names.
Status loadKernelModule(std::string_view library);

}  // namespace rota::runtime
