// SPDX-License-Identifier: Apache-2.0
// The equation of Einsum: which axis of which operand carries which label. Axes of an ellipsis get labels of their own, counted from the right,
// so operands with ellipses of different lengths broadcast as NumPy has it. Used by inference and kernel. Tested by src/ref/einsum_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <rota/status.h>

namespace rota::ref {

constexpr std::size_t kMaxEinsumOperands = 32;
constexpr std::size_t kMaxEinsumAxes = 64;
constexpr std::uint8_t kFirstEllipsisLabel = 52;  ///< 0 to 25: A to Z, 26 to 51: a to z, as ASCII sorts them.
constexpr std::size_t kEinsumLabels = kFirstEllipsisLabel + kMaxEinsumAxes;

/// Labels of the axes of one tensor.
struct EinsumTerm {
  std::array<std::uint8_t, kMaxEinsumAxes> labels{};
  std::size_t size = 0;
  void push(std::uint8_t label) { labels[size++] = label; }
  std::span<const std::uint8_t> all() const { return {labels.data(), size}; }
  bool has(std::uint8_t label) const;
};

struct EinsumEquation {
  std::array<EinsumTerm, kMaxEinsumOperands> inputs{};
  std::size_t inputCount = 0;
  EinsumTerm output;
};

/// `ranks`: those of the operands. Errors (kBadAttribute) say what is wrong with the equation.
Result<EinsumEquation> parseEinsum(std::string_view equation, std::span<const std::size_t> ranks);

}  // namespace rota::ref
