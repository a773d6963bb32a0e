// SPDX-License-Identifier: Apache-2.0
// Canonical polynomials over interned atoms: construction, + - *, exact division, and the plain parts of SizeContext.
// What makes floordiv, mod, min and max small stands in size_simplify.cpp, ranges in size_range.cpp, facts in
// size_facts.cpp, text in size_text.cpp, evaluation in size_program.cpp. Tested by src/core/size_test.cpp.
#include "core/size.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "core/checked.h"
#include "core/size_table.h"

namespace rota {
namespace {

std::size_t mix(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

std::size_t hashSize(Size s) {
  if (s.node() != nullptr) return reinterpret_cast<std::size_t>(s.node());
  return s.isValid() ? mix(1, static_cast<std::size_t>(*s.constant())) : 2;
}

std::uint32_t degree(const Monomial& monomial) {
  std::uint32_t sum = 0;
  for (const Factor& factor : monomial) sum += factor.power;
  return sum;
}

Monomial multiply(const Monomial& a, const Monomial& b) {
  Monomial result;
  result.reserve(a.size() + b.size());
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    const int order = compareAtoms(i->atom, j->atom);
    if (order < 0) {
      result.push_back(*i++);
    } else if (order > 0) {
      result.push_back(*j++);
    } else {
      result.push_back({i->atom, i->power + j->power});
      ++i;
      ++j;
    }
  }
  result.insert(result.end(), i, a.end());
  result.insert(result.end(), j, b.end());
  return result;
}

std::uint32_t weightOf(const Terms& terms) {
  std::uint64_t weight = 0;
  for (const Term& term : terms) {
    weight += 1;
    for (const Factor& factor : term.monomial) weight += std::uint64_t{factor.power} * factor.atom->weight;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(weight, kMaxWeight + 1));
}

std::uint32_t depthOf(const Terms& terms) {
  std::uint32_t depth = 0;
  for (const Term& term : terms) {
    for (const Factor& factor : term.monomial) depth = std::max(depth, factor.atom->depth);
  }
  return depth;
}

/// Where a floordiv is known to be exact, q * floordiv(p, q) is p. Returns whether a term was rewritten.
bool rewriteExact(SizeTable& table, const Terms& terms, Size& result) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (const Factor& factor : terms[i].monomial) {
      if (factor.atom->kind != AtomKind::kFloorDiv || !table.knowsExact(factor.atom)) continue;
      const Terms divisor = termsOf(factor.atom->operands[1]);
      if (divisor.size() != 1 || terms[i].coefficient % divisor[0].coefficient != 0) continue;
      const auto rest = divideMonomials(terms[i].monomial, {{factor.atom, 1}});
      const auto cofactor = rest ? divideMonomials(*rest, divisor[0].monomial) : std::nullopt;
      if (!cofactor) continue;
      Terms others = terms;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const std::int64_t quotient = terms[i].coefficient / divisor[0].coefficient;
      result = table.makeSize(std::move(others)) +
               table.makeSize({Term{quotient, *cofactor}}) * factor.atom->operands[0];
      return true;
    }
  }
  return false;
}

}  // namespace

std::size_t AtomHash::operator()(const SizeAtom* atom) const {
  std::size_t hash = mix(static_cast<std::size_t>(atom->kind), atom->symbol);
  for (Size operand : atom->operands) hash = mix(hash, hashSize(operand));
  return hash;
}
bool AtomEqual::operator()(const SizeAtom* a, const SizeAtom* b) const {
  return a->kind == b->kind && a->symbol == b->symbol && a->operands == b->operands;
}
std::size_t NodeHash::operator()(const SizeNode* node) const {
  std::size_t hash = node->terms.size();
  for (const Term& term : node->terms) {
    hash = mix(hash, static_cast<std::size_t>(term.coefficient));
    for (const Factor& factor : term.monomial) {
      hash = mix(mix(hash, reinterpret_cast<std::size_t>(factor.atom)), factor.power);
    }
  }
  return hash;
}
bool NodeEqual::operator()(const SizeNode* a, const SizeNode* b) const { return a->terms == b->terms; }

