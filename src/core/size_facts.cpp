// SPDX-License-Identifier: Apache-2.0
// Facts about sizes: equalities that operators imply, broadcasts, scopes of conditional blocks, and `resolve`, which rebuilds a
// size under all that is known.
//
// An equality becomes a guard (checked at binding, on the expressions as they stood) and, where one side is a single atom, a substitution
// atom := other side. Terms that both sides share, common factors and atoms that cannot be zero are cancelled first, so that
// batch*seq == batch*n gives seq := n. A substitution never contains the atom it replaces; `resolve` runs to a fixpoint with a depth limit.
// Tested by src/core/size_facts_test.cpp.
#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "core/checked.h"
#include "core/size_table.h"

namespace rota {
namespace {

constexpr std::uint32_t kMaxResolveDepth = 64;

bool occurs(const SizeAtom* atom, Size in) {
  if (in.node() == nullptr) return false;
  for (const Term& term : in.node()->terms) {
    for (const Factor& factor : term.monomial) {
      if (factor.atom == atom) return true;
      for (Size operand : factor.atom->operands) {
        if (occurs(atom, operand)) return true;
      }
    }
  }
  return false;
}

Size rebuild(const SizeAtom* atom, const std::vector<Size>& operands) {
  switch (atom->kind) {
    case AtomKind::kSymbol: return atom->table->symbolSizes[atom->symbol];
    case AtomKind::kFloorDiv: return floorDiv(operands[0], operands[1]);
    case AtomKind::kMod: return mod(operands[0], operands[1]);
    case AtomKind::kMin:
    case AtomKind::kMax: break;
  }
  Size result = operands[0];
  for (Size operand : operands)
    result = atom->kind == AtomKind::kMin ? min(result, operand) : max(result, operand);
  return result;
}

class Resolver {
 public:
  explicit Resolver(SizeTable& table) : table_(table) {
    if (table.resolvedEpoch == table.epoch) return;
    table.resolvedAtoms.clear();
    table.resolvedNodes.clear();
    table.resolvedEpoch = table.epoch;
  }

  Size resolve(Size s, std::uint32_t depth) {
    if (s.node() == nullptr || depth > kMaxResolveDepth) return s;
    if (const auto known = table_.resolvedNodes.find(s.node()); known != table_.resolvedNodes.end())
      return known->second;
    Size result = 0;
    for (const Term& term : s.node()->terms) {
      Size value = term.coefficient;
      for (const Factor& factor : term.monomial) {
        const Size atom = resolveAtom(factor.atom, depth + 1);
        for (std::uint32_t i = 0; i < factor.power; ++i) value = value * atom;
      }
      result = result + value;
    }
    table_.resolvedNodes.emplace(s.node(), result);
    return result;
  }

 private:
  Size resolveAtom(const SizeAtom* atom, std::uint32_t depth) {
    if (depth > kMaxResolveDepth) return table_.sizeOf(atom);
    if (const auto known = table_.resolvedAtoms.find(atom); known != table_.resolvedAtoms.end())
      return known->second;
    const Size plain = table_.sizeOf(atom);
    Size result = plain;
    if (const auto found = table_.facts.substitutions.find(atom); found != table_.facts.substitutions.end()) {
      result = resolve(found->second, depth + 1);
    } else if (atom->kind != AtomKind::kSymbol) {
      std::vector<Size> operands;
      operands.reserve(atom->operands.size());
      for (Size operand : atom->operands) operands.push_back(resolve(operand, depth + 1));
      result = rebuild(atom, operands);
      if (result != plain) result = resolve(result, depth + 1);
    }
    table_.resolvedAtoms.emplace(atom, result);
    return result;
  }

