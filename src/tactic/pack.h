// SPDX-License-Identifier: Apache-2.0
// Lays out a constant at build time: plain row-major to any Layout, padding with zeros. Tested by src/tactic/pack_test.cpp.
#pragma once

#include "core/tensor.h"
#include "runtime/program.h"

namespace rota::tactic {

/// `plain` in `layout`; the dims stay the logical ones, the bytes grow by the padding. Elements of 1, 2, 4 or 8 bytes.
Result<Tensor> packTensor(const Tensor& plain, const runtime::Layout& layout);

/// "packed [1x8, 0x8]" for recipes.
std::string describeLayout(const runtime::Layout& layout);

}  // namespace rota::tactic