std::int64_t floorDivInt(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? quotient - 1 : quotient;
}
std::int64_t modInt(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
}
std::int64_t gcdInt(std::int64_t a, std::int64_t b) {
  if (a == kUnboundedBelow || b == kUnboundedBelow) return 1;
  return std::gcd(a, b);
}

SizeTable* tableOf(Size a) { return a.node() != nullptr ? a.node()->table : nullptr; }
SizeTable* tableOf(Size a, Size b) {
  SizeTable* tableA = tableOf(a);
  SizeTable* tableB = tableOf(b);
  CHECK(tableA == nullptr || tableB == nullptr || tableA == tableB);
  return tableA != nullptr ? tableA : tableB;
}

int compareAtoms(const SizeAtom* a, const SizeAtom* b) {
  if (a == b) return 0;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->symbol != b->symbol) return a->symbol < b->symbol ? -1 : 1;
  const std::size_t common = std::min(a->operands.size(), b->operands.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const int order = compareSizes(a->operands[i], b->operands[i]); order != 0) return order;
  }
  return a->operands.size() < b->operands.size() ? -1 : 1;
}

int compareMonomials(const Monomial& a, const Monomial& b) {
  const std::uint32_t degreeA = degree(a);
  const std::uint32_t degreeB = degree(b);
  if (degreeA != degreeB) return degreeA > degreeB ? -1 : 1;
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const int order = compareAtoms(a[i].atom, b[i].atom); order != 0) return order;
    if (a[i].power != b[i].power) return a[i].power > b[i].power ? -1 : 1;
  }
  return 0;  // equal degrees: neither can be a proper prefix of the other
}

int compareSizes(Size a, Size b) {
  if (a == b) return 0;
  if (a.node() == nullptr || b.node() == nullptr) {
    if (a.node() != nullptr) return 1;
    if (b.node() != nullptr) return -1;
    return a.constant() < b.constant() ? -1 : 1;
  }
  const Terms& termsA = a.node()->terms;
  const Terms& termsB = b.node()->terms;
  const std::size_t common = std::min(termsA.size(), termsB.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const int order = compareMonomials(termsA[i].monomial, termsB[i].monomial); order != 0) return order;
    if (termsA[i].coefficient != termsB[i].coefficient)
      return termsA[i].coefficient < termsB[i].coefficient ? -1 : 1;
  }
  return termsA.size() < termsB.size() ? -1 : 1;
}

Terms termsOf(Size s) {
  if (s.node() != nullptr) return s.node()->terms;
  const std::int64_t value = s.constant().value_or(0);
  return value == 0 ? Terms{} : Terms{Term{value, {}}};
}

std::optional<Terms> combine(Terms terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compareMonomials(a.monomial, b.monomial) < 0; });
  Terms result;
  for (std::size_t i = 0; i < terms.size();) {
    Int128 sum = 0;
    const std::size_t first = i;
    for (; i < terms.size() && terms[i].monomial == terms[first].monomial; ++i) sum += terms[i].coefficient;
    // The least integer is kept out of coefficients, whose negation must exist; as a constant it is common (Slice).
    const std::int64_t least = terms[first].monomial.empty() ? kUnboundedBelow : -kUnbounded;
    if (sum > kUnbounded || sum < least) return std::nullopt;
    if (sum != 0) result.push_back({static_cast<std::int64_t>(sum), std::move(terms[first].monomial)});
  }
  return result;
}

std::optional<Monomial> divideMonomials(const Monomial& a, const Monomial& b) {
  Monomial result;
  auto j = b.begin();
  for (const Factor& factor : a) {
    if (j == b.end() || factor.atom != j->atom) {
      result.push_back(factor);
      continue;
    }
    if (factor.power < j->power) return std::nullopt;
    if (factor.power > j->power) result.push_back({factor.atom, factor.power - j->power});
    ++j;
  }
  return j == b.end() ? std::optional(std::move(result)) : std::nullopt;
}

