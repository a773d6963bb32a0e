// SPDX-License-Identifier: Apache-2.0
// Removes what nobody needs from a program and renumbers the rest. A step is needed when one of its results is, or when sizes are read by it
// that something needed depends on. Order is kept, so equal programs stay equal.
#include <algorithm>

#include "core/check.h"
#include "plan/program_builder.h"

namespace rota::plan {
namespace {

using runtime::kNone;
using runtime::Program;
using runtime::Step;

/// What is needed, found by going over all blocks backwards until nothing changes.
class Liveness {
 public:
  explicit Liveness(Program& program)
      : program_(program),
        value_(program.values.size()),
        size_(program.sizes.size()) {
    for (std::int32_t r : program.blocks[0].results) needValue(r);
    for (std::int32_t p : program.blocks[0].params) needValue(p);
    needGuards(0);
    steps_.resize(program.blocks.size());
    for (std::size_t b = 0; b < program.blocks.size(); ++b) steps_[b].resize(program.blocks[b].steps.size());
    reached_.resize(program.blocks.size());
    reached_[0] = true;
    do {
      changed_ = false;
      for (std::size_t b = program.blocks.size(); b-- > 0;) sweep(b);
    } while (changed_);
  }

  bool value(std::size_t i) const { return value_[i]; }
  bool size(std::size_t i) const { return size_[i]; }
  bool step(std::size_t b, std::size_t s) const { return steps_[b][s]; }
  bool block(std::size_t b) const { return reached_[b]; }

 private:
  void sweep(std::size_t b) {
    if (!reached_[b]) return;
    const auto& steps = program_.blocks[b].steps;
    for (std::size_t s = steps.size(); s-- > 0;) {
      if (steps_[b][s] || !isNeeded(steps[s])) continue;
      steps_[b][s] = true;
      changed_ = true;
      needStep(steps[s]);
    }
  }

  bool isNeeded(const Step& step) const {
    for (std::int32_t out : step.outputs)
      if (out != kNone && value_[static_cast<std::size_t>(out)]) return true;
    if (step.kernel != "host.read_sizes") return false;
    for (std::size_t e = 0; e < program_.sizes.size(); ++e) {
      if (!size_[e] || program_.sizes[e].op != SizeContext::Op::kSymbol) continue;
      const auto& symbol = program_.symbols[static_cast<std::size_t>(program_.sizes[e].immediate)];
      if (symbol.origin == SymbolOrigin::kHostResolved && symbol.value == step.inputs[0]) return true;
    }
    return false;
  }

  void needGuards(std::uint32_t block) {
    for (const auto& g : program_.guards) {
      if (g.block != block) continue;
      needSize(g.a);
      needSize(g.b);
    }
  }

  void needStep(const Step& step) {
    for (std::int32_t in : step.inputs) needValue(in);
    for (std::int32_t out : step.outputs) needValue(out);
    for (const auto& [name, value] : step.parameters.entries()) {
      // By convention parameters named "entries" or ending in "_entries" are indices of the size program.
      if (name != "entries" && !name.ends_with("_entries")) continue;
      if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&value)) {
        for (std::int64_t e : *ints)
          if (e >= 0) needSize(static_cast<std::uint32_t>(e));
      }
    }
    for (std::uint32_t b : step.blocks) {
      if (reached_[b]) continue;
      reached_[b] = true;
      needGuards(b);
      for (std::int32_t p : program_.blocks[b].params) needValue(p);
      for (std::int32_t r : program_.blocks[b].results) needValue(r);
    }
  }

  void needValue(std::int32_t id) {
    if (id == kNone || value_[static_cast<std::size_t>(id)]) return;
    value_[static_cast<std::size_t>(id)] = true;
    changed_ = true;
    const auto& v = program_.values[static_cast<std::size_t>(id)];
    needValue(v.aliasOf);
    for (std::uint32_t d : v.dims) needSize(d);
    if (v.storage == runtime::Storage::kAlias) needSize(v.aliasOffset);
  }

  void needSize(std::uint32_t e) {
    if (size_[e]) return;
    size_[e] = true;
    changed_ = true;
    const auto& op = program_.sizes[e];
    if (op.op == SizeContext::Op::kSymbol)
      needValue(program_.symbols[static_cast<std::size_t>(op.immediate)].value);
    if (op.op == SizeContext::Op::kConstant || op.op == SizeContext::Op::kSymbol) return;
    needSize(op.a);
    needSize(op.b);
  }

  Program& program_;
  std::vector<bool> value_;
  std::vector<bool> size_;
  std::vector<std::vector<bool>> steps_;
  std::vector<bool> reached_;
  bool changed_ = false;
};

/// Old index -> new index for the kept ones.
template <typename Keep> std::vector<std::int32_t> renumber(std::size_t count, Keep keep) {
  std::vector<std::int32_t> map(count, kNone);
  std::int32_t next = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (keep(i)) map[i] = next++;
  return map;
}

