// SPDX-License-Identifier: Apache-2.0
// Symbolic sizes (decision N2): integers over symbols with + - * floordiv ceildiv mod min max.
//
// A Size is a canonical polynomial over atoms; an atom is a symbol or a floordiv, mod, min or max of polynomials
// (ceildiv(a, b) is -floordiv(-a, b)). Polynomials are interned in a SizeContext, so equal sizes are equal pointers, and
// constants need no context. Exact division cancels (a*b / b = a where b is known to be at least 1). Overflow of a constant, and an
// expression beyond the limits (256 terms, 4096 atoms as a tree, nesting of 64), make the size invalid, which every query reports;
// nothing wraps silently.
// A SizeContext belongs to one top-level graph, is shared by its subgraphs, and is not thread-safe.
// Facts: each symbol has a range; `requireEqual` unifies what operators prove equal and records a guard that is
// checked when shapes are bound. Simplification uses the ranges known when a size is built, so set ranges before sizes are built from a
// symbol; narrowing one later is sound, widening is not. Tested by src/core/size_test.cpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rota/status.h>

namespace rota {

class SizeContext;
struct SizeNode;  // an interned non-constant polynomial

/// A constant or an interned polynomial. Small, copyable; equality is canonical equality.
class Size {
 public:
  Size() = default;
  template <std::integral T>
  Size(T value) : constant_(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  explicit Size(const SizeNode* node) : node_(node) {}
  static Size invalid();

  bool isConstant() const { return node_ == nullptr && valid_; }
  bool isValid() const { return valid_; }
  std::optional<std::int64_t> constant() const {
    return isConstant() ? std::optional(constant_) : std::nullopt;
  }
  bool is(std::int64_t v) const { return isConstant() && constant_ == v; }
  const SizeNode* node() const { return node_; }
  bool operator==(const Size&) const = default;

 private:
  std::int64_t constant_ = 0;
  const SizeNode* node_ = nullptr;
  bool valid_ = true;
};

Size operator+(Size a, Size b);
Size operator-(Size a, Size b);
Size operator*(Size a, Size b);
Size floorDiv(Size a, Size b);  ///< Rounds to minus infinity; b = 0 is invalid.
Size ceilDiv(Size a, Size b);
Size mod(Size a, Size b);  ///< Sign of b.
Size min(Size a, Size b);
Size max(Size a, Size b);
Size product(std::span<const Size> sizes);
/// The polynomial q with a = q * b, or nothing when there is none; unlike floorDiv it does not ask whether b can be 0.
std::optional<Size> divideExact(Size a, Size b);

struct SizeRange {
  std::int64_t lo = 0;                                         ///< min() = no bound.
  std::int64_t hi = std::numeric_limits<std::int64_t>::max();  ///< max() = no bound.

  bool contains(std::int64_t v) const { return lo <= v && v <= hi; }
  bool operator==(const SizeRange&) const = default;
};

using SymbolId = std::uint32_t;

/// Where a symbol gets its value.
enum class SymbolOrigin : std::uint8_t {
  kInputDim,      ///< A dim of a graph input; bound by the shapes of a request.
  kHostResolved,  ///< An element of a small integer tensor that is read when it has been computed (a sync point).
  kDataDependent,  ///< A dim of a value whose kernel finds its size (NonZero).
};

struct Symbol {
  std::string name;
  SizeRange range;
  std::int64_t divisor = 1;  ///< The value is a multiple of this.
  SymbolOrigin origin = SymbolOrigin::kInputDim;
};

enum class GuardKind : std::uint8_t {
  kEqual,      ///< a == b
  kBroadcast,  ///< a == b, or a == 1, or b == 1
};

/// A fact that must hold when shapes are bound; checked by the shape program with this message. `a` and `b` are to be evaluated as they
/// stand (not resolved: the substitution that the guard justifies would make it trivial).
struct SizeGuard {
  Size a;
  Size b;
  std::string node;    ///< The source node that needs it.
  std::string reason;  ///< For example "dim 1 of A and dim 0 of B are multiplied".
  GuardKind kind = GuardKind::kEqual;
  /// 0: must hold for every request. Else the block (ir::Graph::scope) of a branch or loop body in which it must hold: checked when that
  /// block runs.
  std::uint32_t scope = 0;
};

class SizeContext {
 public:
  SizeContext();
  ~SizeContext();
  SizeContext(const SizeContext&) = delete;
  SizeContext& operator=(const SizeContext&) = delete;

