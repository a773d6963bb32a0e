// SPDX-License-Identifier: Apache-2.0
// What the tactics of our own vector kernels share: their knobs, when they may be used, and the simple model behind predicted times.
#pragma once

#include <optional>

#include "op/definition.h"
#include "tactic/tactic.h"

namespace rota::tactic {

/// Bytes that one core moves in a microsecond; only for ranking.
inline constexpr double kBytesPerUs = 8000.0;

consteval knob::Knob kernelToggle(std::string_view name, std::string_view doc) {
  return knob::toggle(
      name, true, doc,
      {.backend = "cpu", .numerics = knob::Numerics::kReassociating, .stage = knob::Stage::kRegion});
}

/// Whether the target takes vector kernels and the tactic's knob is on.
Support kernelsAllowed(const Problem& problem, const knob::Knob& knob);

/// The node of a region that is one node of the default domain with this type; else nullptr.
const ir::Node* onlyNode(const Problem& problem, std::string_view opType);

/// `typicalElements` times the bytes of an element.
double typicalBytes(const Problem& problem, const ir::Value& value);

/// All given operands are tensors of known rank, and no dim of an output is found by the kernel.
bool shapesKnown(const Problem& problem, const ir::Node& node);
/// `value` lies in one set of blocks along one axis that divide its dims: that layout; else plain.
runtime::Layout wholeBlocks(Emitter& emitter, const ir::Value& value);

/// Sizes named by attribute `name` or else known contents of input `i`; nothing when there are neither. Elements may be symbolic.
std::optional<std::vector<Size>> sizesOf(const ir::Node& node, std::size_t i, std::string_view name);
/// The same as numbers.
std::optional<std::vector<std::int64_t>> numbersOf(const ir::Node& node, std::size_t i,
                                                   std::string_view name);

/// `axis` in [0, rank).
inline std::size_t axisOf(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

}  // namespace rota::tactic
