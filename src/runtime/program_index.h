// SPDX-License-Identifier: Apache-2.0
// What follows from a program alone, computed once per engine and shared by all contexts: which values move or change size while running, which
// aliases follow which roots, what symbols each value binds, how loops carry values, and the lifetime of every value over the linearised tree of blocks.
//
// Lifetimes: steps are numbered in order of execution with the blocks of control flow in between. A value of an outer block that a loop's body reads
// lives until the loop ends; carried values have two buffers that live as long as the loop. Tested by src/runtime/program_index_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/program.h"
#include "runtime/size_program.h"

namespace rota::runtime {

enum class StepAction : std::uint8_t { kKernel, kReference, kReadSizes, kIf, kLoop, kScan };

struct ValueFacts {
  std::int32_t root = kNone;   ///< Itself, unless an alias.
  std::int32_t block = kNone;  ///< Block that defines the root; kNone for constants.
  std::int32_t needs =
      kNone;  ///< The only block that reads or writes this value; kNone when there are several, or none.
  bool dynamicDims = false;           ///< Dims are found while running.
  bool dynamicAlias = false;          ///< An alias whose place or dims are found while running.
  bool growing = false;               ///< Its memory is a growing buffer of the context (roots only).
  bool movable = false;               ///< Its address can differ between or within runs.
  std::vector<std::int32_t> aliases;  ///< For roots: every value whose root it is, itself excluded.
  std::vector<SymbolId> binds;        ///< Symbols that its dims bind while running.
  std::uint32_t dimsAt = 0;           ///< Place of its dims in the pool of dims.
};

/// Positions from first to last, both included; empty when first > last.
struct LiveRange {
  std::uint32_t first = 1;
  std::uint32_t last = 0;
  bool isEmpty() const { return first > last; }
};

/// A value that a loop hands from one turn to the next.
struct Carried {
  std::int32_t param = kNone;
  std::int32_t result = kNone;
  std::int32_t initial = kNone;
  std::int32_t output = kNone;
  /// The body writes the result straight into the buffer that is the parameter of the next turn; else it is copied there.
  bool direct = false;
  /// Sizes are known when shapes are bound: two buffers in the arena; else two growing ones.
  bool isStatic = false;
};

struct StepFacts {
  StepAction action = StepAction::kKernel;
  bool dynamic = false;  ///< Some operand's dims are found while running.
  bool movable = false;
  bool writesSequences = false;  ///< Some output is a sequence or an optional.
  LiveRange range;               ///< One position, or all positions of its blocks.
  std::vector<Carried> carried;  ///< Loop and Scan.
  std::vector<SymbolId> reads;   ///< host.read_sizes: the symbols it binds.
  std::uint32_t ordinal = 0;     ///< Number of the step over all blocks.
};

struct BlockFacts {
  std::vector<StepFacts> steps;
  std::vector<SymbolId> symbols;  ///< Found while this block (nested ones included) runs.
};

class ProgramIndex {
 public:
  /// `program` has been validated and outlives the index.
  explicit ProgramIndex(const Program& program);

  const Program& program() const { return *program_; }
  const SizeProgram& sizes() const { return sizes_; }
  const ValueFacts& value(std::int32_t id) const { return values_[static_cast<std::size_t>(id)]; }
  const BlockFacts& block(std::size_t id) const { return blocks_[id]; }
  /// Lifetime of a root's memory in the arena; empty for values that have none.
  const LiveRange& lifetime(std::int32_t root) const { return lifetimes_[static_cast<std::size_t>(root)]; }
  std::size_t dimsPoolSize() const { return dimsPoolSize_; }
  std::uint32_t stepCount() const { return stepCount_; }
  const std::vector<SymbolId>& runtimeSymbols() const { return blocks_[0].symbols; }

 private:
  class Lifetimes;
  void indexValues();
  void markGrowing();
  void markMovable();
  void indexBlock(std::uint32_t id);
  void indexNeeds();
  void indexStep(const Step& step, StepFacts& facts);
  void indexCarried(const Step& step, StepFacts& facts);
  void collectSymbols(std::uint32_t id);

  const Program* program_;
  SizeProgram sizes_;
  std::vector<ValueFacts> values_;
  std::vector<BlockFacts> blocks_;
  std::vector<LiveRange> lifetimes_;
  std::size_t dimsPoolSize_ = 0;
  std::uint32_t stepCount_ = 0;
};

}  // namespace rota::runtime
