// SPDX-License-Identifier: Apache-2.0
// Complex numbers for kernels that are linear in their first input (Resize, GridSample, Col2Im): the kernel runs once on the real and once on the
// imaginary parts, as float64 in scratch memory, so that it need not know complex types. Tested by src/ref/complex_parts_test.cpp.
#pragma once

#include "ref/kernel.h"

namespace rota::ref {

/// Runs `kernel` on the parts of input 0, which is complex; all other inputs are as they are, and output 0 gets the two results.
Status runOnComplexParts(KernelContext& context, Kernel kernel);

}  // namespace rota::ref
