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

/// `inputs` in the order of the program's inputs; inputs that are no tensors are skipped.
Result<SizeValues> bindSizes(const ProgramIndex& index, std::span<const InputShape> inputs);

/// Ok when the guard holds or one of its sides is not known yet.
Status checkGuard(const Program& program, const SizeValues& sizes, std::uint32_t guard);

/// Ok when `value` lies in the range of `symbol`, which was found while running.
Status checkFound(const Program& program, SymbolId symbol, std::int64_t value);

}  // namespace rota::runtime