const SizeAtom* asAtom(Size s) {
  if (s.node() == nullptr || s.node()->terms.size() != 1) return nullptr;
  const Term& term = s.node()->terms.front();
  const bool isAtom = term.coefficient == 1 && term.monomial.size() == 1 && term.monomial.front().power == 1;
  return isAtom ? term.monomial.front().atom : nullptr;
}

const SizeAtom* SizeTable::internAtom(SizeAtom atom) {
  if (const auto found = atoms.find(&atom); found != atoms.end()) return found->first;
  atom.table = this;
  auto owned = std::make_unique<SizeAtom>(std::move(atom));
  const SizeAtom* key = owned.get();
  atoms.emplace(key, std::move(owned));
  return key;
}

Size SizeTable::makeSize(Terms terms) {
  if (terms.empty()) return Size(0);
  if (terms.size() == 1 && terms.front().monomial.empty()) return Size(terms.front().coefficient);
  if (hasDivisors || !facts.exact.empty()) {
    Size rewritten;
    if (rewriteExact(*this, terms, rewritten)) return rewritten;
  }
  SizeNode node;
  node.weight = weightOf(terms);
  node.depth = depthOf(terms);
  if (terms.size() > kMaxTerms || node.weight > kMaxWeight) return Size::invalid();
  node.terms = std::move(terms);
  if (const auto found = nodes.find(&node); found != nodes.end()) return Size(found->first);
  node.table = this;
  auto owned = std::make_unique<SizeNode>(std::move(node));
  const SizeNode* key = owned.get();
  nodes.emplace(key, std::move(owned));
  return Size(key);
}

Size SizeTable::sizeOf(const SizeAtom* atom) { return makeSize({Term{1, {Factor{atom, 1}}}}); }

Size SizeTable::makeAtom(AtomKind kind, std::vector<Size> operands) {
  SizeAtom atom;
  atom.kind = kind;
  for (Size operand : operands) {
    if (operand.node() == nullptr) continue;
    atom.weight += operand.node()->weight;
    atom.depth = std::max(atom.depth, operand.node()->depth + 1);
  }
  if (atom.weight > kMaxWeight || atom.depth > kMaxDepth) return Size::invalid();
  atom.operands = std::move(operands);
  return sizeOf(internAtom(std::move(atom)));
}

Size Size::invalid() {
  Size size;
  size.valid_ = false;
  return size;
}

Size operator+(Size a, Size b) {
  if (!a.isValid() || !b.isValid()) return Size::invalid();
  if (a.isConstant() && b.isConstant()) {
    const auto sum = checkedAdd(*a.constant(), *b.constant());
    return sum ? Size(*sum) : Size::invalid();
  }
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  Terms terms = termsOf(a);
  const Terms others = termsOf(b);
  terms.insert(terms.end(), others.begin(), others.end());
  auto combined = combine(std::move(terms));
  return combined ? tableOf(a, b)->makeSize(std::move(*combined)) : Size::invalid();
}

Size operator*(Size a, Size b) {
  if (!a.isValid() || !b.isValid()) return Size::invalid();
  if (a.isConstant() && b.isConstant()) {
    const auto result = checkedMul(*a.constant(), *b.constant());
    return result ? Size(*result) : Size::invalid();
  }
  if (a.is(0) || b.is(0)) return Size(0);
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  Terms terms;
  for (const Term& left : termsOf(a)) {
    for (const Term& right : termsOf(b)) {
      const auto coefficient = checkedMul(left.coefficient, right.coefficient);
      if (!coefficient) return Size::invalid();
      terms.push_back({*coefficient, multiply(left.monomial, right.monomial)});
    }
  }
  auto combined = combine(std::move(terms));
  return combined ? tableOf(a, b)->makeSize(std::move(*combined)) : Size::invalid();
}

