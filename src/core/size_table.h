// SPDX-License-Identifier: Apache-2.0
// The inside of a SizeContext: interned atoms and polynomials. Only the size_*.cpp files include this.
//
// A polynomial is a list of terms in descending graded lexicographic order of their monomials (an admissible order, so
// long division works on it as it stands); the constant comes last. Atoms are ordered symbols first, by id, then compound
// atoms by kind and operands, never by address, so that equal expressions print equally in every context.
// Interning makes equal polynomials one node; nodes live as long as the context.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/size.h"

namespace rota {

__extension__ typedef __int128 Int128;

inline constexpr std::size_t kMaxTerms = 256;
inline constexpr std::uint32_t kMaxWeight = 4096;
inline constexpr std::uint32_t kMaxDepth = 64;
inline constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kUnboundedBelow = std::numeric_limits<std::int64_t>::min();

enum class AtomKind : std::uint8_t { kSymbol, kFloorDiv, kMod, kMin, kMax };

struct SizeTable;

struct SizeAtom {
  AtomKind kind = AtomKind::kSymbol;
  SymbolId symbol = 0;
  std::vector<Size> operands;  // two for floordiv and mod; a sorted set for min and max
  std::uint32_t weight = 1;    // atoms of the expression written as a tree
  std::uint32_t depth = 1;
  SizeTable* table = nullptr;
};

struct Factor {
  const SizeAtom* atom = nullptr;
  std::uint32_t power = 1;
  bool operator==(const Factor&) const = default;
};
using Monomial = std::vector<Factor>;  // sorted by atom

struct Term {
  std::int64_t coefficient = 0;
  Monomial monomial;
  bool operator==(const Term&) const = default;
};
using Terms = std::vector<Term>;  // sorted, no zero coefficients

struct SizeNode {
  Terms terms;
  std::uint32_t weight = 0;
  std::uint32_t depth = 0;
  SizeTable* table = nullptr;
  mutable std::uint64_t rangeEpoch = 0;  // 0: `range` is not known
  mutable SizeRange range;
};

struct AtomHash {
  std::size_t operator()(const SizeAtom* atom) const;
};
struct AtomEqual {
  bool operator()(const SizeAtom* a, const SizeAtom* b) const;
};
struct NodeHash {
  std::size_t operator()(const SizeNode* node) const;
};
struct NodeEqual {
  bool operator()(const SizeNode* a, const SizeNode* b) const;
};

using GuardKey =
    std::tuple<const SizeNode*, std::int64_t, const SizeNode*, std::int64_t, GuardKind, std::uint32_t>;

/// What has been learnt about sizes.
struct SizeFacts {
  std::unordered_map<const SizeAtom*, Size> substitutions;
  std::vector<const SizeAtom*> exact;  // floordiv atoms whose division is known to have no remainder
  std::unordered_set<const SizeNode*> nonNegative;
  std::unordered_set<const SizeAtom*> nonNegativeAtoms;
};

/// What popScope brings back.
struct SizeScope {
  std::uint32_t scope = 0;
  SizeFacts facts;
  std::vector<Symbol> symbols;
};

struct SizeTable {
  std::vector<Symbol> symbols;
  std::unordered_map<std::string, SymbolId> symbolNames;
  std::vector<Size> symbolSizes;

  std::unordered_map<const SizeAtom*, std::unique_ptr<SizeAtom>, AtomHash, AtomEqual> atoms;
  std::unordered_map<const SizeNode*, std::unique_ptr<SizeNode>, NodeHash, NodeEqual> nodes;

  std::vector<SizeGuard> guards;
  std::set<GuardKey> guardKeys;
  SizeFacts facts;
  bool hasDivisors = false;
  std::vector<SizeScope> scopes;

  // Changes whenever a fact changes; results that depend on facts are kept for one epoch.
  std::uint64_t epoch = 1;
  std::uint64_t resolvedEpoch = 1;
  std::unordered_map<const SizeAtom*, Size> resolvedAtoms;
  std::unordered_map<const SizeNode*, Size> resolvedNodes;

  const SizeAtom* internAtom(SizeAtom atom);
  /// The size of sorted, combined terms.
  Size makeSize(Terms terms);
  /// The size that is just `atom`.
  Size sizeOf(const SizeAtom* atom);
  /// A compound atom as a size; invalid beyond the limits.
  Size makeAtom(AtomKind kind, std::vector<Size> operands);
  bool knowsExact(const SizeAtom* floorDivAtom);
};

struct SizeContext::Impl : SizeTable {};

// size.cpp
SizeTable* tableOf(Size a);
SizeTable* tableOf(Size a, Size b);
int compareAtoms(const SizeAtom* a, const SizeAtom* b);
int compareMonomials(const Monomial& a, const Monomial& b);
int compareSizes(Size a, Size b);
/// The terms of a valid size; a constant has at most one.
Terms termsOf(Size s);
/// Sorts, combines equal monomials and drops zeros; nothing on overflow.
std::optional<Terms> combine(Terms terms);
std::optional<Monomial> divideMonomials(const Monomial& a, const Monomial& b);
/// The atom that `s` is, or nullptr.
const SizeAtom* asAtom(Size s);
std::int64_t floorDivInt(std::int64_t a, std::int64_t b);
std::int64_t modInt(std::int64_t a, std::int64_t b);
std::int64_t gcdInt(std::int64_t a, std::int64_t b);

// size_range.cpp
SizeRange rangeOf(Size s);
SizeRange rangeOfAtom(const SizeAtom* atom);
/// a - b >= 0 for every value of the symbols, as far as can be seen.
bool provablyAtLeast(Size a, Size b);
/// `divisor` divides `s` for every value of the symbols.
bool provablyDivisible(Size s, std::int64_t divisor);

}  // namespace rota