  SizeTable& table_;
};

Size resolveIn(SizeTable& table, Size s) { return Resolver(table).resolve(s, 0); }

/// The two sides of an equation with everything that cancels removed; both have positive coefficients only.
struct Equation {
  Size left = 0;
  Size right = 0;
  bool impossible = false;  // no integers can make it true
};

Equation normalised(SizeTable& table, Size difference) {
  Terms terms = termsOf(difference);
  std::int64_t content = 0;
  for (const Term& term : terms) {
    if (!term.monomial.empty()) content = gcdInt(content, term.coefficient);
  }
  if (terms.back().monomial.empty() && terms.back().coefficient % content != 0) return {0, 0, true};
  Monomial common = terms.front().monomial;
  for (const Term& term : terms) {
    Monomial shared;
    for (const Factor& factor : common) {
      for (const Factor& other : term.monomial) {
        if (other.atom == factor.atom) shared.push_back({factor.atom, std::min(factor.power, other.power)});
      }
    }
    common = std::move(shared);
  }
  std::erase_if(common, [](const Factor& factor) { return rangeOfAtom(factor.atom).lo < 1; });
  Equation equation;
  Terms left;
  Terms right;
  for (const Term& term : terms) {
    const std::int64_t coefficient = term.coefficient / content;
    if (coefficient > 0) {
      left.push_back({coefficient, *divideMonomials(term.monomial, common)});
    } else {
      right.push_back({-coefficient, *divideMonomials(term.monomial, common)});
    }
  }
  // Division by a common monomial keeps the order of the terms.
  equation.left = table.makeSize(std::move(left));
  equation.right = table.makeSize(std::move(right));
  return equation;
}

void addGuard(SizeTable& table, Size a, Size b, GuardKind kind, std::string node, std::string reason) {
  const std::uint32_t scope = table.scopes.empty() ? 0 : table.scopes.back().scope;
  if (compareSizes(b, a) < 0) std::swap(a, b);
  const GuardKey key{a.node(), a.constant().value_or(0), b.node(), b.constant().value_or(0), kind, scope};
  if (table.guardKeys.insert(key).second)
    table.guards.push_back({a, b, std::move(node), std::move(reason), kind, scope});
}

/// q * floordiv(p, q) == p, or mod(p, q) == 0: from now on the division is exact.
void learnExactDivision(SizeTable& table, Size difference, const Equation& equation) {
  const SizeAtom* division = nullptr;
  if (difference.node() == nullptr) return;
  for (const Term& term : difference.node()->terms) {
    for (const Factor& factor : term.monomial) {
      if (factor.atom->kind != AtomKind::kFloorDiv) continue;
      const Size remainder = factor.atom->operands[0] - factor.atom->operands[1] * table.sizeOf(factor.atom);
      if (remainder == difference || Size(-1) * remainder == difference) division = factor.atom;
    }
  }
  const SizeAtom* left = asAtom(equation.left);
  if (left != nullptr && left->kind == AtomKind::kMod && equation.right.is(0)) {
    SizeAtom atom;
    atom.kind = AtomKind::kFloorDiv;
    atom.operands = left->operands;
    atom.weight = left->weight;
    atom.depth = left->depth;
    division = table.internAtom(std::move(atom));
  }
  if (division == nullptr) return;
  const SizeAtom* symbol = asAtom(division->operands[0]);
  const auto divisor = division->operands[1].constant();
  if (symbol != nullptr && symbol->kind == AtomKind::kSymbol && divisor && *divisor > 0) {
    Symbol& entry = table.symbols[symbol->symbol];
    if (const auto both = checkedMul(entry.divisor / gcdInt(entry.divisor, *divisor), *divisor))
      entry.divisor = *both;
    table.hasDivisors = true;
  } else {
    table.facts.exact.push_back(division);
  }
  ++table.epoch;
}

/// Which of two sides is to be replaced: the later symbol, else a symbol, else the larger atom. nullptr: neither can be.
const SizeAtom* replaceable(const SizeTable& table, Size a, Size b) {
  const SizeAtom* atomA = asAtom(a);
  const SizeAtom* atomB = asAtom(b);
  if (atomA != nullptr && occurs(atomA, b)) atomA = nullptr;
  if (atomB != nullptr && occurs(atomB, a)) atomB = nullptr;
  if (atomA == nullptr || atomB == nullptr) return atomA != nullptr ? atomA : atomB;
  const bool symbolA = atomA->kind == AtomKind::kSymbol;
  const bool symbolB = atomB->kind == AtomKind::kSymbol;
  if (symbolA != symbolB) return symbolA ? atomA : atomB;
  if (!symbolA) return compareAtoms(atomA, atomB) < 0 && atomA->weight <= atomB->weight ? atomB : atomA;
  // Input dims are known earlier than sizes that a kernel finds, so they stay.
  const auto key = [&](const SizeAtom* atom) {
    return std::pair(table.symbols[atom->symbol].origin, atom->symbol);
  };
  return key(atomA) < key(atomB) ? atomB : atomA;
}

void narrow(Symbol& symbol, SizeRange range) {
  const SizeRange both{std::max(symbol.range.lo, range.lo), std::min(symbol.range.hi, range.hi)};
  if (both.lo <= both.hi) symbol.range = both;
}

void substitute(SizeTable& table, const SizeAtom* atom, Size by) {
  if (atom->kind == AtomKind::kSymbol) {
    Symbol& replaced = table.symbols[atom->symbol];
    const SizeAtom* kept = asAtom(by);
    if (kept != nullptr && kept->kind == AtomKind::kSymbol) {
      Symbol& other = table.symbols[kept->symbol];
      narrow(other, replaced.range);
      const auto both = checkedMul(other.divisor / gcdInt(other.divisor, replaced.divisor), replaced.divisor);
      if (both) other.divisor = *both;
    }
    narrow(replaced, rangeOf(by));
  } else if (const SizeAtom* kept = asAtom(by); kept != nullptr && kept->kind == AtomKind::kSymbol) {
    narrow(table.symbols[kept->symbol], rangeOfAtom(atom));
  }
  table.facts.substitutions[atom] = by;
  ++table.epoch;
}

}  // namespace

Size SizeContext::resolve(Size s) const {
  // Without any fact learnt since the first symbol, sizes are as they were built.
  if (s.node() == nullptr || impl_->epoch == 1) return s;
  CHECK(s.node()->table == impl_.get());
  return resolveIn(*impl_, s);
}

Status SizeContext::requireEqual(Size a, Size b, std::string node, std::string reason) {
  a = resolve(a);
  b = resolve(b);
  if (!a.isValid() || !b.isValid()) {
    return Status(ErrorCode::kModelTooLarge, "a size is too large to compute with: " + reason)
        .at(std::move(node));
  }
  if (a == b) return Status::ok();
  const auto mismatch = [&] {
    return Status(ErrorCode::kShapeMismatch, "sizes that must be equal are not: " + reason)
        .at(std::move(node))
        .expected(toString(a))
        .found(toString(b));
  };
  if (a.isConstant() && b.isConstant()) return mismatch();
  const Size difference = a - b;
  if (!difference.isValid() || difference.isConstant()) {
    if (difference.isConstant()) return mismatch();
    addGuard(*impl_, a, b, GuardKind::kEqual, std::move(node), std::move(reason));
    return Status::ok();
  }
  const SizeRange range = rangeOf(difference);
  if (range.lo > 0 || range.hi < 0) return mismatch();
  const Equation equation = normalised(*impl_, difference);
  if (equation.impossible) return mismatch();
  addGuard(*impl_, a, b, GuardKind::kEqual, std::move(node), std::move(reason));
  learnExactDivision(*impl_, difference, equation);
  if (!equation.left.isValid() || !equation.right.isValid()) return Status::ok();
  if (const SizeAtom* atom = replaceable(*impl_, equation.left, equation.right)) {
    substitute(*impl_, atom, asAtom(equation.left) == atom ? equation.right : equation.left);
  }
  return Status::ok();
}

void SizeContext::requireBroadcastable(Size a, Size b, std::string node, std::string reason) {
  a = resolve(a);
  b = resolve(b);
  if (a == b || a.is(1) || b.is(1)) return;
  addGuard(*impl_, a, b, GuardKind::kBroadcast, std::move(node), std::move(reason));
}

Result<Size> SizeContext::broadcast(Size a, Size b, std::string node, std::string reason) {
  a = resolve(a);
  b = resolve(b);
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  const auto excludes = [this](Size s, std::int64_t value) { return !range(s).contains(value); };
  const bool onlyEqual = excludes(a, 1) && excludes(b, 1);
  if (onlyEqual) {
    ROTA_RETURN_IF_ERROR(requireEqual(a, b, std::move(node), std::move(reason)));
    return resolve(a);
  }
  if (b.isConstant()) std::swap(a, b);
  if (const auto constant = a.constant()) {
    // The other side may be 1; if it cannot be the constant, it has to be.
    if (excludes(b, *constant)) {
      ROTA_RETURN_IF_ERROR(requireEqual(b, 1, std::move(node), std::move(reason)));
    } else {
      requireBroadcastable(a, b, std::move(node), std::move(reason));
    }
    return a;
  }
  requireBroadcastable(a, b, std::move(node), std::move(reason));
  if (excludes(a, 1)) return a;
  if (excludes(b, 1)) return b;
  const Size larger = max(a, b);
  if (range(a).lo >= 1 && range(b).lo >= 1) return larger;
  return larger * min(a, 1) * min(b, 1);  // a dim of 0 wins over a dim of 1
}

const std::vector<SizeGuard>& SizeContext::guards() const { return impl_->guards; }

void SizeContext::assumeNonNegative(Size s) {
  s = resolve(s);
  if (s.node() == nullptr || range(s).lo >= 0) return;
  if (const auto symbol = asSymbol(s)) {
    narrow(impl_->symbols[*symbol], {0, kUnbounded});
  } else {
    impl_->facts.nonNegative.insert(s.node());
    if (const SizeAtom* atom = asAtom(s)) impl_->facts.nonNegativeAtoms.insert(atom);
  }
  ++impl_->epoch;
}

void SizeContext::pushScope(std::uint32_t scope) {
  std::erase_if(impl_->guards, [scope](const SizeGuard& guard) { return guard.scope == scope; });
  std::erase_if(impl_->guardKeys,
                [scope](const GuardKey& key) { return std::get<std::uint32_t>(key) == scope; });
  impl_->scopes.push_back({scope, impl_->facts, impl_->symbols});
}

void SizeContext::popScope() {
  CHECK(!impl_->scopes.empty());
  SizeScope& scope = impl_->scopes.back();
  impl_->facts = std::move(scope.facts);
  std::move(scope.symbols.begin(), scope.symbols.end(), impl_->symbols.begin());
  impl_->scopes.pop_back();
  ++impl_->epoch;
}

Size SizeContext::adopt(Size other) {
  if (other.node() == nullptr || other.node()->table == impl_.get()) return other;
  Terms terms;
  for (const Term& term : other.node()->terms) {
    Term copy{term.coefficient, {}};
    for (const Factor& factor : term.monomial) {
      SizeAtom atom;
      atom.kind = factor.atom->kind;
      atom.symbol = factor.atom->symbol;
      CHECK(atom.kind != AtomKind::kSymbol || atom.symbol < impl_->symbols.size());
      for (Size operand : factor.atom->operands) atom.operands.push_back(adopt(operand));
      atom.weight = factor.atom->weight;
      atom.depth = factor.atom->depth;
      copy.monomial.push_back({impl_->internAtom(std::move(atom)), factor.power});
    }
    terms.push_back(std::move(copy));
  }
  return impl_->makeSize(std::move(terms));
}

std::shared_ptr<SizeContext> SizeContext::clone() const {
  auto copy = std::make_shared<SizeContext>();
  for (const Symbol& symbol : impl_->symbols) copy->newSymbol(symbol.name, symbol.range, symbol.origin);
  SizeTable& table = *copy->impl_;
  table.symbols = impl_->symbols;
  table.hasDivisors = impl_->hasDivisors;
  table.epoch = impl_->epoch;
  for (const SizeGuard& guard : impl_->guards) {
    table.guards.push_back(
        {copy->adopt(guard.a), copy->adopt(guard.b), guard.node, guard.reason, guard.kind, guard.scope});
    const SizeGuard& added = table.guards.back();
    table.guardKeys.insert({added.a.node(), added.a.constant().value_or(0), added.b.node(),
                            added.b.constant().value_or(0), added.kind, added.scope});
  }
  const auto adoptAtom = [&](const SizeAtom* atom) { return asAtom(copy->adopt(atom->table->sizeOf(atom))); };
  for (const SizeAtom* atom : impl_->facts.exact) {
    const Size division = impl_->sizeOf(atom);
    if (asAtom(division) == atom) table.facts.exact.push_back(adoptAtom(atom));
  }
  for (const auto& [atom, by] : impl_->facts.substitutions) {
    if (const SizeAtom* own = adoptAtom(atom)) table.facts.substitutions.emplace(own, copy->adopt(by));
  }
  for (const SizeNode* node : impl_->facts.nonNegative) {
    const Size own = copy->adopt(Size(node));
    if (own.node() != nullptr) table.facts.nonNegative.insert(own.node());
    if (const SizeAtom* atom = asAtom(own)) table.facts.nonNegativeAtoms.insert(atom);
  }
  return copy;
}

}  // namespace rota