  /// A new symbol; a name in use gets a suffix.
  Size newSymbol(std::string name, SizeRange range, SymbolOrigin origin);
  const std::vector<Symbol>& symbols() const;
  void setRange(SymbolId id, SizeRange range);
  /// The symbol is a multiple of `divisor` (at least 1).
  void setDivisor(SymbolId id, std::int64_t divisor);
  std::optional<SymbolId> findSymbol(std::string_view name) const;
  Size symbol(SymbolId id) const;

  /// Makes `a` and `b` equal: nothing when they are; an error when they cannot be; else records a guard and, where one side is a
  /// single atom, substitutes it from now on (see `resolve`).
  Status requireEqual(Size a, Size b, std::string node, std::string reason);
  const std::vector<SizeGuard>& guards() const;
  /// Records that `a` and `b` must be equal unless one of them is 1; nothing when that is known.
  void requireBroadcastable(Size a, Size b, std::string node, std::string reason);
  /// The size of the broadcast of two dims; records the guard it needs, an error when they can never be broadcast.
  Result<Size> broadcast(Size a, Size b, std::string node, std::string reason);

  /// `s` is at least 0, as every dim is: what computes a shape refuses a negative one, so nobody needs a guard. Ranges use it.
  void assumeNonNegative(Size s);

  /// What is required between pushScope and popScope holds only where a conditional block runs: its guards carry `scope`, and its
  /// substitutions and narrowed ranges are forgotten at popScope. Scopes nest. Entering a scope again drops the guards it had: the block is inferred
  /// anew, perhaps with other types.
  void pushScope(std::uint32_t scope);
  void popScope();

  /// `s` with all substitutions applied.
  Size resolve(Size s) const;
  /// The interval in which `s` must lie, from the ranges of its symbols.
  SizeRange range(Size s) const;
  bool provablyEqual(Size a, Size b) const { return resolve(a) == resolve(b); }
  /// a divides by `divisor` for every value of its symbols.
  bool divisible(Size a, std::int64_t divisor) const;

  /// Value under `binding` (indexed by SymbolId); nothing on overflow or division by zero.
  std::optional<std::int64_t> evaluate(Size s, std::span<const std::int64_t> binding) const;

  /// "batch*seq + 1"; parses back with `parse`, which creates no symbols.
  std::string toString(Size s) const;
  Result<Size> parse(std::string_view text) const;

  /// Symbols that `s` depends on, sorted.
  std::vector<SymbolId> symbolsOf(Size s) const;
  /// The symbol that `s` is, if it is nothing else.
  std::optional<SymbolId> asSymbol(Size s) const;

  /// A context with the same symbols (ids and names), guards and substitutions.
  std::shared_ptr<SizeContext> clone() const;
  /// A size of another context in terms of this one; symbols keep their ids, which must exist here.
  Size adopt(Size other);

  /// Post-order flattening for the shape program: calls back once per distinct subexpression.
  enum class Op : std::uint8_t { kConstant, kSymbol, kAdd, kMul, kFloorDiv, kMod, kMin, kMax };
  struct FlatOp {
    Op op;
    std::int64_t immediate = 0;  ///< Constant value or SymbolId.
    std::uint32_t a = 0;         ///< Operand: an earlier index of the same program.
    std::uint32_t b = 0;
  };
  /// Appends what `s` needs to `program` (reusing equal entries) and returns the index of its value.
  std::uint32_t flatten(Size s, std::vector<FlatOp>& program) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota
