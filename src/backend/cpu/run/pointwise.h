// SPDX-License-Identifier: Apache-2.0
// Limits of "cpu.pointwise" programs, which the tactic keeps. Tested by src/backend/cpu/compile/pointwise_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rota::runtime {

/// Elements that an operation works on at once.
inline constexpr std::int64_t kPointwiseBlock = 512;
/// Registers, inputs, constants and outputs together.
inline constexpr std::size_t kMaxPointwiseSlots = 64;

}  // namespace rota::runtime
