// SPDX-License-Identifier: Apache-2.0
// Runs a bound program: steps in order, blocks of control flow recursively, values without known sizes in growing buffers.
//
// A step whose operands neither move nor change size costs one virtual call. Others copy addresses (and dims) into their operands first. Sizes
// found while running are bound as soon as their value is there: sizes that wait for them are computed, ranges and guards checked.
// Tested by src/runtime/context_test.cpp and src/runtime/control_flow_test.cpp.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ref/kernel.h"
#include "runtime/growing_buffer.h"
#include "runtime/prepared.h"

namespace rota::runtime {

/// Memory of an output: the caller's, or the context's own.
struct OutputMemory {
  void* caller = nullptr;
  std::size_t callerBytes = 0;
  GrowingBuffer own;
};

/// What a context keeps between runs, whatever shapes are bound.
struct RunMemory {
  explicit RunMemory(const Program& program);
  std::size_t bytes() const;

  GrowingBuffer arena;
  GrowingBuffer dynamicWorkspace;
  Scratch scratch;
  std::vector<GrowingBuffer> growing;    ///< By value.
  std::vector<GrowingBuffer> spare;      ///< By value: the second buffer of carried values that change size.
  std::vector<ref::Sequence> sequences;  ///< By value.
  std::vector<OutputMemory> outputs;     ///< By output value; see outputOf.
  std::vector<std::int32_t> outputOf;    ///< Value -> index into outputs, or kNone.
  std::vector<double> stepUs;            ///< By step ordinal.
  std::vector<std::uint8_t> activeBlocks;  ///< Nested blocks that are running: their guards hold.
  bool profiling = false;
};

class Executor final : private ref::KernelHost, private OutputSizer {
 public:
  Executor(Prepared& prepared, RunMemory& memory, ThreadPool& pool)
      : prepared_(prepared),
        memory_(memory),
        pool_(pool),
        program_(prepared.index().program()) {}

  /// Inputs and outputs have their addresses.
  Status run();

 private:
  Status runBlock(std::uint32_t block);
  /// A branch or body: its guards are checked first, and hold while it runs.
  Status runNested(std::uint32_t block);
  Status runStep(StepState& step);
  Status runTimed(StepState& step);
  Status runKernel(StepState& step);
  Status prepareDynamic(StepState& step);
  Status runReference(StepState& step);
  Status readSizes(const StepState& step);

  // Values whose dims are found while running.
  Status resolveAliases(const StepState& step);
  Status resolveAlias(std::int32_t alias);
  Status sizeOutputs(const StepState& step);
  bool knownDims(std::int32_t value, std::array<std::int64_t, kMaxRank>& dims) const;
  Status broadcastDims(const StepState& step, std::array<std::int64_t, kMaxRank>& dims,
                       std::size_t& rank) const;
  Status allOutputsSized(const StepState& step) const;
  /// Sets the dims of a value, binds the symbols that follow, gives it memory.
  Status settle(std::int32_t value, Dims dims);
  Status setDims(std::int32_t value, Dims dims);
  Status bindSymbols(std::int32_t value);
  Status bindSymbol(SymbolId symbol, std::int64_t found);
  Status giveMemory(std::int32_t value, std::size_t bytes, std::size_t used);

  // Control flow (control_flow.cpp).
  Status runIf(StepState& step);
  Status runLoop(StepState& step);
  Status runScan(StepState& step);
  Status assign(std::int32_t to, std::int32_t from);
  Status startCarried(StepState& step);
  Status bindCarried(StepState& step);
  Status carry(StepState& step, std::int64_t turn);
  Status finishCarried(StepState& step);
  Status keepResults(StepState& step, std::int64_t turn);
  Status checkHanded(std::int32_t to, Dims dims) const;
  Status appendTurn(std::int32_t output, std::int32_t result, std::int64_t turn);
  Status finishAppended(std::int32_t output, std::int32_t result, std::int64_t turns);
  Status bindSlices(StepState& step, std::int64_t turn, std::int64_t length);
  Status stackTurn(const StepState& step, std::size_t output, std::int64_t turn, std::int64_t length);
  Result<std::int64_t> scanLength(const StepState& step);
  Status sizeStacked(std::int32_t output, std::int32_t result, std::size_t axis, std::int64_t length,
                     bool ran);
  void forgetSymbols(std::uint32_t block);
  Result<std::int64_t> scalarOf(std::int32_t value, const char* what);

  // ref::KernelHost and OutputSizer
  Result<MutableTensorView> allocateOutput(std::size_t index, Dims dims) override;
  Result<void*> scratch(std::size_t bytes) override { return memory_.scratch.take(bytes); }
  ThreadPool& threads() override { return pool_; }
  const ref::Sequence* inputSequence(std::size_t index) override;
  ref::Sequence* outputSequence(std::size_t index) override;
  Result<void*> sizeOutput(std::size_t index, Dims dims) override;

  const ValueInfo& info(std::int32_t value) const { return program_.values[static_cast<std::size_t>(value)]; }
  const ValueFacts& facts(std::int32_t value) const { return prepared_.index().value(value); }
  ValueState& state(std::int32_t value) { return prepared_.value(value); }

  Prepared& prepared_;
  RunMemory& memory_;
  ThreadPool& pool_;
  const Program& program_;
  StepState* current_ = nullptr;  ///< The reference or kernel step that is running.
  double nestedUs_ = 0;
};

}  // namespace rota::runtime
