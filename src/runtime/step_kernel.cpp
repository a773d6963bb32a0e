// SPDX-License-Identifier: Apache-2.0
// The registry of step kernels and the opening of kernel modules.
//
// Modules lie beside the library that holds this code, wherever it has been installed; they register their kernels when they are opened and
// stay open until the process ends. Tested by src/runtime/step_kernel_test.cpp.
#include "runtime/step_kernel.h"

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>

namespace rota::runtime {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, StepKernelFactory, std::less<>> kernels;
  std::map<std::string, std::string, std::less<>> moduleVersions;
  std::map<std::string, void*, std::less<>> openModules;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

bool isModuleName(std::string_view library) {
  if (library.empty() || library.size() > 32) return false;
  for (char c : library)
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_') return false;
  return true;
}

/// The folder of the library (or program) that this code is in, with a trailing slash.
std::string ownFolder() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<const void*>(&ownFolder), &where) == 0 || where.dli_fname == nullptr)
    return "./";
  const std::string path = where.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

}  // namespace

RegisterStepKernel::RegisterStepKernel(const char* name, StepKernelFactory factory) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.kernels[name] = factory;
}

RegisterKernelModule::RegisterKernelModule(const char* library, const char* version) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.moduleVersions[library] = version;
}

StepKernelFactory findStepKernel(std::string_view name) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto it = r.kernels.find(name);
  return it == r.kernels.end() ? nullptr : it->second;
}

std::string kernelModuleVersion(std::string_view library) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto it = r.moduleVersions.find(library);
  return it == r.moduleVersions.end() ? std::string() : it->second;
}

Status loadKernelModule(std::string_view library) {
  static std::mutex loading;  // dlopen runs constructors that take the registry's own lock
  const std::lock_guard lock(loading);
  Registry& r = registry();
  if (!isModuleName(library))
    return Status(ErrorCode::kLibraryMissing, "The plan names a kernel library that cannot exist")
        .found("'" + std::string(library) + "'")
        .fix("build the engine again with this version of Rota");
  if (r.openModules.contains(library)) return Status::ok();

  const std::string path = ownFolder() + "librota_" + std::string(library) + ".so";
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return Status(ErrorCode::kLibraryMissing,
                  "The kernel library '" + std::string(library) + "' that the plan needs cannot be opened")
        .expected(path)
        .found(reason != nullptr ? reason : "no reason given")
        .fix("install this library beside librota_runtime, or build the engine for the generic target");
  }
  r.openModules.emplace(library, handle);
  return Status::ok();
}

}  // namespace rota::runtime
