// SPDX-License-Identifier: Apache-2.0
// Instruction sets come from cpuid and xgetbv (Intel SDM volume 2, CPUID and XGETBV; AMD APM volume 3, appendix E): a vector
// extension counts only when the operating system saves its registers. Cores and caches come from sysfs, which also
// knows about hybrid and virtual machines; where it is missing the counts fall back to the online processors.
// Tested by src/core/cpu_info_test.cpp.
#include "core/cpu_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
#include <unistd.h>

#include "core/file.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rota {
namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"generic", "x86-64", "x86-64-v2", "x86-64-v3",
                                                         "x86-64-v4"};

#if defined(__x86_64__)

struct CpuidRegisters {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

CpuidRegisters cpuid(unsigned leaf, unsigned subleaf = 0) {
  CpuidRegisters r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

constexpr bool bit(unsigned value, int index) { return ((value >> index) & 1U) != 0; }

/// The register sets that the operating system saves (XCR0).
std::uint64_t enabledState() {
  if (!bit(cpuid(1).ecx, 27)) return 0;  // OSXSAVE
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

CpuFeatures detectFeatures() {
  const CpuidRegisters one = cpuid(1), seven = cpuid(7), sevenOne = cpuid(7, 1);
  const std::uint64_t state = enabledState();
  const bool ymm = (state & 0x6) == 0x6;
  const bool zmm = (state & 0xe6) == 0xe6;
  const bool tiles = (state & 0x60000) == 0x60000;
  CpuFeatures f;
  f.sse42 = bit(one.ecx, 20);
  f.avx = ymm && bit(one.ecx, 28);
  f.fma = ymm && bit(one.ecx, 12);
  f.f16c = ymm && bit(one.ecx, 29);
  f.avx2 = f.avx && bit(seven.ebx, 5);
  f.avx512 = zmm && bit(seven.ebx, 16) && bit(seven.ebx, 17) && bit(seven.ebx, 28) && bit(seven.ebx, 30) &&
             bit(seven.ebx, 31);
  f.avx512Vnni = f.avx512 && bit(seven.ecx, 11);
  f.avx512Fp16 = f.avx512 && bit(seven.edx, 23);
  f.avx512Bf16 = f.avx512 && bit(sevenOne.eax, 5);
  f.avxVnni = f.avx2 && bit(sevenOne.eax, 4);
  f.amxTile = tiles && bit(seven.edx, 24);
  f.amxInt8 = f.amxTile && bit(seven.edx, 25);
  f.amxBf16 = f.amxTile && bit(seven.edx, 22);
  return f;
}

IsaLevel detectLevel(const CpuFeatures& f) {
  const CpuidRegisters one = cpuid(1), seven = cpuid(7), extended = cpuid(0x80000001);
  const bool v2 = f.sse42 && bit(one.ecx, 0) && bit(one.ecx, 9) && bit(one.ecx, 13) && bit(one.ecx, 19) &&
                  bit(one.ecx, 23) && bit(extended.ecx, 0);  // SSE3, SSSE3, CMPXCHG16B, SSE4.1, POPCNT, LAHF
  if (!v2) return IsaLevel::kX86V1;
  const bool v3 = f.avx2 && f.fma && f.f16c && bit(seven.ebx, 3) && bit(seven.ebx, 8) && bit(one.ecx, 22) &&
                  bit(extended.ecx, 5);  // BMI1, BMI2, MOVBE, LZCNT
  if (!v3) return IsaLevel::kX86V2;
  return f.avx512 ? IsaLevel::kX86V4 : IsaLevel::kX86V3;
}

std::string detectVendor() {
  const CpuidRegisters zero = cpuid(0);
  char text[12];
  std::memcpy(text, &zero.ebx, 4);
  std::memcpy(text + 4, &zero.edx, 4);
  std::memcpy(text + 8, &zero.ecx, 4);
  return {text, sizeof(text)};
}

std::string detectModel() {
  if (cpuid(0x80000000).eax < 0x80000004) return {};
  char text[48];
  for (unsigned i = 0; i < 3; ++i) {
    const CpuidRegisters part = cpuid(0x80000002 + i);
    std::memcpy(text + 16 * i, &part, 16);
  }
  const std::string_view name(text, strnlen(text, sizeof(text)));
  const std::size_t first = name.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(name.substr(first, name.find_last_not_of(' ') - first + 1));
}

#else

CpuFeatures detectFeatures() { return {}; }
IsaLevel detectLevel(const CpuFeatures&) { return IsaLevel::kNone; }
std::string detectVendor() { return {}; }
std::string detectModel() { return {}; }

#endif

/// A line of sysfs without its end, or nothing.
std::optional<std::string> sysfsLine(const std::string& path) {
  auto text = readTextFile("/sys/devices/system/cpu/" + path, 4096);
  if (!text) return std::nullopt;
  return text->substr(0, text->find('\n'));
}

/// "48K", "2M" or "64" as a number of bytes; 0 when it is not one.
std::size_t parseBytes(const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  return unit == "K" ? value << 10 : unit == "M" ? value << 20 : unit.empty() ? value : 0;
}

void detectCaches(CpuInfo& cpu) {
  for (int index = 0; index < 16; ++index) {
    const std::string folder = "cpu0/cache/index" + std::to_string(index) + "/";
    const auto level = sysfsLine(folder + "level");
    if (!level) break;
    if (sysfsLine(folder + "type") == "Instruction") continue;
    const std::size_t bytes = parseBytes(sysfsLine(folder + "size").value_or(""));
    if (*level == "1") {
      cpu.l1dBytes = bytes;
      const std::size_t line = parseBytes(sysfsLine(folder + "coherency_line_size").value_or(""));
      if (line != 0) cpu.cacheLineBytes = line;
    } else if (*level == "2") {
      cpu.l2Bytes = bytes;
    } else if (*level == "3") {
      cpu.l3Bytes = bytes;
    }
  }
}

void detectCores(CpuInfo& cpu) {
  cpu.logicalCores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const long configured = std::max(1L, sysconf(_SC_NPROCESSORS_CONF));
  std::set<std::string> cores;  // each core once, by the list of its hardware threads
  for (long i = 0; i < configured; ++i) {
    if (auto siblings = sysfsLine("cpu" + std::to_string(i) + "/topology/thread_siblings_list"))
      cores.insert(std::move(*siblings));
  }
  cpu.physicalCores =
      cores.empty() ? cpu.logicalCores : std::min(static_cast<int>(cores.size()), cpu.logicalCores);
}

CpuInfo detect() {
  CpuInfo cpu;
  cpu.features = cpuFeatures();
  cpu.level = detectLevel(cpu.features);
  cpu.vendor = detectVendor();
  cpu.model = detectModel();
  detectCaches(cpu);
  detectCores(cpu);
  return cpu;
}

}  // namespace

const CpuFeatures& cpuFeatures() {
  static const CpuFeatures features = detectFeatures();
  return features;
}

const CpuInfo& cpuInfo() {
  static const CpuInfo cpu = detect();
  return cpu;
}

std::string_view isaLevelName(IsaLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

IsaLevel isaLevelFromName(std::string_view name) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == name) return static_cast<IsaLevel>(i);
  }
  return IsaLevel::kNone;
}

}  // namespace rota
