// SPDX-License-Identifier: Apache-2.0
#include "core/cpu_quota.h"

#include <cstdlib>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/file.h"

namespace rota {
namespace {

/// A small tree of files like those of the kernel.
class CpuQuotaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/rota-quota-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { ASSERT_EQ(std::system(("rm -rf '" + root_ + "'").c_str()), 0); }

  void put(const std::string& path, const std::string& content) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      mkdir((root_ + path.substr(0, slash)).c_str(), 0700);
    }
    ASSERT_TRUE(writeFile(root_ + path, content).isOk());
  }
  std::string root_;
};

constexpr const char* kMountV2 =
    "24 18 0:21 / /sys rw - sysfs sysfs rw\n30 24 0:26 / /cg rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";

TEST_F(CpuQuotaTest, Version2TakesTheSmallestLimitOnTheWayUp) {
  put("/proc/self/cgroup", "0::/outer/inner\n");
  put("/proc/self/mountinfo", kMountV2);
  EXPECT_EQ(cpuQuota(root_), std::nullopt);
  put("/cg/outer/inner/cpu.max", "400000 100000\n");
  EXPECT_EQ(cpuQuota(root_), 4.0);
  put("/cg/outer/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpuQuota(root_), 1.5);
  put("/cg/cpu.max", "max 100000\n");
  EXPECT_EQ(cpuQuota(root_), 1.5);
  put("/cg/other/cpu.max", "100 100000\n");
  EXPECT_EQ(cpuQuota(root_), 1.5);
}

TEST_F(CpuQuotaTest, Version2InAContainerSeesItsOwnRoot) {
  put("/proc/self/cgroup", "0::/\n");
  put("/proc/self/mountinfo", kMountV2);
  put("/cg/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpuQuota(root_), 2.0);
}

TEST_F(CpuQuotaTest, Version1WithTheMountRootedAtTheContainersGroup) {
  put("/proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n");
  put("/proc/self/mountinfo",
      "31 24 0:27 /docker/abc /cg/memory ro - cgroup cgroup rw,memory\n"
      "32 24 0:28 /docker/abc /cg/cpu ro - cgroup cgroup rw,cpu,cpuacct\n");
  put("/cg/cpu/cpu.cfs_period_us", "100000\n");
  put("/cg/cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cpuQuota(root_), std::nullopt);
  put("/cg/cpu/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(cpuQuota(root_), 0.5);
}

TEST_F(CpuQuotaTest, DamagedOrMissingFilesMeanNoQuota) {
  EXPECT_EQ(cpuQuota(root_), std::nullopt);
  put("/proc/self/cgroup", "garbage\n::\n0::/../../x\n");
  put("/proc/self/mountinfo", std::string("x - y\n") + kMountV2);
  put("/cg/cpu.max", "12 monkeys\n");
  EXPECT_EQ(cpuQuota(root_), std::nullopt);
  put("/cg/cpu.max", "300000 100000\n");
  EXPECT_EQ(cpuQuota(root_), 3.0);
}

TEST(CpuSet, FollowsTheAffinityOfTheThread) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(cpuSetSize(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &before)) {
      CPU_SET(i, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(cpuSetSize(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace rota
