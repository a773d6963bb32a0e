// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_names.h"

#include "core/check.h"
#include "runtime/step_kernel.h"

namespace rota::runtime {

namespace {

bool isBuiltIn(const Step& step) {
  return step.kernel == "flow.if" || step.kernel == "flow.loop" || step.kernel == "flow.scan" ||
         step.kernel == "host.read_sizes";
}

std::string placeOf(const Program& program, const Step& step) {
  const std::string sources = describeSources(program, step.sources);
  return sources.empty() ? "a step of kernel '" + step.kernel + "'" : sources;
}

}  // namespace

ref::Kernel referenceKernelOf(const Step& step) {
  std::string_view name = step.kernel;
  if (!name.starts_with("ref:")) return nullptr;
  name.remove_prefix(4);
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return ref::findKernel({}, name);
  return ref::findKernel(name.substr(0, colon), name.substr(colon + 1));
}

Status checkKernels(const Program& program) {
  for (const Block& block : program.blocks)
    for (const Step& step : block.steps) {
      if (isBuiltIn(step)) continue;
      const bool isReference = step.kernel.starts_with("ref:");
      if (isReference ? referenceKernelOf(step) != nullptr : findStepKernel(step.kernel) != nullptr) continue;
      return Status(isReference ? ErrorCode::kUnsupportedOperator : ErrorCode::kLibraryMissing,
                    "This runtime has no kernel '" + step.kernel + "'")
          .at(placeOf(program, step))
          .fix("run the engine with the version of Rota that built it, or build it again");
    }
  return Status::ok();
}

Status checkGeneric(const Program& program) {
  for (const Block& block : program.blocks)
    for (const Step& step : block.steps) {
      if (step.library.empty() && step.opaque.empty()) continue;
      return Status(ErrorCode::kEngineTarget,
                    "This engine has no program for the generic target, and native code is not allowed")
          .at(placeOf(program, step))
          .expected("reference kernels and the precompiled kernels of Rota")
          .found("kernel '" + step.kernel + "'" +
                 (step.library.empty() ? " with bytes of its own" : " of the library '" + step.library + "'"))
          .fix(
              "build the engine with --no-native-code, or allow native code if you trust where the engine "
              "comes from");
    }
  return Status::ok();
}

}  // namespace rota::runtime
