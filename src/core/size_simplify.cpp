// SPDX-License-Identifier: Apache-2.0
// floordiv, mod, min and max of canonical polynomials: what can be said without an atom is said without one.
//
// By constants: coefficients are split off (floordiv(2*x + 5, 2) = x + 2 + floordiv(1, 2)), common factors cancel, nested divisions
// merge (floordiv(floordiv(p, a) + r, b) = floordiv(p + a*r, a*b)), which keeps the height of a feature map after five strided
// convolutions one atom. By polynomials: exact long division, and terms that a single-term divisor divides. Ranges decide the rest.
// All identities hold for floor division over the integers (Graham, Knuth, Patashnik, Concrete Mathematics, 3.2 and 3.4).
// Tested by src/core/size_test.cpp.
#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "core/checked.h"
#include "core/size_table.h"

namespace rota {
namespace {

constexpr std::size_t kMaxDominanceOperands = 32;

std::int64_t contentOf(const Terms& terms, bool withConstant) {
  std::int64_t content = 0;
  for (const Term& term : terms) {
    if (withConstant || !term.monomial.empty()) content = gcdInt(content, term.coefficient);
  }
  return content == 0 ? 1 : content;
}

/// Splits `terms` into divisor * quotient + rest, with the coefficients of `rest` below the divisor.
void splitByConstant(const Terms& terms, std::int64_t divisor, Terms& quotient, Terms& rest) {
  for (const Term& term : terms) {
    // Truncation keeps x - y as it is; constants are reduced to [0, divisor), which makes them canonical.
    const bool isConstant = term.monomial.empty();
    const std::int64_t part =
        isConstant ? floorDivInt(term.coefficient, divisor) : term.coefficient / divisor;
    const std::int64_t left = term.coefficient - part * divisor;
    if (part != 0) quotient.push_back({part, term.monomial});
    if (left != 0) rest.push_back({left, term.monomial});
  }
}

/// floordiv(p, a) with coefficient 1 as the only division of `rest`, or nullptr.
const SizeAtom* onlyNestedDivision(const Terms& rest) {
  const SizeAtom* nested = nullptr;
  for (const Term& term : rest) {
    for (const Factor& factor : term.monomial) {
      if (factor.atom->kind != AtomKind::kFloorDiv) continue;
      const bool isPlain = term.coefficient == 1 && term.monomial.size() == 1 && factor.power == 1;
      if (nested != nullptr || !isPlain || !factor.atom->operands[1].isConstant()) return nullptr;
      nested = factor.atom;
    }
  }
  return nested;
}

Size divideByConstant(Size a, std::int64_t c) {
  SizeTable& table = *tableOf(a);
  if (c == 1) return a;
  if (c < 0)
    return c == kUnboundedBelow ? table.makeAtom(AtomKind::kFloorDiv, {a, c})
                                : floorDiv(Size(-1) * a, Size(-c));

  Terms quotient;
  Terms rest;
  splitByConstant(termsOf(a), c, quotient, rest);
  if (!quotient.empty())
    return table.makeSize(std::move(quotient)) + floorDiv(table.makeSize(std::move(rest)), c);
  if (rest.front().coefficient < 0) {
    // floordiv(-p, c) = -ceildiv(p, c): the leading coefficient is positive in canonical form.
    return Size(-1) * floorDiv(Size(-1) * a + Size(c - 1), c);
  }
  const std::int64_t common = gcdInt(contentOf(rest, false), c);
  if (common > 1) {
    // The constant that does not reach the common factor has no effect.
    Terms reduced;
    for (const Term& term : rest) {
      const std::int64_t coefficient = floorDivInt(term.coefficient, common);
      if (coefficient != 0) reduced.push_back({coefficient, term.monomial});
    }
    return floorDiv(table.makeSize(std::move(reduced)), c / common);
  }
  if (const SizeAtom* nested = onlyNestedDivision(rest)) {
    const std::int64_t inner = *nested->operands[1].constant();
    if (const auto both = checkedMul(inner, c); both && inner > 0) {
      const Size merged = nested->operands[0] + Size(inner) * (a - table.sizeOf(nested));
      if (merged.isValid()) return floorDiv(merged, *both);
    }
  }
  const SizeRange range = rangeOf(a);
  if (range.lo != kUnboundedBelow && range.hi != kUnbounded &&
      floorDivInt(range.lo, c) == floorDivInt(range.hi, c)) {
    return floorDivInt(range.lo, c);
  }
  return table.makeAtom(AtomKind::kFloorDiv, {a, c});
}

/// The greatest monomial and integer that divide every term of both, as a single term; atoms only where they are never zero.
Term commonFactor(const Terms& a, const Terms& b) {
  Term common{gcdInt(contentOf(a, true), contentOf(b, true)), b.front().monomial};
  for (const Terms* terms : {&a, &b}) {
    for (const Term& term : *terms) {
      Monomial shared;
      for (const Factor& factor : common.monomial) {
        const auto same = std::find_if(term.monomial.begin(), term.monomial.end(),
                                       [&](const Factor& other) { return other.atom == factor.atom; });
        if (same != term.monomial.end()) shared.push_back({factor.atom, std::min(factor.power, same->power)});
      }
      common.monomial = std::move(shared);
    }
  }
  std::erase_if(common.monomial, [](const Factor& factor) { return rangeOfAtom(factor.atom).lo < 1; });
  return common;
}

Size divideBySize(Size a, Size b) {
  SizeTable& table = *tableOf(a, b);
  const SizeRange rangeB = rangeOf(b);
  if (rangeB.lo > 0 || rangeB.hi < 0) {
    if (const auto exact = divideExact(a, b)) return *exact;
  }
  if (rangeB.lo >= 1) {
    const Terms divisor = termsOf(b);
    if (divisor.size() == 1) {
      Terms quotient;
      Terms rest;
      for (const Term& term : termsOf(a)) {
        const auto monomial = divideMonomials(term.monomial, divisor[0].monomial);
        const std::int64_t part = monomial ? term.coefficient / divisor[0].coefficient : 0;
        const std::int64_t left = term.coefficient - part * divisor[0].coefficient;
        if (part != 0) quotient.push_back({part, *monomial});
        if (left != 0) rest.push_back({left, term.monomial});
      }
      if (!quotient.empty())
        return table.makeSize(std::move(quotient)) + floorDiv(table.makeSize(std::move(rest)), b);
    }
    if (!a.is(0)) {
      const Term common = commonFactor(termsOf(a), divisor);
      if (common.coefficient > 1 || !common.monomial.empty()) {
        const Size factor = table.makeSize({common});
        const auto lessA = divideExact(a, factor);
        const auto lessB = divideExact(b, factor);
        if (lessA && lessB) return floorDiv(*lessA, *lessB);
      }
    }
    const SizeAtom* nested = asAtom(a);
    if (nested != nullptr && nested->kind == AtomKind::kFloorDiv && rangeOf(nested->operands[1]).lo >= 1) {
      return floorDiv(nested->operands[0], nested->operands[1] * b);
    }
    if (rangeOf(a).lo >= 0 && provablyAtLeast(b, a + 1)) return 0;
  }
  return table.makeAtom(AtomKind::kFloorDiv, {a, b});
}

Size modByConstant(Size a, std::int64_t c) {
  SizeTable& table = *tableOf(a);
  if (c == 1 || c == -1) return 0;
  if (c < 0)
    return c == kUnboundedBelow ? table.makeAtom(AtomKind::kMod, {a, c})
                                : Size(-1) * mod(Size(-1) * a, Size(-c));
  Terms quotient;
  Terms rest;
  splitByConstant(termsOf(a), c, quotient, rest);
  if (!quotient.empty()) return mod(table.makeSize(std::move(rest)), c);
  if (provablyDivisible(a, c)) return 0;
  const SizeRange range = rangeOf(a);
  if (range.lo >= 0 && range.hi < c) return a;
  if (const std::int64_t common = gcdInt(contentOf(rest, true), c); common > 1) {
    return Size(common) * mod(*divideExact(a, common), c / common);
  }
  // An inner mod by a multiple of c has no effect.
  for (const Term& term : rest) {
    if (term.monomial.size() != 1 || term.monomial[0].power != 1) continue;
    const SizeAtom* atom = term.monomial[0].atom;
    if (atom->kind != AtomKind::kMod || !atom->operands[1].isConstant() ||
        *atom->operands[1].constant() % c != 0)
      continue;
    const Size without = a - Size(term.coefficient) * table.sizeOf(atom);
    return mod(without + Size(term.coefficient) * atom->operands[0], c);
  }
  return table.makeAtom(AtomKind::kMod, {a, c});
}

Size modBySize(Size a, Size b) {
  SizeTable& table = *tableOf(a, b);
  const SizeRange rangeB = rangeOf(b);
  if ((rangeB.lo > 0 || rangeB.hi < 0) && divideExact(a, b)) return 0;
  if (rangeB.lo >= 1 && rangeOf(a).lo >= 0 && provablyAtLeast(b, a + 1)) return a;
  for (const SizeAtom* exact : table.facts.exact) {
    if (exact->operands[0] == a && exact->operands[1] == b) return 0;
  }
  return table.makeAtom(AtomKind::kMod, {a, b});
}

/// The sorted set of operands of min or max with nested ones of the same kind opened and constants folded.
std::vector<Size> gather(Size a, Size b, AtomKind kind) {
  std::vector<Size> operands;
  std::optional<std::int64_t> folded;
  const auto add = [&](Size s) {
    if (const auto value = s.constant()) {
      folded = !folded                  ? *value
               : kind == AtomKind::kMin ? std::min(*folded, *value)
                                        : std::max(*folded, *value);
    } else {
      operands.push_back(s);
    }
  };
  for (Size side : {a, b}) {
    const SizeAtom* atom = asAtom(side);
    if (atom != nullptr && atom->kind == kind) {
      for (Size operand : atom->operands) add(operand);
    } else {
      add(side);
    }
  }
  if (folded) operands.push_back(*folded);
  std::sort(operands.begin(), operands.end(), [](Size x, Size y) { return compareSizes(x, y) < 0; });
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  return operands;
}

Size extreme(Size a, Size b, AtomKind kind) {
  if (!a.isValid() || !b.isValid()) return Size::invalid();
  if (a == b) return a;
  std::vector<Size> operands = gather(a, b, kind);
  // Drop what another operand always beats. Of two that beat each other (equal values) the later one goes.
  for (std::size_t i = operands.size();
       i-- > 0 && operands.size() > 1 && operands.size() <= kMaxDominanceOperands;) {
    const bool isBeaten = std::any_of(operands.begin(), operands.end(), [&](Size other) {
      if (other == operands[i]) return false;
      return kind == AtomKind::kMax ? provablyAtLeast(other, operands[i])
                                    : provablyAtLeast(operands[i], other);
    });
    if (isBeaten) operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (operands.size() == 1) return operands.front();
  return tableOf(a, b)->makeAtom(kind, std::move(operands));
}

}  // namespace

Size floorDiv(Size a, Size b) {
  if (!a.isValid() || !b.isValid() || b.is(0)) return Size::invalid();
  if (a.isConstant() && b.isConstant()) {
    if (b.is(-1)) return Size(-1) * a;
    return floorDivInt(*a.constant(), *b.constant());
  }
  if (b.isConstant()) return divideByConstant(a, *b.constant());
  return divideBySize(a, b);
}

Size ceilDiv(Size a, Size b) {
  if (const auto divisor = b.constant(); divisor && *divisor > 0) return floorDiv(a + Size(*divisor - 1), b);
  return Size(-1) * floorDiv(Size(-1) * a, b);
}

Size mod(Size a, Size b) {
  if (!a.isValid() || !b.isValid() || b.is(0)) return Size::invalid();
  if (a.isConstant() && b.isConstant()) return modInt(*a.constant(), *b.constant());
  if (b.isConstant()) return modByConstant(a, *b.constant());
  return modBySize(a, b);
}

Size min(Size a, Size b) { return extreme(a, b, AtomKind::kMin); }
Size max(Size a, Size b) { return extreme(a, b, AtomKind::kMax); }

}  // namespace rota
