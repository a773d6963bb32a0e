// SPDX-License-Identifier: Apache-2.0
// A program bound to one set of input dims: sizes, place of every value, kernel objects with their operands.
//
// Built by `prepare` (decision N18), kept in the context's bounded cache, run by the Executor. Everything that is known from the input dims is
// settled here; values whose dims are found while running get theirs in the run. Offsets are relative to the arena, which all bindings of a
// context share; `place` turns them into addresses.
// A binding for every shape of a profile is made once, with room for the largest; `rebind` moves it to other dims without allocating, and its
// kernels are told so (StepBinding::everyShape). What cannot be settled inside a branch or body (a size that is negative) is a fault of that
// block, reported when the block runs. Tested by src/runtime/context_test.cpp and src/runtime/profile_test.cpp.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ref/kernel.h"
#include "runtime/growing_buffer.h"
#include "runtime/memory_planner.h"
#include "runtime/program_index.h"
#include "runtime/step_kernel.h"

namespace rota::runtime {

/// A validated program with its constants; immutable, shared by all contexts of an engine.
struct LoadedProgram {
  std::shared_ptr<const Program> program;
  std::unique_ptr<const ProgramIndex> index;
  std::vector<const std::byte*> constants;  ///< 64-byte aligned, one for each constant.
  std::shared_ptr<const void> keeper;       ///< What owns the bytes of the constants.
};

struct ValueState {
  std::byte* data = nullptr;
  std::int64_t* dims = nullptr;
  std::uint32_t rank = 0;
  std::size_t bytes = 0;
  bool settled = false;  ///< Of values that are sized while running: the current step has sized it.
  Dims dimsView() const { return {dims, rank}; }
};

struct StepState {
  const Step* step = nullptr;
  const StepFacts* facts = nullptr;
  std::uint32_t block = 0;
  // kKernel
  std::unique_ptr<StepKernel> kernel;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  StepBinding binding;
  std::size_t workspaceBytes = 0;
  std::size_t workspaceReserved = 0;
  std::size_t workspaceOffset = 0;
  std::vector<std::int64_t> preparedDims;  ///< Of dynamic steps: ranks and dims that `prepare` saw last.
  bool everPrepared = false;
  // kReference
  ref::Kernel reference = nullptr;
  std::vector<TensorView> referenceInputs;
  std::vector<MutableTensorView> referenceOutputs;
  // Loops
  std::vector<std::array<std::size_t, 2>> carriedOffsets;
  std::vector<std::array<std::byte*, 2>> carriedPlaces;
  std::vector<std::int64_t> carriedDims;  ///< Rank and dims of each carried value for the next turn.
  std::vector<ref::Sequence> carriedSequences;
  std::int64_t turn = 0;
  std::uint8_t condition = 0;
};

class Prepared {
 public:
  /// `sizes` has all input symbols bound and evaluated.
  static Result<std::unique_ptr<Prepared>> create(const LoadedProgram& loaded, SizeValues sizes,
                                                  ThreadPool& threads);
  /// For every shape inside `profile` (nullptr: for any shape, with room for these sizes at first). `sizes` are those of the largest shape.
  static Result<std::unique_ptr<Prepared>> createForProfile(const LoadedProgram& loaded, SizeValues sizes,
                                                            ThreadPool& threads, const Profile* profile);
  /// After `sizes()` of a binding for every shape have been bound anew. `grew`: some value or workspace needed more room than ever before, and the
  /// arena has been planned again, which allocates. `place` must follow.
  Status rebind(bool& grew);

  /// Turns offsets into addresses; again whenever the arena has moved.
  void place(std::byte* arena);
  std::byte* arena() const { return arena_; }
  std::size_t arenaBytes() const { return plan_.bytes; }
  std::size_t largestLiveSet() const { return plan_.largestLiveSet; }

