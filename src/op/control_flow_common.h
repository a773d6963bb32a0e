// SPDX-License-Identifier: Apache-2.0
// What inference of If, Loop and Scan shares: types that must hold for several branches or turns, and sizes that exist only inside a block.
//
// A dim that differs between branches, or changes from turn to turn, is data-dependent; a rank that differs is unknown. A size inside a block (of
// a NonZero in it, say) means nothing outside, so results get a size of the node's own in its place. Tested by src/op/control_flow_test.cpp.
#pragma once

#include "op/movement_common.h"

namespace rota::op {

/// Symbols that nodes and values inside `block` give values to, nested blocks included, sorted.
std::vector<SymbolId> symbolsInside(const ir::Graph& block);
/// Whether `size` depends on one of `symbols` (sorted).
bool dependsOn(InferContext& ctx, Size size, const std::vector<SymbolId>& symbols);

/// The type that covers both; `name` makes the symbols of dims that differ. An error when kinds or dtypes differ.
Result<ir::Type> coveringType(InferContext& ctx, const ir::Type& a, const ir::Type& b,
                              const std::string& name);
/// `type` with every dim that depends on `inside` replaced by a data-dependent one.
ir::Type outsideType(InferContext& ctx, ir::Type type, const std::vector<SymbolId>& inside,
                     const std::string& name);

/// The block `name` of the node with at least `inputs` inputs and `outputs` outputs, or an error.
Result<ir::Graph*> requireBlock(InferContext& ctx, std::string_view name, std::size_t inputs,
                                std::size_t outputs);
/// Gives the block inputs [first, first + types) these types and clears their contents.
void setBlockInputs(ir::Graph& block, std::size_t first, const std::vector<ir::Type>& types);
/// Infers `block` until the types of what it carries do not change: input firstInput + i comes back as output firstOutput + i. `types` are those of
/// the initial values and come back as those that hold in every turn.
Status inferCarried(InferContext& ctx, ir::Graph& block, std::size_t firstInput, std::size_t firstOutput,
                    std::vector<ir::Type>& types);

}  // namespace rota::op
