// SPDX-License-Identifier: Apache-2.0
// The names of kernels in a program: whether each exists here, and whether a program needs more than what Rota itself carries.
// Tested by src/runtime/program_test.cpp and src/engine/writer_test.cpp.
#pragma once

#include "ref/kernel.h"
#include "runtime/program.h"

namespace rota::runtime {

/// The kernel of a step "ref:Conv" or "ref:com.microsoft:Gelu", or nullptr.
ref::Kernel referenceKernelOf(const Step& step);

/// Every step's kernel exists; the modules that steps name must be open. The error names the step.
Status checkKernels(const Program& program);

/// The program runs on reference kernels and on the precompiled kernels of librota_runtime alone (decision N14): no step names a library, which
/// may generate code while it runs, or carries bytes for one. The error names the first step that does.
Status checkGeneric(const Program& program);

}  // namespace rota::runtime
