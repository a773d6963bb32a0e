// SPDX-License-Identifier: Apache-2.0
// Ranges and divisibility of sizes.
//
// Three bounds from below compete, the best wins; the bound from above is that of the negated polynomial.
// (1) Interval arithmetic, term by term. (2) Each atom is replaced by its least value plus a non-negative rest; after expansion the
// constant is a bound if no coefficient is negative, which sees that a*b - b >= 0 for a >= 1. (3) An atom is replaced by what bounds it:
// c*floordiv(p, c) lies in [p - c + 1, p], mod(p, c) is at most p, min at most each operand, max at least each; this relates an
// atom to its own operands (h - floordiv(h, 2) >= 0). The search is cut off by a budget, so bounds are sound, not tight.
// Tested by src/core/size_test.cpp.
#include <algorithm>
#include <map>

#include "core/check.h"
#include "core/size_table.h"

namespace rota {
namespace {

constexpr int kBudget = 24;  // replacements of way (3) in one query
constexpr std::size_t kMaxExpansion = 512;

std::int64_t clamp(Int128 v) {
  if (v >= kUnbounded) return kUnbounded;
  if (v <= kUnboundedBelow) return kUnboundedBelow;
  return static_cast<std::int64_t>(v);
}

bool isInfinite(std::int64_t v) { return v == kUnbounded || v == kUnboundedBelow; }

std::int64_t times(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (isInfinite(a) || isInfinite(b)) return (a < 0) == (b < 0) ? kUnbounded : kUnboundedBelow;
  return clamp(Int128{a} * b);
}

SizeRange multiply(SizeRange a, SizeRange b) {
  const std::int64_t corners[] = {times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)};
  return {*std::min_element(std::begin(corners), std::end(corners)),
          *std::max_element(std::begin(corners), std::end(corners))};
}

SizeRange negate(SizeRange r) { return {times(r.hi, -1), times(r.lo, -1)}; }

SizeRange intervalOf(const Term& term) {
  SizeRange range{term.coefficient, term.coefficient};
  for (const Factor& factor : term.monomial) {
    const SizeRange atom = rangeOfAtom(factor.atom);
    SizeRange power{1, 1};
    for (std::uint32_t i = 0; i < factor.power; ++i) power = multiply(power, atom);
    if (factor.power % 2 == 0) power.lo = std::max<std::int64_t>(power.lo, 0);
    range = multiply(range, power);
  }
  return range;
}

std::int64_t intervalLow(const Terms& terms) {
  Int128 sum = 0;
  for (const Term& term : terms) {
    const std::int64_t lo = intervalOf(term).lo;
    // A constant of the least integer is a value, not an absent bound.
    if (lo == kUnboundedBelow && !term.monomial.empty()) return kUnboundedBelow;
    sum += lo;
  }
  return clamp(sum);
}

using Expansion = std::map<std::vector<const SizeAtom*>, Int128>;  // sorted atoms, repeated for powers

/// Adds `term` with each atom written as lo + rest; false where an atom has no least value or the numbers grow too large.
bool expandShifted(const Term& term, Expansion& expansion) {
  std::vector<std::pair<std::vector<const SizeAtom*>, Int128>> parts{{{}, term.coefficient}};
  for (const Factor& factor : term.monomial) {
    const std::int64_t lo = rangeOfAtom(factor.atom).lo;
    if (lo == kUnboundedBelow) return false;
    for (std::uint32_t i = 0; i < factor.power; ++i) {
      const std::size_t count = parts.size();
      if (2 * count > kMaxExpansion) return false;
      for (std::size_t k = 0; k < count; ++k) {
        auto shifted = parts[k];
        if (__builtin_mul_overflow(parts[k].second, Int128{lo}, &shifted.second)) return false;
        parts[k].first.push_back(factor.atom);
        if (shifted.second != 0) parts.push_back(std::move(shifted));
      }
    }
  }
  for (auto& [atoms, coefficient] : parts) {
    Int128& sum = expansion[atoms];
    if (__builtin_add_overflow(sum, coefficient, &sum)) return false;
  }
  return expansion.size() <= kMaxExpansion;
}

std::int64_t shiftedLow(const Terms& terms) {
  Expansion expansion;
  for (const Term& term : terms) {
    if (!expandShifted(term, expansion)) return kUnboundedBelow;
  }
  Int128 sum = 0;
  for (const auto& [atoms, coefficient] : expansion) {
    if (atoms.empty()) {
      sum += coefficient;
      continue;
    }
    if (coefficient >= 0) continue;
    std::int64_t most = clamp(coefficient);
    for (const SizeAtom* atom : atoms) {
      const SizeRange range = rangeOfAtom(atom);
      most = times(most, range.hi == kUnbounded ? kUnbounded : clamp(Int128{range.hi} - range.lo));
    }
    if (most == kUnboundedBelow) return kUnboundedBelow;
    sum += most;
  }
  return clamp(sum);
}

std::int64_t lowerBound(const Terms& terms, SizeTable& table, int& budget);

std::int64_t lowerBoundOf(Size s, SizeTable& table, int& budget) {
  if (!s.isValid()) return kUnboundedBelow;
  if (const auto value = s.constant()) return *value;
  return lowerBound(s.node()->terms, table, budget);
}

/// Way (3) for one atom: the polynomial is `rest` + `cofactor` * atom, where the cofactor is a term whose monomial is not negative.
std::int64_t replacedLow(Size rest, const Term& cofactor, const SizeAtom* atom, SizeTable& table,
                         int& budget) {
  const Size factor = table.makeSize({cofactor});
  const bool positive = cofactor.coefficient > 0;
  const auto lowWith = [&](Size replacement) {
    return lowerBoundOf(rest + factor * replacement, table, budget);
  };
  std::int64_t best = kUnboundedBelow;
  switch (atom->kind) {
    case AtomKind::kSymbol: break;
    case AtomKind::kFloorDiv: {
      const Size p = atom->operands[0];
      if (const auto c = atom->operands[1].constant(); c && *c > 0) {
        const Size bound = positive ? p - Size(*c - 1) : p;
        const std::int64_t scaled = lowerBoundOf(Size(*c) * rest + factor * bound, table, budget);
        if (!isInfinite(scaled)) best = -floorDivInt(-scaled, *c);
      } else if (!positive && rangeOf(p).lo >= 0 && rangeOf(atom->operands[1]).lo >= 1) {
        best = lowWith(p);
      }
      break;
    }
    case AtomKind::kMod:
      if (!positive && rangeOf(atom->operands[0]).lo >= 0 && rangeOf(atom->operands[1]).lo >= 1)
        best = lowWith(atom->operands[0]);
      break;
    case AtomKind::kMin:
    case AtomKind::kMax: {
      // One operand bounds it on one side; on the other side the worst of all operands does.
      const bool any = (atom->kind == AtomKind::kMax) == positive;
      if (!any) best = kUnbounded;
      for (Size operand : atom->operands)
        best = any ? std::max(best, lowWith(operand)) : std::min(best, lowWith(operand));
      break;
    }
  }
  return best;
}

std::int64_t lowerBound(const Terms& terms, SizeTable& table, int& budget) {
  std::int64_t best = intervalLow(terms);
  const bool hasNegative =
      std::any_of(terms.begin(), terms.end(), [](const Term& t) { return t.coefficient < 0; });
  if (hasNegative) best = std::max(best, shiftedLow(terms));
  for (std::size_t i = 0; i < terms.size() && terms.size() > 1; ++i) {
    for (const Factor& factor : terms[i].monomial) {
      if (factor.atom->kind == AtomKind::kSymbol || factor.power != 1 || budget <= 0) continue;
      --budget;
      Term cofactor{terms[i].coefficient, *divideMonomials(terms[i].monomial, {{factor.atom, 1}})};
      const bool isNonNegative = std::all_of(cofactor.monomial.begin(), cofactor.monomial.end(),
                                             [](const Factor& f) { return rangeOfAtom(f.atom).lo >= 0; });
      if (!isNonNegative) continue;
      Terms others = terms;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      best = std::max(best,
                      replacedLow(table.makeSize(std::move(others)), cofactor, factor.atom, table, budget));
    }
  }
  return best;
}

/// What representability alone says: a value minus 2^63 is negative, 2^63 - 1 minus a value is not.
void boundByConstant(const Terms& terms, SizeRange& range) {
  const Term& last = terms.back();
  if (!last.monomial.empty()) return;
  if (last.coefficient == kUnboundedBelow) range.hi = std::min<std::int64_t>(range.hi, -1);
  if (last.coefficient == kUnbounded && terms.size() == 2 && terms[0].coefficient < 0)
    range.lo = std::max<std::int64_t>(range.lo, 0);
}

SizeRange floorDivRange(SizeRange p, SizeRange q) {
  if (q.lo <= 0 && q.hi >= 0) return {kUnboundedBelow, kUnbounded};
  if (q.hi < 0) return floorDivRange(negate(p), negate(q));
  const auto divide = [](std::int64_t a, std::int64_t b) {
    if (isInfinite(a)) return a;
    if (b == kUnbounded) return a < 0 ? std::int64_t{-1} : std::int64_t{0};
    return floorDivInt(a, b);
  };
  return {divide(p.lo, p.lo >= 0 ? q.hi : q.lo), divide(p.hi, p.hi >= 0 ? q.lo : q.hi)};
}

SizeRange modRange(SizeRange p, SizeRange q) {
  if (q.lo <= 0 && q.hi >= 0) return {kUnboundedBelow, kUnbounded};
  if (q.hi < 0) return {q.lo == kUnboundedBelow ? kUnboundedBelow : q.lo + 1, 0};
  if (p.lo >= 0 && p.hi < q.lo) return p;
  SizeRange range{0, q.hi == kUnbounded ? kUnbounded : q.hi - 1};
  if (p.lo >= 0) range.hi = std::min(range.hi, p.hi);
  return range;
}

SizeRange plainRangeOfAtom(const SizeAtom* atom) {
  if (atom->kind == AtomKind::kFloorDiv)
    return floorDivRange(rangeOf(atom->operands[0]), rangeOf(atom->operands[1]));
  if (atom->kind == AtomKind::kMod) return modRange(rangeOf(atom->operands[0]), rangeOf(atom->operands[1]));
  SizeRange range = rangeOf(atom->operands[0]);
  for (Size operand : atom->operands) {
    const SizeRange other = rangeOf(operand);
    const bool isMin = atom->kind == AtomKind::kMin;
    range.lo = isMin ? std::min(range.lo, other.lo) : std::max(range.lo, other.lo);
    range.hi = isMin ? std::min(range.hi, other.hi) : std::max(range.hi, other.hi);
  }
  return range;
}

}  // namespace

