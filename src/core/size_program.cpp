// SPDX-License-Identifier: Apache-2.0
// Sizes as programs: evaluation under a binding, flattening for the shape program of an engine, and the symbols of a size.
// Evaluation is exact: sums and products are taken in 128 bits and refused when the result does not fit.
// Tested by src/core/size_test.cpp.
#include <algorithm>
#include <set>

#include "core/check.h"
#include "core/size_table.h"

namespace rota {
namespace {

std::optional<std::int64_t> fit(Int128 v) {
  if (v > kUnbounded || v < kUnboundedBelow) return std::nullopt;
  return static_cast<std::int64_t>(v);
}

std::optional<std::int64_t> evaluateSize(Size s, std::span<const std::int64_t> binding);

std::optional<std::int64_t> evaluateAtom(const SizeAtom* atom, std::span<const std::int64_t> binding) {
  if (atom->kind == AtomKind::kSymbol) {
    return atom->symbol < binding.size() ? std::optional(binding[atom->symbol]) : std::nullopt;
  }
  std::vector<std::int64_t> values;
  for (Size operand : atom->operands) {
    const auto value = evaluateSize(operand, binding);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  switch (atom->kind) {
    case AtomKind::kFloorDiv:
      if (values[1] == 0 || (values[0] == kUnboundedBelow && values[1] == -1)) return std::nullopt;
      return floorDivInt(values[0], values[1]);
    case AtomKind::kMod: return values[1] == 0 ? std::nullopt : std::optional(modInt(values[0], values[1]));
    case AtomKind::kMin: return *std::min_element(values.begin(), values.end());
    default: return *std::max_element(values.begin(), values.end());
  }
}

std::optional<std::int64_t> evaluateSize(Size s, std::span<const std::int64_t> binding) {
  if (!s.isValid()) return std::nullopt;
  if (s.node() == nullptr) return s.constant();
  Int128 sum = 0;
  for (const Term& term : s.node()->terms) {
    Int128 value = term.coefficient;
    for (const Factor& factor : term.monomial) {
      const auto atom = evaluateAtom(factor.atom, binding);
      if (!atom) return std::nullopt;
      for (std::uint32_t i = 0; i < factor.power; ++i) {
        if (__builtin_mul_overflow(value, Int128{*atom}, &value)) return std::nullopt;
      }
    }
    if (__builtin_add_overflow(sum, value, &sum)) return std::nullopt;
  }
  return fit(sum);
}

void collectSymbols(Size s, std::set<SymbolId>& symbols) {
  if (s.node() == nullptr) return;
  for (const Term& term : s.node()->terms) {
    for (const Factor& factor : term.monomial) {
      if (factor.atom->kind == AtomKind::kSymbol) symbols.insert(factor.atom->symbol);
      for (Size operand : factor.atom->operands) collectSymbols(operand, symbols);
    }
  }
}

using FlatOp = SizeContext::FlatOp;
using Op = SizeContext::Op;

class Flattener {
 public:
  explicit Flattener(std::vector<FlatOp>& program) : program_(program) {}

  std::uint32_t flatten(Size s) {
    if (const auto value = s.constant()) return emit({Op::kConstant, *value, 0, 0});
    std::optional<std::uint32_t> sum;
    for (const Term& term : s.node()->terms) {
      const std::uint32_t value = flattenTerm(term);
      sum = sum ? emit({Op::kAdd, 0, *sum, value}) : value;
    }
    return *sum;
  }

 private:
  std::uint32_t flattenTerm(const Term& term) {
    std::optional<std::uint32_t> value;
    for (const Factor& factor : term.monomial) {
      const std::uint32_t atom = flattenAtom(factor.atom);
      for (std::uint32_t i = 0; i < factor.power; ++i)
        value = value ? emit({Op::kMul, 0, *value, atom}) : atom;
    }
    if (value && term.coefficient == 1) return *value;
    const std::uint32_t coefficient = emit({Op::kConstant, term.coefficient, 0, 0});
    return value ? emit({Op::kMul, 0, *value, coefficient}) : coefficient;
  }

  std::uint32_t flattenAtom(const SizeAtom* atom) {
    if (atom->kind == AtomKind::kSymbol) return emit({Op::kSymbol, atom->symbol, 0, 0});
    const Op op = atom->kind == AtomKind::kFloorDiv ? Op::kFloorDiv
                  : atom->kind == AtomKind::kMod    ? Op::kMod
                  : atom->kind == AtomKind::kMin    ? Op::kMin
                                                    : Op::kMax;
    std::uint32_t value = flatten(atom->operands[0]);
    for (std::size_t i = 1; i < atom->operands.size(); ++i)
      value = emit({op, 0, value, flatten(atom->operands[i])});
    return value;
  }

  std::uint32_t emit(FlatOp op) {
    const auto found = std::find_if(program_.rbegin(), program_.rend(), [&](const FlatOp& other) {
      return other.op == op.op && other.immediate == op.immediate && other.a == op.a && other.b == op.b;
    });
    if (found != program_.rend()) return static_cast<std::uint32_t>(program_.rend() - found - 1);
    program_.push_back(op);
    return static_cast<std::uint32_t>(program_.size() - 1);
  }

  std::vector<FlatOp>& program_;
};

}  // namespace

std::optional<std::int64_t> SizeContext::evaluate(Size s, std::span<const std::int64_t> binding) const {
  return evaluateSize(s, binding);
}

std::vector<SymbolId> SizeContext::symbolsOf(Size s) const {
  std::set<SymbolId> symbols;
  collectSymbols(s, symbols);
  return {symbols.begin(), symbols.end()};
}

std::uint32_t SizeContext::flatten(Size s, std::vector<FlatOp>& program) const {
  CHECK(s.isValid());
  return Flattener(program).flatten(s);
}

}  // namespace rota
