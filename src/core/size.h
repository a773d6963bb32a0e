// SPDX-License-Identifier: Apache-2.0
// Symbolic sizes (decision N2): integers over symbols with + - * floordiv ceildiv mod min max.
//
// A Size is a canonical polynomial over atoms; an atom is a symbol or a floordiv, mod, min or max of polynomials
// (ceildiv(a, b) is -floordiv(-a, b)). Polynomials are interned in a SizeContext, so equal sizes are equal pointers, and
// constants need no context. Exact division cancels (a*b / b = a where b is known to be at least 1). Overflow of a constant makes the
// size invalid, which every query reports; nothing wraps silently.
// A SizeContext belongs to one top-level graph, is shared by its subgraphs, and is not thread-safe.
// Facts: each symbol has a range; `requireEqual` unifies what operators prove equal and records a guard that is
// checked when shapes are bound. Tested by src/core/size_test.cpp.
#pragma once

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
  Size(std::int64_t value) : constant_(value) {}  // NOLINT(google-explicit-constructor)
  explicit Size(const SizeNode* node) : node_(node) {}
  static Size invalid();

  bool isConstant() const { return node_ == nullptr && valid_; }
  bool isValid() const { return valid_; }
  std::optional<std::int64_t> constant() const { return isConstant() ? std::optional(constant_) : std::nullopt; }
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
Size mod(Size a, Size b);       ///< Sign of b.
Size min(Size a, Size b);
Size max(Size a, Size b);
Size product(std::span<const Size> sizes);

struct SizeRange {
  std::int64_t lo = 0;
  std::int64_t hi = std::numeric_limits<std::int64_t>::max();  ///< max() = no bound.
};

using SymbolId = std::uint32_t;

/// Where a symbol gets its value.
enum class SymbolOrigin : std::uint8_t {
  kInputDim,      ///< A dim of a graph input; bound by the shapes of a request.
  kHostResolved,  ///< An element of a small integer tensor that is read when it has been computed (a sync point).
  kDataDependent, ///< A dim of a value whose kernel finds its size (NonZero).
};

struct Symbol {
  std::string name;
  SizeRange range;
  std::int64_t divisor = 1;  ///< The value is a multiple of this.
  SymbolOrigin origin = SymbolOrigin::kInputDim;
};

/// A fact that must hold when shapes are bound; checked by the shape program with this message.
struct SizeGuard {
  Size a;
  Size b;
  std::string node;    ///< The source node that needs a == b.
  std::string reason;  ///< For example "dim 1 of A and dim 0 of B are multiplied".
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
  std::optional<SymbolId> findSymbol(std::string_view name) const;
  Size symbol(SymbolId id) const;

  /// Makes `a` and `b` equal: nothing when they are; an error when they cannot be; else records a guard and, where one side is a
  /// single atom, substitutes it from now on (see `resolve`).
  Status requireEqual(Size a, Size b, std::string node, std::string reason);
  const std::vector<SizeGuard>& guards() const;

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
  friend Size operator+(Size, Size);
  friend Size operator*(Size, Size);
  friend Size floorDiv(Size, Size);
  friend Size mod(Size, Size);
  friend Size min(Size, Size);
  friend Size max(Size, Size);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota
