// SPDX-License-Identifier: Apache-2.0
#include "runtime/size_program.h"

#include <algorithm>
#include <limits>

#include "core/checked.h"

namespace rota::runtime {

namespace {

using Op = SizeContext::Op;
using FlatOp = SizeContext::FlatOp;
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

std::optional<std::int64_t> floorDivide(std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == kLowest && b == -1)) return std::nullopt;
  const std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

std::optional<std::int64_t> floorModulo(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  const std::int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}

std::optional<std::int64_t> apply(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::kAdd: return checkedAdd(a, b);
    case Op::kMul: return checkedMul(a, b);
    case Op::kFloorDiv: return floorDivide(a, b);
    case Op::kMod: return floorModulo(a, b);
    case Op::kMin: return std::min(a, b);
    case Op::kMax: return std::max(a, b);
    case Op::kConstant:
    case Op::kSymbol: break;
  }
  return std::nullopt;
}

__extension__ using Wide = __int128;

std::int64_t clamp(Wide v) {
  if (v >= kUnbounded) return kUnbounded;
  if (v <= kLowest) return kLowest;
  return static_cast<std::int64_t>(v);
}

SizeRange hull(std::initializer_list<Wide> corners) {
  return {clamp(std::min(corners)), clamp(std::max(corners))};
}

/// An end that stands for "no bound" stays without bound under multiplication by anything but zero.
Wide times(std::int64_t a, std::int64_t b) { return static_cast<Wide>(a) * b; }

SizeRange divideRange(const SizeRange& a, const SizeRange& b) {
  if (b.lo <= 0)
    return {kLowest, kUnbounded};  // sizes are divided by positive numbers; else nothing is known
  const auto divide = [](std::int64_t x, std::int64_t y) -> Wide {
    if (x == kUnbounded || x == kLowest) return x;
    if (y == kUnbounded) return x < 0 ? -1 : 0;
    return *floorDivide(x, y);
  };
  return hull({divide(a.lo, b.lo), divide(a.lo, b.hi), divide(a.hi, b.lo), divide(a.hi, b.hi)});
}

SizeRange rangeOf(Op op, const SizeRange& a, const SizeRange& b) {
  switch (op) {
    case Op::kAdd:
      return {a.lo == kLowest || b.lo == kLowest ? kLowest : clamp(static_cast<Wide>(a.lo) + b.lo),
              a.hi == kUnbounded || b.hi == kUnbounded ? kUnbounded : clamp(static_cast<Wide>(a.hi) + b.hi)};
    case Op::kMul: return hull({times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)});
    case Op::kFloorDiv: return divideRange(a, b);
    case Op::kMod:
      if (b.lo <= 0) return {kLowest, kUnbounded};
      return {0, std::min(b.hi == kUnbounded ? kUnbounded : b.hi - 1, a.lo >= 0 ? a.hi : kUnbounded)};
    case Op::kMin: return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case Op::kMax: return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case Op::kConstant:
    case Op::kSymbol: break;
  }
  return {kLowest, kUnbounded};
}

}  // namespace

SizeProgram::SizeProgram(const Program& program)
    : program_(&program),
      dynamic_(program.sizes.size(), 0),
      dependents_(program.symbols.size()),
      guards_(program.symbols.size()),
      blockGuards_(program.blocks.size()) {
  // Sets of run-time symbols, as sorted lists; few entries have any.
  std::vector<std::vector<SymbolId>> symbolsOf(program.sizes.size());
  for (std::size_t i = 0; i < program.sizes.size(); ++i) {
    const FlatOp& op = program.sizes[i];
    std::vector<SymbolId>& mine = symbolsOf[i];
    if (op.op == Op::kSymbol) {
      const auto id = static_cast<SymbolId>(op.immediate);
      if (program.symbols[id].origin != SymbolOrigin::kInputDim) mine.push_back(id);
    } else if (op.op != Op::kConstant) {
      std::set_union(symbolsOf[op.a].begin(), symbolsOf[op.a].end(), symbolsOf[op.b].begin(),
                     symbolsOf[op.b].end(), std::back_inserter(mine));
    }
    dynamic_[i] = mine.empty() ? 0 : 1;
    for (SymbolId id : mine) dependents_[id].push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t g = 0; g < program.guards.size(); ++g) {
    std::vector<SymbolId> needed;
    const Guard& guard = program.guards[g];
    std::set_union(symbolsOf[guard.a].begin(), symbolsOf[guard.a].end(), symbolsOf[guard.b].begin(),
                   symbolsOf[guard.b].end(), std::back_inserter(needed));
    if (guard.block != 0)
      blockGuards_[guard.block].push_back(static_cast<std::uint32_t>(g));
    else if (needed.empty())
      staticGuards_.push_back(static_cast<std::uint32_t>(g));
    for (SymbolId id : needed) guards_[id].push_back(static_cast<std::uint32_t>(g));
  }
}

