// SPDX-License-Identifier: Apache-2.0
// The registry of reference kernels: filled by static initialisers in any order (hence a function-local static), sorted
// by (domain, name), unchanged after start-up, so that lookups need no lock. Tested by src/ref/registry_test.cpp.
#include <map>
#include <utility>

#include "core/check.h"
#include "ref/kernel.h"

namespace rota::ref {
namespace {

using KernelKey = std::pair<std::string_view, std::string_view>;

std::map<KernelKey, Kernel>& kernelTable() {
  static std::map<KernelKey, Kernel> table;
  return table;
}

}  // namespace

RegisterKernel::RegisterKernel(const char* domain, const char* name, Kernel kernel) {
  const bool isNew = kernelTable().emplace(KernelKey(domain, name), kernel).second;
  CHECK(isNew);
}

Kernel findKernel(std::string_view domain, std::string_view name) {
  if (domain == "ai.onnx") domain = {};
  const auto found = kernelTable().find(KernelKey(domain, name));
  return found == kernelTable().end() ? nullptr : found->second;
}

std::vector<KernelName> registeredKernels() {
  std::vector<KernelName> result;
  for (const auto& [key, kernel] : kernelTable()) result.push_back({key.first, key.second});
  return result;
}

}  // namespace rota::ref
