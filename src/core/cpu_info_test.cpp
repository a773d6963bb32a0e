// SPDX-License-Identifier: Apache-2.0
#include "core/cpu_info.h"

#include <sstream>

#include <gtest/gtest.h>

#include "core/file.h"

namespace rota {
namespace {

TEST(CpuInfo, LevelAndFeaturesAgree) {
  const CpuInfo& cpu = cpuInfo();
  if (cpu.level >= IsaLevel::kX86V2) {
    EXPECT_TRUE(cpu.features.sse42);
  }
  if (cpu.level >= IsaLevel::kX86V3) {
    EXPECT_TRUE(cpu.features.avx2 && cpu.features.fma && cpu.features.f16c);
  }
  EXPECT_EQ(cpu.level == IsaLevel::kX86V4, cpu.features.avx512 && cpu.level >= IsaLevel::kX86V3);
  if (cpu.features.avx512Vnni) {
    EXPECT_TRUE(cpu.features.avx512);
  }
  EXPECT_GE(cpu.logicalCores, cpu.physicalCores);
  EXPECT_GE(cpu.physicalCores, 1);
  EXPECT_GE(cpu.cacheLineBytes, 16u);
}

#if defined(__x86_64__)

/// The flags that the kernel found by its own means.
std::string kernelFlags() {
  auto text = readTextFile("/proc/cpuinfo", std::size_t{16} << 20);
  if (!text) return {};
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("flags", 0) == 0) return line + " ";
  }
  return {};
}

TEST(CpuInfo, AgreesWithTheKernel) {
  const std::string flags = kernelFlags();
  if (flags.empty()) GTEST_SKIP() << "no /proc/cpuinfo";
  const auto has = [&flags](const char* flag) {
    return flags.find(std::string(" ") + flag + " ") != std::string::npos;
  };
  const CpuFeatures& f = cpuFeatures();
  EXPECT_EQ(f.sse42, has("sse4_2"));
  EXPECT_EQ(f.avx2, has("avx2"));
  EXPECT_EQ(f.fma, has("fma"));
  EXPECT_EQ(f.f16c, has("f16c"));
  EXPECT_EQ(f.avx512,
            has("avx512f") && has("avx512bw") && has("avx512cd") && has("avx512dq") && has("avx512vl"));
  EXPECT_EQ(f.avx512Vnni, has("avx512_vnni"));
  EXPECT_EQ(f.avxVnni, has("avx_vnni"));
  EXPECT_GE(cpuInfo().level, IsaLevel::kX86V1);
  EXPECT_FALSE(cpuInfo().model.empty());
}

#endif

TEST(CpuInfo, LevelNamesParseBack) {
  for (const IsaLevel level : {IsaLevel::kX86V1, IsaLevel::kX86V2, IsaLevel::kX86V3, IsaLevel::kX86V4}) {
    EXPECT_EQ(isaLevelFromName(isaLevelName(level)), level);
  }
  EXPECT_EQ(isaLevelName(IsaLevel::kX86V3), "x86-64-v3");
  EXPECT_EQ(isaLevelFromName("x86-64-v9"), IsaLevel::kNone);
}

}  // namespace
}  // namespace rota
