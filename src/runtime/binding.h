// SPDX-License-Identifier: Apache-2.0
// Binding of input dims: types, ranks, fixed dims, symbol ranges, profiles, then the sizes that follow, and the guards between them.
// Every message names the input, the dim, what was allowed and what came. Tested by src/runtime/context_test.cpp.
#pragma once

#include <span>

#include "runtime/program_index.h"

namespace rota::runtime {

struct InputShape {
  DType dtype = DType::kUndefined;  ///< kUndefined: not bound.
  Dims dims;
};

inline constexpr std::int32_t kAnyProfile = -1;

/// Types, ranks and fixed dims of the inputs, and the profile they lie in: `wanted`, or, of all that fit, the one with the smallest maximum.
/// kAnyProfile for a program without profiles. `inputs` in the order of the program's inputs; those that are no tensors are skipped.
/// Allocates for errors only.
Result<std::int32_t> chooseProfile(const Program& program, std::span<const InputShape> inputs,
                                   std::int32_t wanted);

/// Sets `sizes` for inputs that `chooseProfile` has accepted; checks ranges of symbols, dims that are expressions, and guards. Allocates for errors only.
Status bindSizes(const ProgramIndex& index, std::span<const InputShape> inputs, SizeValues& sizes);

/// Ok when the guard holds or one of its sides is not known yet.
Status checkGuard(const Program& program, const SizeValues& sizes, std::uint32_t guard);

/// The same as a question.
bool holds(const Program& program, const SizeValues& sizes, std::uint32_t guard);

/// The error for a tensor whose dims give no number of bytes: names the dim that is negative, its value, and the inputs that it comes from.
Status badDims(const Program& program, const SizeValues& sizes, std::int32_t value, Dims dims);

/// Ok when `value` lies in the range of `symbol`, which was found while running.
Status checkFound(const Program& program, SymbolId symbol, std::int64_t value);

}  // namespace rota::runtime
