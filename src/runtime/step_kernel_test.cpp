// SPDX-License-Identifier: Apache-2.0
#include "runtime/step_kernel.h"

#include <gtest/gtest.h>

namespace rota::runtime {
namespace {

Result<std::unique_ptr<StepKernel>> none(const StepKernelSpec&) {
  return Status(ErrorCode::kInternal, "never made");
}
const RegisterStepKernel kNever("test.never", none);
const RegisterKernelModule kModule("test_module", "1.2.3");

TEST(StepKernels, AreFoundByName) {
  EXPECT_EQ(findStepKernel("test.never"), &none);
  EXPECT_EQ(findStepKernel("test.nev"), nullptr);
  EXPECT_EQ(kernelModuleVersion("test_module"), "1.2.3");
  EXPECT_EQ(kernelModuleVersion("other"), "");
}

TEST(KernelModules, NamesCannotLeaveTheFolder) {
  for (const char* name : {"", "../evil", "a/b", "A", "x.so", "a b"}) {
    const Status status = loadKernelModule(name);
    EXPECT_EQ(status.code(), ErrorCode::kLibraryMissing) << name;
    EXPECT_NE(status.detail().message.find("cannot exist"), std::string::npos) << name;
  }
}

TEST(KernelModules, MissingOnesSayWhereTheyWereLookedFor) {
  const Status status = loadKernelModule("nowhere");
  EXPECT_EQ(status.code(), ErrorCode::kLibraryMissing);
  EXPECT_NE(status.detail().expected.find("/librota_nowhere.so"), std::string::npos);
  EXPECT_FALSE(status.detail().fix.empty());
}

}  // namespace
}  // namespace rota::runtime