SizeValues::SizeValues(const SizeProgram& sizes)
    : sizes_(&sizes),
      values_(sizes.program().sizes.size(), 0),
      known_(sizes.program().sizes.size(), 0),
      symbols_(sizes.program().symbols.size(), 0),
      symbolKnown_(sizes.program().symbols.size(), 0) {}

void SizeValues::evaluateEntry(std::uint32_t entry) {
  const FlatOp& op = sizes_->program().sizes[entry];
  known_[entry] = 0;
  if (op.op == Op::kConstant) {
    values_[entry] = op.immediate;
    known_[entry] = 1;
  } else if (op.op == Op::kSymbol) {
    const auto id = static_cast<SymbolId>(op.immediate);
    values_[entry] = symbols_[id];
    known_[entry] = symbolKnown_[id];
  } else if (known_[op.a] != 0 && known_[op.b] != 0) {
    if (const auto v = apply(op.op, values_[op.a], values_[op.b])) {
      values_[entry] = *v;
      known_[entry] = 1;
    }
  }
}

void SizeValues::setSymbol(SymbolId symbol, std::int64_t value) {
  symbols_[symbol] = value;
  symbolKnown_[symbol] = 1;
}

void SizeValues::evaluate() {
  for (std::uint32_t i = 0; i < values_.size(); ++i) evaluateEntry(i);
}

void SizeValues::bind(SymbolId symbol, std::int64_t value) {
  setSymbol(symbol, value);
  for (std::uint32_t entry : sizes_->dependents(symbol)) evaluateEntry(entry);
}

void SizeValues::forget(SymbolId symbol) {
  symbolKnown_[symbol] = 0;
  for (std::uint32_t entry : sizes_->dependents(symbol)) known_[entry] = 0;
}

void SizeValues::clear() {
  std::fill(known_.begin(), known_.end(), std::uint8_t{0});
  std::fill(symbolKnown_.begin(), symbolKnown_.end(), std::uint8_t{0});
}

std::vector<SizeRange> entryBounds(const Program& program, std::span<const SizeRange> symbols) {
  std::vector<SizeRange> ranges(program.sizes.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const FlatOp& op = program.sizes[i];
    if (op.op == Op::kConstant)
      ranges[i] = {op.immediate, op.immediate};
    else if (op.op == Op::kSymbol)
      ranges[i] = symbols[static_cast<std::size_t>(op.immediate)];
    else
      ranges[i] = rangeOf(op.op, ranges[op.a], ranges[op.b]);
  }
  return ranges;
}

std::vector<SizeRange> SizeValues::bounds() const {
  const Program& program = sizes_->program();
  std::vector<SizeRange> ranges(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const FlatOp& op = program.sizes[i];
    if (known_[i] != 0)
      ranges[i] = {values_[i], values_[i]};
    else if (op.op == Op::kSymbol)
      ranges[i] = program.symbols[static_cast<std::size_t>(op.immediate)].range;
    else
      ranges[i] = rangeOf(op.op, ranges[op.a], ranges[op.b]);
  }
  return ranges;
}

}  // namespace rota::runtime