  /// Room for each value: its bytes, or the most that the profile asks for; 0 where no bound is known before the run.
  std::size_t reservedBytes(std::int32_t id) const { return reserved_[static_cast<std::size_t>(id)]; }
  /// Why a nested block cannot run under these sizes; ok when it can.
  const Status& blockFault(std::size_t block) const { return faults_[block]; }

  /// Upper bound of the bytes of each growing value; 0 where there is none that is worth reserving.
  const std::vector<std::size_t>& growingBounds() const { return growingBounds_; }

  const ProgramIndex& index() const { return *loaded_->index; }
  ValueState& value(std::int32_t id) { return values_[static_cast<std::size_t>(id)]; }
  std::vector<StepState>& block(std::size_t id) { return blocks_[id]; }
  SizeValues& sizes() { return sizes_; }

  /// The address of a root; its aliases follow.
  void setData(std::int32_t root, std::byte* data) {
    value(root).data = data;
    for (std::int32_t alias : index().value(root).aliases)
      if (!index().value(alias).dynamicAlias)
        value(alias).data = data + aliasOffsets_[static_cast<std::size_t>(alias)];
  }
  /// Sum of the offsets of an alias chain; nothing when a size is unknown.
  std::optional<std::size_t> aliasOffset(std::int32_t alias) const;
  /// Copies addresses and dims of the values into the step's operands.
  void refresh(StepState& step);

  std::vector<std::int64_t> key;  ///< Ranks and dims of the inputs; the context's cache compares them.
  std::uint64_t lastUse = 0;

 private:
  Prepared(const LoadedProgram& loaded, SizeValues sizes) : loaded_(&loaded), sizes_(std::move(sizes)) {}
  Status createValues();
  Status bindValues();
  Status bindValue(std::int32_t id);
  void findBounds(const Profile* profile);
  bool reserve();
  /// Ok, and a fault of the block, when `value` is only of use in a nested block; else the error itself.
  Status faultOf(std::int32_t value, Status error);
  Status checkAlias(std::int32_t alias);
  Status createSteps(ThreadPool& threads);
  Status prepareStep(StepState& state);
  Status createStep(const Step& step, const StepFacts& facts, StepState& state, ThreadPool& threads);
  void planArena();

  const LoadedProgram* loaded_;
  SizeValues sizes_;
  std::vector<std::int64_t> dimsPool_;
  std::vector<ValueState> values_;
  std::vector<std::size_t> aliasOffsets_;
  std::vector<std::size_t> arenaOffsets_;
  std::vector<std::size_t> growingBounds_;
  std::vector<std::size_t> reserved_;
  std::vector<std::vector<StepState>> blocks_;
  std::vector<Status> faults_;  // by block
  bool everyShape_ = false;
  MemoryPlan plan_;
  std::byte* arena_ = nullptr;
};

/// The lifetimes and sizes that the arena of `prepared` values is planned from; also used to show memory before anything runs.
struct ArenaRequest {
  enum class Owner : std::uint8_t { kValue, kCarried, kWorkspace } owner = Owner::kValue;
  std::int32_t value = kNone;  ///< kValue; the parameter for kCarried.
  std::uint32_t block = 0;     ///< kCarried, kWorkspace: the step.
  std::uint32_t step = 0;
  std::uint32_t slot = 0;  ///< kCarried: which of the two buffers, and which carried value in the upper bits.
  BufferRequest buffer;
};
/// `bytesOf[value]` for every root with arena memory; `workspace(block, step)` in bytes.
std::vector<ArenaRequest> arenaRequests(const ProgramIndex& index, const std::vector<std::size_t>& bytesOf,
                                        const std::vector<std::vector<std::size_t>>& workspace);

/// An error: `entry`, a dim of `value`, has no number.
Status unknownSize(const Program& program, std::int32_t value, std::uint32_t entry);
/// "value 'x' of conv1 (Conv)".
std::string describeValue(const Program& program, std::int32_t value);
std::string dimsText(Dims dims);
/// `status` with the step's sources where it names no node yet.
Status located(Status status, const Program& program, const Step& step);

}  // namespace rota::runtime
