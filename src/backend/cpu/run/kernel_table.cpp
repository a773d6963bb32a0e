// SPDX-License-Identifier: Apache-2.0
// Chooses the variant of the vector kernels, once for each process. Tested by src/backend/cpu/run/simd_test.cpp.
#include "backend/cpu/run/kernel_table.h"

#include <array>

#include "core/cpu_info.h"

namespace rota::simd {

#if defined(__x86_64__)
namespace v1 {
const Kernels& table();
}
namespace v2 {
const Kernels& table();
}
namespace v3 {
const Kernels& table();
}
namespace v4 {
const Kernels& table();
}
#else
namespace generic {
const Kernels& table();
}
#endif

namespace {

struct Usable {
  std::array<const Kernels*, 4> all{};
  std::size_t count = 0;
};

Usable findUsable() {
  Usable usable;
  const auto add = [&](const Kernels& table) { usable.all[usable.count++] = &table; };
#if defined(__x86_64__)
  const IsaLevel level = cpuInfo().level;
  add(v1::table());
  if (level >= IsaLevel::kX86V2) add(v2::table());
  if (level >= IsaLevel::kX86V3) add(v3::table());
  if (level >= IsaLevel::kX86V4) add(v4::table());
#else
  add(generic::table());
#endif
  return usable;
}

const Usable& usable() {
  static const Usable found = findUsable();
  return found;
}

}  // namespace

const Kernels& kernels() { return *usable().all[usable().count - 1]; }
std::span<const Kernels* const> usableKernels() { return {usable().all.data(), usable().count}; }

}  // namespace rota::simd
