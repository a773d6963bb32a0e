// SPDX-License-Identifier: Apache-2.0
// The registry of reference kernels.
#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

#include "ref/kernel.h"

namespace rota::ref {
namespace {

Status nothing(KernelContext&) { return Status::ok(); }
const RegisterKernel kRegisterNothing("rota.test", "Nothing", nothing);

TEST(KernelRegistry, FindsByDomainAndName) {
  EXPECT_EQ(findKernel("rota.test", "Nothing"), &nothing);
  EXPECT_EQ(findKernel("", "Nothing"), nullptr);
  EXPECT_NE(findKernel("", "Add"), nullptr);
  EXPECT_EQ(findKernel("ai.onnx", "Add"), findKernel("", "Add"));
  EXPECT_EQ(findKernel("rota.test", "Add"), nullptr);
}

TEST(KernelRegistry, ListsSorted) {
  const auto kernels = registeredKernels();
  EXPECT_GT(kernels.size(), 1U);
  EXPECT_TRUE(std::is_sorted(kernels.begin(), kernels.end(), [](const KernelName& a, const KernelName& b) {
    return std::tie(a.domain, a.name) < std::tie(b.domain, b.name);
  }));
}

TEST(KernelRegistryDeathTest, ARegisteredNameIsTaken) {
  EXPECT_DEATH(RegisterKernel("rota.test", "Nothing", nothing), "isNew");
}

}  // namespace
}  // namespace rota::ref
