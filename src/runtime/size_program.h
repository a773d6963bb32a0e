// SPDX-License-Identifier: Apache-2.0
// Evaluation of a program's sizes (decision N3), in stages.
//
// `SizeProgram` knows, once per program, which entries depend on symbols that are found while running. `SizeValues` holds the values of one
// bound set of shapes: input symbols are bound first and everything that follows from them is computed; each symbol found later computes
// what waited for it. A value that cannot be computed (overflow, division by zero, symbol not bound yet) is unknown, never wrong.
// Binding while running allocates nothing. Tested by src/runtime/size_program_test.cpp.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/program.h"

namespace rota::runtime {

class SizeProgram {
 public:
  explicit SizeProgram(const Program& program);

  const Program& program() const { return *program_; }
  /// Depends on a symbol that is found while running.
  bool isDynamic(std::uint32_t entry) const { return dynamic_[entry] != 0; }
  /// Entries that depend on `symbol`, in order; only for symbols found while running.
  std::span<const std::uint32_t> dependents(SymbolId symbol) const { return dependents_[symbol]; }
  /// Guards that depend on `symbol`; only for symbols found while running. Those of nested blocks hold only while their block runs.
  std::span<const std::uint32_t> guards(SymbolId symbol) const { return guards_[symbol]; }
  /// Guards of every request that depend on input dims only.
  std::span<const std::uint32_t> staticGuards() const { return staticGuards_; }
  /// Guards of a nested block: to be checked, as far as their sizes are known, whenever it starts. None for block 0.
  std::span<const std::uint32_t> blockGuards(std::size_t block) const { return blockGuards_[block]; }

 private:
  const Program* program_;
  std::vector<std::uint8_t> dynamic_;
  std::vector<std::vector<std::uint32_t>> dependents_;
  std::vector<std::vector<std::uint32_t>> guards_;
  std::vector<std::uint32_t> staticGuards_;
  std::vector<std::vector<std::uint32_t>> blockGuards_;
};

class SizeValues {
 public:
  explicit SizeValues(const SizeProgram& sizes);

  /// Sets an input symbol; `evaluate` must follow.
  void setSymbol(SymbolId symbol, std::int64_t value);
  /// Computes all entries that follow from the symbols set so far.
  void evaluate();

  /// Sets a symbol found while running and computes what waited for it.
  void bind(SymbolId symbol, std::int64_t value);
  /// Forgets a symbol found while running, and what follows from it.
  void forget(SymbolId symbol);

  bool isKnown(std::uint32_t entry) const { return known_[entry] != 0; }
  bool isSymbolKnown(SymbolId symbol) const { return symbolKnown_[symbol] != 0; }
  std::int64_t symbol(SymbolId id) const { return symbols_[id]; }
  /// Only where known.
  std::int64_t value(std::uint32_t entry) const { return values_[entry]; }
  std::span<const std::int64_t> values() const { return values_; }

  /// For every entry the interval of its value: exact where known, else from the ranges of the symbols.
  std::vector<SizeRange> bounds() const;

  /// Forgets everything, for other input symbols. Keeps its memory.
  void clear();

 private:
  void evaluateEntry(std::uint32_t entry);

  const SizeProgram* sizes_;
  std::vector<std::int64_t> values_;
  std::vector<std::uint8_t> known_;
  std::vector<std::int64_t> symbols_;
  std::vector<std::uint8_t> symbolKnown_;
};

/// For every entry the interval of its value when each symbol lies in its range.
std::vector<SizeRange> entryBounds(const Program& program, std::span<const SizeRange> symbols);

}  // namespace rota::runtime