Size operator-(Size a, Size b) { return a + Size(-1) * b; }

Size product(std::span<const Size> sizes) {
  // Multiplied in full even past a zero, so that an invalid factor stays visible.
  Size result = 1;
  for (Size size : sizes) result = result * size;
  return result;
}

std::optional<Size> divideExact(Size a, Size b) {
  if (!a.isValid() || !b.isValid() || b.is(0)) return std::nullopt;
  if (a.isConstant() && b.isConstant()) {
    const std::int64_t x = *a.constant();
    const std::int64_t y = *b.constant();
    if (y == -1) return x == kUnboundedBelow ? std::nullopt : std::optional(Size(-x));
    return x % y == 0 ? std::optional(Size(x / y)) : std::nullopt;
  }
  SizeTable& table = *tableOf(a, b);
  const Term lead = termsOf(b).front();
  if (lead.coefficient == -1) {
    const auto negated = divideExact(a, Size(-1) * b);
    return negated ? std::optional(Size(-1) * *negated) : std::nullopt;
  }
  Size quotient = 0;
  Size rest = a;
  for (std::size_t step = 0; !rest.is(0); ++step) {
    if (!rest.isValid() || step > 2 * kMaxTerms) return std::nullopt;
    const Term term = termsOf(rest).front();
    if (term.coefficient % lead.coefficient != 0) return std::nullopt;
    auto monomial = divideMonomials(term.monomial, lead.monomial);
    if (!monomial) return std::nullopt;
    const Size part = table.makeSize({Term{term.coefficient / lead.coefficient, std::move(*monomial)}});
    quotient = quotient + part;
    rest = rest - part * b;
  }
  return quotient;
}

SizeContext::SizeContext() : impl_(std::make_unique<Impl>()) {}
SizeContext::~SizeContext() = default;

Size SizeContext::newSymbol(std::string name, SizeRange range, SymbolOrigin origin) {
  if (name.empty()) name = "d";
  std::string unique = name;
  for (std::size_t suffix = 1; impl_->symbolNames.contains(unique); ++suffix)
    unique = name + "_" + std::to_string(suffix);
  const auto id = static_cast<SymbolId>(impl_->symbols.size());
  impl_->symbolNames.emplace(unique, id);
  impl_->symbols.push_back({std::move(unique), range, 1, origin});
  SizeAtom atom;
  atom.symbol = id;
  impl_->symbolSizes.push_back(impl_->sizeOf(impl_->internAtom(std::move(atom))));
  return impl_->symbolSizes.back();
}

const std::vector<Symbol>& SizeContext::symbols() const { return impl_->symbols; }

void SizeContext::setRange(SymbolId id, SizeRange range) {
  CHECK(id < impl_->symbols.size() && range.lo <= range.hi);
  impl_->symbols[id].range = range;
  ++impl_->epoch;
}

void SizeContext::setDivisor(SymbolId id, std::int64_t divisor) {
  CHECK(id < impl_->symbols.size() && divisor >= 1);
  impl_->symbols[id].divisor = divisor;
  impl_->hasDivisors = impl_->hasDivisors || divisor > 1;
  ++impl_->epoch;
}

std::optional<SymbolId> SizeContext::findSymbol(std::string_view name) const {
  const auto found = impl_->symbolNames.find(std::string(name));
  return found == impl_->symbolNames.end() ? std::nullopt : std::optional(found->second);
}

Size SizeContext::symbol(SymbolId id) const {
  CHECK(id < impl_->symbolSizes.size());
  return impl_->symbolSizes[id];
}

std::optional<SymbolId> SizeContext::asSymbol(Size s) const {
  const SizeAtom* atom = asAtom(s);
  return atom != nullptr && atom->kind == AtomKind::kSymbol ? std::optional(atom->symbol) : std::nullopt;
}

}  // namespace rota