SizeRange rangeOfAtom(const SizeAtom* atom) {
  if (atom->kind == AtomKind::kSymbol) return atom->table->symbols[atom->symbol].range;
  SizeRange range = plainRangeOfAtom(atom);
  if (range.lo < 0 && range.hi >= 0 && atom->table->facts.nonNegativeAtoms.contains(atom)) range.lo = 0;
  return range;
}

SizeRange rangeOf(Size s) {
  if (const auto value = s.constant()) return {*value, *value};
  if (!s.isValid()) return {kUnboundedBelow, kUnbounded};
  const SizeNode& node = *s.node();
  SizeTable& table = *node.table;
  if (node.rangeEpoch == table.epoch) return node.range;
  int budgetLow = kBudget;
  int budgetHigh = kBudget;
  SizeRange range;
  range.lo = lowerBound(node.terms, table, budgetLow);
  Terms negated = node.terms;
  bool canNegate = true;
  for (Term& term : negated) {
    canNegate = canNegate && term.coefficient != kUnboundedBelow;
    if (canNegate) term.coefficient = -term.coefficient;
  }
  range.hi = canNegate ? times(lowerBound(negated, table, budgetHigh), -1) : kUnbounded;
  boundByConstant(node.terms, range);
  if (range.lo < 0 && table.facts.nonNegative.contains(&node)) range.lo = 0;
  // Contradictory facts (a symbol narrowed to nothing) must not turn into an inverted interval.
  if (range.lo > range.hi) range.lo = range.hi;
  node.range = range;
  node.rangeEpoch = table.epoch;
  return range;
}

