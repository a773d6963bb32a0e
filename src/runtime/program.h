// SPDX-License-Identifier: Apache-2.0
// The program that the runtime executes: what the plan builder writes, the engine file carries, and a Context runs.
//
// Plain data, no pointers between parts, so that it maps onto the engine schema field by field. A program is a tree of blocks (decision
// N5); values are numbered through all blocks. Sizes are entries of one size program (decision N3): entries that depend only on input dims
// are evaluated when shapes are bound; entries that depend on a symbol found while running (N4) after the step that finds it.
// Placement (N7), layouts (N8) and states (N6) are in from the start, though one device and one stream are used today.
// `validate` is the second level of engine validation: every index, rank, size and cross reference, so that running code can trust it.
// Tested by src/runtime/program_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/attributes.h"
#include "core/hash.h"
#include "core/size.h"

namespace rota::runtime {

inline constexpr std::int32_t kNone = -1;
inline constexpr std::size_t kMaxRank = 16;

enum class ValueKind : std::uint8_t { kTensor, kSequence, kOptional, kState };

/// Where the bytes of a value lie.
enum class Storage : std::uint8_t {
  kInput,     ///< Caller memory.
  kOutput,    ///< Caller memory, or memory that the context owns for the output.
  kConstant,  ///< The weights section.
  kArena,     ///< The context's arena, at an offset that the memory plan gives.
  kAlias,     ///< Inside `aliasOf`, at `aliasOffset` bytes: reshape, and views that are dense.
  kGrowing,  ///< Size found while running without a bound (N4): a buffer of the context that grows and is kept.
  kBlockParam,  ///< Loop-carried or iteration value; bound by the control-flow step.
};

/// Physical order of a dense tensor (decision N8). Plain row-major when both lists are empty.
struct Layout {
  std::vector<std::uint8_t> order;  ///< Dims from outermost to innermost; empty = 0, 1, 2 …
  struct Block {
    std::uint8_t axis = 0;
    std::int32_t size = 1;
    bool operator==(const Block&) const = default;
  };
  std::vector<Block>
      blocks;  ///< Innermost blocks, outermost first; the axis is padded up to a multiple, padding is zero.
  bool isPlain() const { return order.empty() && blocks.empty(); }
  bool operator==(const Layout&) const = default;
};

enum class MemorySpace : std::uint8_t { kHost, kDevice, kPinned };

struct ValueInfo {
  std::string name;  ///< The user's name where there is one.
  ValueKind kind = ValueKind::kTensor;
  DType dtype = DType::kUndefined;
  bool rankKnown = true;
  std::vector<std::uint32_t> dims;  ///< Entries of the size program.
  Storage storage = Storage::kArena;
  std::int32_t constant = kNone;  ///< Index into constants.
  std::int32_t aliasOf = kNone;
  std::uint32_t aliasOffset = 0;  ///< Size entry (bytes), with kAlias.
  Layout layout;
  std::uint8_t device = 0;
  MemorySpace space = MemorySpace::kHost;
  std::vector<std::uint32_t> sources;
};

/// How the runtime finds the dims of outputs that a kernel cannot size itself; only for outputs of unknown rank.
enum class ShapeRule : std::uint8_t {
  kNone,       ///< Dims stand in the size program, or the kernel finds them.
  kBroadcast,  ///< Inputs broadcast against each other (pointwise operators).
};

/// One step. Operands of control flow follow ONNX; bodies use values of the blocks around them directly:
///   flow.if    inputs [condition]                          blocks [then, else]  results = outputs
///   flow.loop  inputs [trip count?, condition?, carried…]  params [iteration, condition, carried…]
///              results [condition, carried…, scanned…]     outputs [carried…, scanned…]
///   flow.scan  inputs [carried…, sequences…]               params [carried…, slices…]
///              results [carried…, slices…]                 outputs [carried…, stacked…]
///              parameters num_scan_inputs, scan_{input,output}_{axes,directions}
///   host.read_sizes  binds the kHostResolved symbols whose value is one of the inputs; no outputs.
struct Step {
  std::string
      kernel;  ///< "ref:Conv", "cpu.pointwise", "onednn.convolution", "host.read_sizes", "flow.if", "flow.loop", "flow.scan".
  std::string library;  ///< Module that must be loaded: "" or "onednn".
  Attributes parameters;
  std::int32_t version = 0;  ///< Operator set version, for reference kernels.
  ShapeRule shapeRule = ShapeRule::kNone;
  std::vector<std::int32_t> inputs;  ///< Value ids, kNone = not given.
  std::vector<std::int32_t> outputs;
  std::vector<std::uint32_t> blocks;  ///< For control flow.
  std::uint8_t device = 0;
  std::uint8_t stream = 0;
  std::vector<std::uint32_t> waits;  ///< Events.
  std::vector<std::uint32_t> signals;
  std::string opaque;  ///< Library bytes (N10, N22).
  std::string tactic;  ///< What was chosen, for people.
  double predictedUs = 0;
  std::vector<std::uint32_t> sources;
};

struct Block {
  std::string name;
  std::vector<std::int32_t> params;  ///< Values bound on entry (main block: the inputs).
  std::vector<std::int32_t> results;
  std::vector<Step> steps;
};

struct SymbolInfo {
  std::string name;
  SymbolOrigin origin = SymbolOrigin::kInputDim;
  SizeRange range;
  std::int32_t value =
      kNone;  ///< kInputDim, kDataDependent: the value and dim that bind it; kHostResolved: the value and element.
  std::uint32_t position = 0;
};

struct Guard {
  enum class Kind : std::uint8_t {
    kEqual,
    kBroadcast
  } kind = Kind::kEqual;  ///< kBroadcast: equal, or one of them is 1.
  std::uint32_t a = 0;    ///< Size entries.
  std::uint32_t b = 0;
  std::string node;
  std::string reason;
  /// 0: must hold for every request. Else a nested block: must hold whenever that block runs, and says nothing about requests that do not run it.
  std::uint32_t block = 0;
};

/// Ranges of one input under one profile.
struct ProfileInput {
  std::int32_t value = kNone;
  std::vector<std::int64_t> min, opt, max;
};
struct Profile {
  std::string name;
  std::vector<ProfileInput> inputs;
};

/// Where a constant's bytes lie and how they came about (decision N9).
struct ConstantInfo {
  DType dtype = DType::kUndefined;
  std::vector<std::int64_t> dims;
  Layout layout;
  std::uint64_t offset = 0;  ///< In the weights section.
  std::uint64_t bytes = 0;
  Hash128 hash;
  std::string recipe;  ///< "initializer conv1.weight | pack …".
};

struct SourceInfo {
  std::string scope;
  std::string name;
  std::string opType;
};

struct StateInfo {
  std::string name;
  std::int32_t input = kNone;  ///< Must-alias pair.
  std::int32_t output = kNone;
};

struct Program {
  std::vector<SizeContext::FlatOp> sizes;
  std::vector<SymbolInfo> symbols;
  std::vector<Guard> guards;
  std::vector<ValueInfo> values;
  std::vector<Block> blocks;  ///< blocks[0] is the main block.
  std::vector<ConstantInfo> constants;
  std::vector<Profile> profiles;
  std::vector<SourceInfo> sources;
  std::vector<StateInfo> states;
  std::vector<std::string> inputNames;   ///< In the order of blocks[0].params.
  std::vector<std::string> outputNames;  ///< In the order of blocks[0].results.
  std::uint32_t streams = 1;
  std::uint32_t events = 0;
  std::vector<std::string> devices = {"cpu"};
};

/// Every index and cross reference; the error says which entry breaks which rule.
Status validate(const Program& program);

/// "conv1 (Conv), relu1 (Relu)" for messages; at most three, then "and N more".
std::string describeSources(const Program& program, const std::vector<std::uint32_t>& sources);

/// Text of a size entry, "batch*seq + 1"; numbers for constants.
std::string sizeText(const Program& program, std::uint32_t entry);

/// Bytes of a tensor in `layout`: blocked axes are padded up to whole blocks. Nothing on overflow or a negative dim.
std::optional<std::size_t> layoutBytes(DType dtype, Dims dims, const Layout& layout);

/// The value, itself no alias, whose memory `value` lies in.
std::int32_t rootOf(const Program& program, std::int32_t value);

}  // namespace rota::runtime