template <typename T> void keepMapped(std::vector<T>& items, const std::vector<std::int32_t>& map) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (map[i] != kNone) kept.push_back(std::move(items[i]));
  items = std::move(kept);
}

struct Maps {
  std::vector<std::int32_t> values, sizes, symbols, blocks, constants;
  std::int32_t value(std::int32_t id) const {
    return id == kNone ? kNone : values[static_cast<std::size_t>(id)];
  }
  std::uint32_t size(std::uint32_t e) const { return static_cast<std::uint32_t>(sizes[e]); }
};

void renumberStep(Step& step, const Maps& maps) {
  for (auto& in : step.inputs) in = maps.value(in);
  for (auto& out : step.outputs) out = maps.value(out);
  for (auto& b : step.blocks) b = static_cast<std::uint32_t>(maps.blocks[b]);
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> updated;
  for (const auto& [name, value] : step.parameters.entries()) {
    if (name != "entries" && !name.ends_with("_entries")) continue;
    if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&value)) {
      std::vector<std::int64_t> fresh = *ints;
      for (auto& e : fresh)
        if (e >= 0) e = maps.sizes[static_cast<std::size_t>(e)];
      updated.emplace_back(name, std::move(fresh));
    }
  }
  for (auto& [name, ints] : updated) step.parameters.set(name, std::move(ints));
}

void applyMaps(Program& program, const Maps& maps) {
  for (auto& op : program.sizes) {
    if (op.op == SizeContext::Op::kSymbol)
      op.immediate = maps.symbols[static_cast<std::size_t>(op.immediate)];
    if (op.op == SizeContext::Op::kConstant || op.op == SizeContext::Op::kSymbol) continue;
    op.a = maps.size(op.a);
    op.b = maps.size(op.b);
  }
  for (auto& s : program.symbols) s.value = maps.value(s.value);
  for (auto& g : program.guards) {
    g.a = maps.size(g.a);
    g.b = maps.size(g.b);
    g.block = static_cast<std::uint32_t>(maps.blocks[g.block]);
  }
  for (auto& v : program.values) {
    for (auto& d : v.dims) d = maps.size(d);
    v.aliasOf = maps.value(v.aliasOf);
    if (v.storage == runtime::Storage::kAlias) v.aliasOffset = maps.size(v.aliasOffset);
    if (v.constant != kNone) v.constant = maps.constants[static_cast<std::size_t>(v.constant)];
  }
  for (auto& b : program.blocks) {
    for (auto& p : b.params) p = maps.value(p);
    for (auto& r : b.results) r = maps.value(r);
    for (auto& s : b.steps) renumberStep(s, maps);
  }
  for (auto& profile : program.profiles)
    for (auto& in : profile.inputs) in.value = maps.value(in.value);
  for (auto& s : program.states) {
    s.input = maps.value(s.input);
    s.output = maps.value(s.output);
  }
}

}  // namespace

void compactProgram(Program& program, std::vector<Tensor>& constants) {
  const Liveness live(program);
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    std::vector<Step> kept;
    auto& steps = program.blocks[b].steps;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (!live.step(b, s)) continue;
      for (auto& out : steps[s].outputs)
        if (out != kNone && !live.value(static_cast<std::size_t>(out))) out = kNone;
      kept.push_back(std::move(steps[s]));
    }
    steps = std::move(kept);
  }
  Maps maps;
  maps.values = renumber(program.values.size(), [&](std::size_t i) { return live.value(i); });
  maps.sizes = renumber(program.sizes.size(), [&](std::size_t i) { return live.size(i); });
  maps.blocks = renumber(program.blocks.size(), [&](std::size_t i) { return live.block(i); });
  std::vector<bool> symbolUsed(program.symbols.size()), constantUsed(program.constants.size());
  for (std::size_t i = 0; i < program.sizes.size(); ++i)
    if (live.size(i) && program.sizes[i].op == SizeContext::Op::kSymbol)
      symbolUsed[static_cast<std::size_t>(program.sizes[i].immediate)] = true;
  for (std::size_t i = 0; i < program.values.size(); ++i)
    if (live.value(i) && program.values[i].constant != kNone)
      constantUsed[static_cast<std::size_t>(program.values[i].constant)] = true;
  maps.symbols = renumber(program.symbols.size(), [&](std::size_t i) { return symbolUsed[i]; });
  maps.constants = renumber(program.constants.size(), [&](std::size_t i) { return constantUsed[i]; });
  std::erase_if(program.guards, [&](const runtime::Guard& g) { return maps.blocks[g.block] == kNone; });
  keepMapped(program.sizes, maps.sizes);
  keepMapped(program.symbols, maps.symbols);
  keepMapped(program.values, maps.values);
  keepMapped(program.blocks, maps.blocks);
  keepMapped(program.constants, maps.constants);
  keepMapped(constants, maps.constants);
  applyMaps(program, maps);
}

}  // namespace rota::plan