bool provablyAtLeast(Size a, Size b) {
  if (!a.isValid() || !b.isValid()) return false;
  if (a.is(kUnbounded) || b.is(kUnboundedBelow)) return true;
  if (rangeOf(b).hi != kUnbounded && rangeOf(a).lo >= rangeOf(b).hi) return true;
  const Size difference = a - b;
  return difference.isValid() && rangeOf(difference).lo >= 0;
}

bool provablyDivisible(Size s, std::int64_t divisor) {
  CHECK(divisor > 0);
  if (!s.isValid()) return false;
  if (const auto value = s.constant()) return *value % divisor == 0;
  const SizeTable& table = *tableOf(s);
  for (const SizeAtom* exact : table.facts.exact) {
    const auto known = exact->operands[1].constant();
    if (exact->operands[0] == s && known && *known % divisor == 0) return true;
  }
  for (const Term& term : s.node()->terms) {
    std::int64_t left = divisor / gcdInt(divisor, term.coefficient);
    for (const Factor& factor : term.monomial) {
      for (std::uint32_t i = 0; i < factor.power && left > 1; ++i) {
        const SizeAtom* atom = factor.atom;
        if (atom->kind == AtomKind::kSymbol) {
          left /= gcdInt(left, table.symbols[atom->symbol].divisor);
        } else if (atom->kind == AtomKind::kMin || atom->kind == AtomKind::kMax) {
          const bool all = std::all_of(atom->operands.begin(), atom->operands.end(),
                                       [left](Size operand) { return provablyDivisible(operand, left); });
          if (all) left = 1;
        }
      }
    }
    if (left > 1) return false;
  }
  return true;
}

bool SizeTable::knowsExact(const SizeAtom* atom) {
  if (const auto c = atom->operands[1].constant(); c && *c > 0)
    return provablyDivisible(atom->operands[0], *c);
  return std::find(facts.exact.begin(), facts.exact.end(), atom) != facts.exact.end();
}

SizeRange SizeContext::range(Size s) const { return rangeOf(s); }

bool SizeContext::divisible(Size a, std::int64_t divisor) const {
  if (divisor == 0) return false;
  if (divisor == kUnboundedBelow) return a.is(0) || a.is(kUnboundedBelow);
  return provablyDivisible(a, divisor < 0 ? -divisor : divisor);
}

}  // namespace rota
