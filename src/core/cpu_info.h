// SPDX-License-Identifier: Apache-2.0
// What the processor of this machine is and can do: instruction sets (only those that the operating system has enabled), name, caches,
// cores. Found once per process, then immutable. On processors other than x86-64 all features are off.
// Tested by src/core/cpu_info_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rota {

/// The micro-architecture levels of the x86-64 psABI; kNone on other processors.
enum class IsaLevel : std::uint8_t { kNone, kX86V1, kX86V2, kX86V3, kX86V4 };

struct CpuFeatures {
  bool sse42 = false;
  bool avx = false;
  bool avx2 = false;
  bool fma = false;
  bool f16c = false;
  bool avx512 = false;   ///< F, BW, CD, DQ and VL together, which is what level v4 asks for.
  bool avxVnni = false;  ///< Int8 dot products on 256-bit registers.
  bool avx512Vnni = false;
  bool avx512Bf16 = false;
  bool avx512Fp16 = false;
  bool amxTile = false;  ///< The processor has AMX; using it also takes a permission of the kernel.
  bool amxInt8 = false;
  bool amxBf16 = false;
};

struct CpuInfo {
  IsaLevel level = IsaLevel::kNone;
  CpuFeatures features;
  std::string vendor;  ///< "GenuineIntel", "AuthenticAMD"; empty when unknown.
  std::string model;   ///< As the processor names itself; empty when unknown.
  int logicalCores =
      1;  ///< Online hardware threads of the machine, not of this process (see ThreadPool::defaultThreads).
  int physicalCores = 1;
  std::size_t l1dBytes = 0;  ///< Per core; 0 when unknown, also below.
  std::size_t l2Bytes = 0;
  std::size_t l3Bytes = 0;  ///< Of one cache, shared by several cores.
  std::size_t cacheLineBytes = 64;
};

/// The machine's processor; found at the first call.
const CpuInfo& cpuInfo();

/// Only the features, without touching the file system.
const CpuFeatures& cpuFeatures();

/// "x86-64-v3"; "generic" for kNone.
std::string_view isaLevelName(IsaLevel level);
/// The level with this name, or kNone.
IsaLevel isaLevelFromName(std::string_view name);

}  // namespace rota
