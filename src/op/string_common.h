// SPDX-License-Identifier: Apache-2.0
// Operators of strings are known by name, so that the refusal can say why. Tested by src/op/sequence_test.cpp.
#pragma once

#include "op/common.h"

namespace rota::op {

/// The error that strings are not computed with.
Status inferRefusedStrings(InferContext& ctx);

}  // namespace rota::op
