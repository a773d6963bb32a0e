// SPDX-License-Identifier: Apache-2.0
// Regions and tactics: the unit of kernel choice and the ways to run it.
//
// A Region is a root node (a contraction, normalisation, reduction, movement … or none) with pointwise nodes after it (its epilogue). A tactic
// says whether it can run a region (or why not), predicts its time, and emits steps of the program. One tactic is one file in
// src/backend/<device>/compile; it registers itself; candidates are ordered by predicted time, then by name.
// Tested by every tactic's own test and by src/plan/plan_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "knob/knob.h"
#include "runtime/program.h"

namespace rota::tactic {

/// What code is built for.
struct Target {
  std::string device = "cpu";
  std::string cpu = "x86-64-v3";  ///< x86-64, x86-64-v2, x86-64-v3, x86-64-v4.
  bool generic = false;           ///< Only reference kernels (`--no-native-code`).
  /// float32 lanes of a vector register.
  int vectorLanes() const { return cpu == "x86-64-v4" ? 16 : cpu == "x86-64-v3" ? 8 : 4; }
};

struct Region {
  ir::Node* root = nullptr;         ///< nullptr: pointwise nodes only.
  std::vector<ir::Node*> nodes;     ///< In topological order, root first where there is one.
  std::vector<ir::Value*> inputs;   ///< Values from outside, each once, in order of first use.
  std::vector<ir::Value*> outputs;  ///< Values used outside (by later nodes or as graph outputs).
  /// Newline-joined source names, for scoped knobs.
  std::string scope;
};

struct Support {
  bool yes = false;
  std::string reason;  ///< Why not; shown by inspect.
  static Support ok() { return {true, {}}; }
  static Support no(std::string reason) { return {false, std::move(reason)}; }
};

struct Problem {
  const Region& region;
  const Target& target;
  const knob::KnobSet& knobs;
  SizeContext& sizes;
};

/// What a tactic emits into; implemented by the plan builder. Value ids are those of the program.
class Emitter {
 public:
  virtual ~Emitter() = default;
  virtual SizeContext& sizes() = 0;
  virtual const Target& target() const = 0;
  virtual const knob::KnobSet& knobs() const = 0;

  /// Index of `size` in the size program.
  virtual std::uint32_t entry(Size size) = 0;
  /// The program value of a graph value in plain layout (a reorder is emitted when it only exists in another one).
  virtual std::int32_t operand(ir::Value* value) = 0;
  /// The same in the wanted layout.
  virtual std::int32_t operand(ir::Value* value, const runtime::Layout& wanted) = 0;
  /// The layout in which the value exists now (the first one it was produced in); constants and inputs are plain.
  virtual runtime::Layout currentLayout(const ir::Value* value) const = 0;
  /// Makes the program value for a region output, in this layout.
  virtual std::int32_t define(ir::Value* value, const runtime::Layout& layout = {}) = 0;
  /// Makes `value` a view of `of` (same bytes, plain layout), `offsetBytes` into it.
  virtual void alias(ir::Value* value, ir::Value* of, Size offsetBytes = 0) = 0;
  /// A constant of the program in plain layout; equal bytes are stored once. `recipe` says how it was made from the model's initializers.
  virtual std::int32_t constant(const Tensor& tensor, std::string recipe) = 0;
  /// A constant whose bytes are already laid out: `packed` holds them, `dims` are the logical ones.
  virtual std::int32_t packedConstant(const Tensor& packed, std::vector<std::int64_t> dims,
                                      std::string recipe, const runtime::Layout& layout) = 0;
  /// A view of the same bytes with other dims (plain layout), for operands that a kernel wants in another shape.
  virtual std::int32_t view(ir::Value* value, std::vector<Size> dims) = 0;
  /// The same of a program value.
  virtual std::int32_t view(std::int32_t of, std::vector<Size> dims) = 0;
  /// Makes `value` a view of a program value (same bytes, plain layout).
  virtual void alias(ir::Value* value, std::int32_t of) = 0;
  /// A temporary in the arena.
  virtual std::int32_t temporary(DType dtype, std::vector<Size> dims, const runtime::Layout& layout = {}) = 0;
  /// Appends a step; the emitter adds sources and tactic name.
  virtual void step(runtime::Step step) = 0;
};

struct Tactic {
  std::string_view name;  ///< "cpu.pointwise", "onednn.convolution".
  std::string_view backend = "cpu";
  knob::Numerics numerics = knob::Numerics::kExact;
  std::string_view doc;
  Support (*supports)(const Problem& problem) = nullptr;
  /// Microseconds on one core, from a simple model; used for ranking at level 0.
  double (*predictUs)(const Problem& problem) = nullptr;
  Status (*emit)(const Problem& problem, Emitter& emitter) = nullptr;
};

class RegisterTactic {
 public:
  explicit RegisterTactic(const Tactic& tactic);
};

/// All tactics sorted by name.
std::vector<const Tactic*> allTactics();

struct Candidate {
  const Tactic* tactic = nullptr;
  double predictedUs = 0;
};
struct Refusal {
  const Tactic* tactic = nullptr;
  std::string reason;
};
struct Candidates {
  std::vector<Candidate> usable;  ///< Best first.
  std::vector<Refusal> refused;
};
Candidates enumerate(const Problem& problem);

/// Helpers for supports and predictUs.
/// Static dims, or the optimum of the profile where symbolic (`optValue`); used for prediction only.
std::int64_t typicalElements(const Problem& problem, const ir::Value& value);

}  // namespace rota::tactic
