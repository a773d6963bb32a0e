// SPDX-License-Identifier: Apache-2.0
// What the tactics of our own vector kernels share: their knobs, when they may be used, and the simple model behind predicted times.
#pragma once

#include "op/definition.h"
#include "tactic/tactic.h"

namespace rota::tactic {

/// Bytes that one core moves in a microsecond; only for ranking.
inline constexpr double kBytesPerUs = 8000.0;

consteval knob::Knob kernelToggle(std::string_view name, std::string_view doc) {
  return knob::toggle(name, true, doc, {.backend = "cpu", .numerics = knob::Numerics::kReassociating, .stage = knob::Stage::kRegion});
}

/// Whether the target takes vector kernels and the tactic's knob is on.
Support kernelsAllowed(const Problem& problem, const knob::Knob& knob);

/// The node of a region that is one node of the default domain with this type; else nullptr.
const ir::Node* onlyNode(const Problem& problem, std::string_view opType);

/// `typicalElements` times the bytes of an element.
double typicalBytes(const Problem& problem, const ir::Value& value);

/// All given operands are tensors of known rank.
bool ranksKnown(const ir::Node& node);

/// Integers of input `i` when it is a constant, or of attribute `name`; false when it is neither (nothing is set when it is absent).
bool constantInts(const ir::Node& node, std::size_t i, std::string_view name, std::vector<std::int64_t>& values, bool& given);

/// `axis` in [0, rank).
inline std::size_t axisOf(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

}  // namespace rota::tactic
