// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_index.h"

#include <algorithm>

namespace rota::runtime {

namespace {

StepAction actionOf(const Step& step) {
  if (step.kernel == "flow.if") return StepAction::kIf;
  if (step.kernel == "flow.loop") return StepAction::kLoop;
  if (step.kernel == "flow.scan") return StepAction::kScan;
  if (step.kernel == "host.read_sizes") return StepAction::kReadSizes;
  return step.kernel.starts_with("ref:") ? StepAction::kReference : StepAction::kKernel;
}

}  // namespace

/// Numbers the steps and records first definition and last use of every root.
class ProgramIndex::Lifetimes {
 public:
  explicit Lifetimes(ProgramIndex& index) : index_(index), p_(*index.program_) {
    index_.lifetimes_.assign(p_.values.size(), LiveRange{});
    depth_.assign(p_.values.size(), 0);
    defined_.assign(p_.values.size(), 0);
  }

  void run() {
    for (std::int32_t v : p_.blocks[0].params) define(v, position_);
    ++position_;
    block(0);
  }

 private:
  struct OpenLoop {
    std::vector<std::int32_t> captured;
  };

  void define(std::int32_t value, std::uint32_t position) {
    const auto i = static_cast<std::size_t>(value);
    index_.lifetimes_[i] = {position, position};
    depth_[i] = static_cast<std::uint32_t>(loops_.size());
    defined_[i] = 1;
  }

  void use(std::int32_t value, std::uint32_t position) {
    const std::int32_t root = index_.value(value).root;
    const auto i = static_cast<std::size_t>(root);
    if (defined_[i] == 0) return;  // constants
    index_.lifetimes_[i].last = std::max(index_.lifetimes_[i].last, position);
    // Read in a loop that it was defined outside of: needed again in the next turn.
    if (depth_[i] < loops_.size()) loops_[depth_[i]].captured.push_back(root);
  }

  void block(std::uint32_t id) {
    const Block& block = p_.blocks[id];
    for (std::size_t i = 0; i < block.steps.size(); ++i) step(block.steps[i], index_.blocks_[id].steps[i]);
    const std::uint32_t end = position_++;
    for (std::int32_t v : block.results) use(v, end);
  }

  void step(const Step& step, StepFacts& facts) {
    facts.range.first = position_;
    for (std::int32_t v : step.inputs)
      if (v != kNone) use(v, position_);
    switch (facts.action) {
      case StepAction::kIf: branches(step); break;
      case StepAction::kLoop:
      case StepAction::kScan: loop(step, facts); break;
      case StepAction::kKernel:
      case StepAction::kReference:
      case StepAction::kReadSizes:
        for (std::int32_t v : step.outputs)
          if (v != kNone) define(v, position_);
        ++position_;
        break;
    }
    facts.range.last = position_ - 1;
  }

  void branches(const Step& step) {
    ++position_;
    std::uint32_t written = 0;
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      block(step.blocks[i]);
      if (i == 0) written = position_ - 1;  // results are copied to the outputs where a branch ends
    }
    const std::uint32_t end = position_++;
    for (std::int32_t v : step.outputs) {
      if (v == kNone) continue;
      define(v, written);
      use(v, end);
    }
  }

  void loop(const Step& step, const StepFacts& facts) {
    const std::uint32_t start = position_++;
    loops_.emplace_back();
    for (std::int32_t v : p_.blocks[step.blocks[0]].params) define(v, start);
    block(step.blocks[0]);
    OpenLoop closed = std::move(loops_.back());
    loops_.pop_back();
    const std::uint32_t end = position_++;
    for (std::int32_t root : closed.captured) {
      auto& last = index_.lifetimes_[static_cast<std::size_t>(root)].last;
      last = std::max(last, end);
    }
    // The first turn reads the initial values where they lie.
    for (std::int32_t v : step.inputs)
      if (v != kNone) use(v, end);
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      const std::int32_t v = step.outputs[i];
      if (v == kNone) continue;
      define(v, i < facts.carried.size() ? end : start);  // scanned outputs are written turn by turn
      use(v, end);
    }
  }

  ProgramIndex& index_;
  const Program& p_;
  std::vector<std::uint32_t> depth_;
  std::vector<std::uint8_t> defined_;
  std::vector<OpenLoop> loops_;
  std::uint32_t position_ = 0;
};

ProgramIndex::ProgramIndex(const Program& program)
    : program_(&program),
      sizes_(program),
      values_(program.values.size()),
      blocks_(program.blocks.size()) {
  indexValues();
  for (std::size_t b = 0; b < program.blocks.size(); ++b) indexBlock(static_cast<std::uint32_t>(b));
  indexNeeds();
  markGrowing();
  for (std::size_t b = 0; b < program.blocks.size(); ++b)
    for (std::size_t i = 0; i < program.blocks[b].steps.size(); ++i)
      indexCarried(program.blocks[b].steps[i], blocks_[b].steps[i]);
  markMovable();
  for (std::size_t b = 0; b < program.blocks.size(); ++b)
    for (std::size_t i = 0; i < program.blocks[b].steps.size(); ++i)
      indexStep(program.blocks[b].steps[i], blocks_[b].steps[i]);
  collectSymbols(0);
  Lifetimes(*this).run();
}

void ProgramIndex::indexValues() {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const ValueInfo& v = program_->values[i];
    ValueFacts& facts = values_[i];
    facts.root = rootOf(*program_, static_cast<std::int32_t>(i));
    facts.dynamicDims = !v.rankKnown || std::any_of(v.dims.begin(), v.dims.end(),
                                                    [&](std::uint32_t d) { return sizes_.isDynamic(d); });
    facts.dimsAt = static_cast<std::uint32_t>(dimsPoolSize_);
    dimsPoolSize_ += v.rankKnown ? v.dims.size() : kMaxRank;
    if (facts.root != static_cast<std::int32_t>(i))
      values_[static_cast<std::size_t>(facts.root)].aliases.push_back(static_cast<std::int32_t>(i));
  }
  for (std::size_t s = 0; s < program_->symbols.size(); ++s) {
    const SymbolInfo& symbol = program_->symbols[s];
    if (symbol.origin == SymbolOrigin::kDataDependent && symbol.value != kNone)
      values_[static_cast<std::size_t>(symbol.value)].binds.push_back(static_cast<SymbolId>(s));
  }
}

void ProgramIndex::indexBlock(std::uint32_t id) {
  const Block& block = program_->blocks[id];
  blocks_[id].steps.resize(block.steps.size());
  const auto owns = [&](std::int32_t v) {
    values_[static_cast<std::size_t>(v)].block = static_cast<std::int32_t>(id);
  };
  for (std::int32_t v : block.params) owns(v);
  for (std::size_t i = 0; i < block.steps.size(); ++i) {
    StepFacts& facts = blocks_[id].steps[i];
    facts.action = actionOf(block.steps[i]);
    facts.ordinal = stepCount_++;
    for (std::int32_t v : block.steps[i].outputs)
      if (v != kNone) owns(v);
  }
}

void ProgramIndex::indexNeeds() {
  constexpr std::int32_t kSeveral = -2;
  const auto need = [&](std::int32_t v, std::size_t block) {
    if (v == kNone) return;
    std::int32_t& needs = values_[static_cast<std::size_t>(v)].needs;
    const auto b = static_cast<std::int32_t>(block);
    needs = needs == kNone || needs == b ? b : kSeveral;
  };
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = program_->blocks[b];
    for (std::int32_t v : block.params) need(v, b);
    for (std::int32_t v : block.results) need(v, b);
    for (const Step& step : block.steps)
      for (const auto* list : {&step.inputs, &step.outputs})
        for (std::int32_t v : *list) need(v, b);
  }
  for (ValueFacts& facts : values_)
    if (facts.needs == kSeveral) facts.needs = kNone;
}

void ProgramIndex::markGrowing() {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const ValueInfo& v = program_->values[i];
    ValueFacts& facts = values_[i];
    if (v.kind != ValueKind::kTensor) continue;
    facts.growing = v.storage == Storage::kGrowing || (v.storage == Storage::kArena && facts.dynamicDims);
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const ValueInfo& v = program_->values[i];
    if (v.storage != Storage::kAlias) continue;
    // Every link of the chain must have a fixed offset for the place to be fixed.
    bool dynamic = values_[i].dynamicDims || values_[static_cast<std::size_t>(values_[i].root)].dynamicDims;
    for (auto at = static_cast<std::int32_t>(i);
         program_->values[static_cast<std::size_t>(at)].storage == Storage::kAlias;
         at = program_->values[static_cast<std::size_t>(at)].aliasOf)
      dynamic |= sizes_.isDynamic(program_->values[static_cast<std::size_t>(at)].aliasOffset);
    values_[i].dynamicAlias = dynamic;
  }
}

void ProgramIndex::indexCarried(const Step& step, StepFacts& facts) {
  if (facts.action != StepAction::kLoop && facts.action != StepAction::kScan) return;
  const Block& body = program_->blocks[step.blocks[0]];
  const bool isLoop = facts.action == StepAction::kLoop;
  const auto scanned = isLoop ? 0 : static_cast<std::size_t>(step.parameters.getInt("num_scan_inputs"));
  const std::size_t firstParam = isLoop ? 2 : 0;
  const std::size_t firstResult = isLoop ? 1 : 0;
  const std::size_t count = body.params.size() - firstParam - scanned;
  for (std::size_t i = 0; i < count; ++i) {
    Carried c;
    c.param = body.params[firstParam + i];
    c.result = body.results[firstResult + i];
    c.initial = step.inputs[firstParam + i];
    c.output = step.outputs[i];
    const ValueInfo& param = program_->values[static_cast<std::size_t>(c.param)];
    const ValueInfo& result = program_->values[static_cast<std::size_t>(c.result)];
    const ValueFacts& paramFacts = values_[static_cast<std::size_t>(c.param)];
    const ValueFacts& resultFacts = values_[static_cast<std::size_t>(c.result)];
    c.isStatic = !paramFacts.dynamicDims;
    const bool ownMemory = result.storage == Storage::kArena || result.storage == Storage::kGrowing;
    const bool once =
        std::count(body.results.begin() + static_cast<std::ptrdiff_t>(firstResult),
                   body.results.begin() + static_cast<std::ptrdiff_t>(firstResult + count), c.result) == 1;
    const bool sameDims =
        c.isStatic ? !resultFacts.growing && param.dims == result.dims : resultFacts.growing;
    c.direct = param.kind == ValueKind::kTensor && ownMemory && once && sameDims &&
               resultFacts.block == static_cast<std::int32_t>(step.blocks[0]);
    facts.carried.push_back(c);
  }
}

void ProgramIndex::markMovable() {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Storage storage = program_->values[i].storage;
    if (storage == Storage::kInput || storage == Storage::kOutput || storage == Storage::kBlockParam ||
        values_[i].growing)
      values_[i].movable = true;
  }
  for (const BlockFacts& block : blocks_)
    for (const StepFacts& step : block.steps)
      for (const Carried& c : step.carried)
        if (c.direct) values_[static_cast<std::size_t>(c.result)].movable = true;
  for (ValueFacts& facts : values_)
    if (values_[static_cast<std::size_t>(facts.root)].movable || facts.dynamicAlias) facts.movable = true;
}

void ProgramIndex::indexStep(const Step& step, StepFacts& facts) {
  for (const auto* list : {&step.inputs, &step.outputs})
    for (std::int32_t v : *list) {
      if (v == kNone) continue;
      const ValueFacts& value = values_[static_cast<std::size_t>(v)];
      facts.dynamic |= value.dynamicDims || value.dynamicAlias;
      facts.movable |= value.movable || value.dynamicDims;
    }
  for (std::int32_t v : step.outputs)
    if (v != kNone) {
      facts.dynamic |= values_[static_cast<std::size_t>(v)].growing;
      facts.writesSequences |= program_->values[static_cast<std::size_t>(v)].kind != ValueKind::kTensor;
    }
  if (facts.action != StepAction::kReadSizes) return;
  for (std::size_t s = 0; s < program_->symbols.size(); ++s) {
    const SymbolInfo& symbol = program_->symbols[s];
    if (symbol.origin == SymbolOrigin::kHostResolved && symbol.value != kNone &&
        std::find(step.inputs.begin(), step.inputs.end(), symbol.value) != step.inputs.end())
      facts.reads.push_back(static_cast<SymbolId>(s));
  }
}

void ProgramIndex::collectSymbols(std::uint32_t id) {
  std::vector<SymbolId>& mine = blocks_[id].symbols;
  const Block& block = program_->blocks[id];
  const auto add = [&](const std::vector<SymbolId>& list) {
    mine.insert(mine.end(), list.begin(), list.end());
  };
  // A body's parameters are bound by the loop before the turn starts, after the symbols of the last turn are forgotten.
  for (std::int32_t v : block.params) add(values_[static_cast<std::size_t>(v)].binds);
  for (std::size_t i = 0; i < block.steps.size(); ++i) {
    add(blocks_[id].steps[i].reads);
    for (std::int32_t v : block.steps[i].outputs)
      if (v != kNone) add(values_[static_cast<std::size_t>(v)].binds);
    for (std::uint32_t nested : block.steps[i].blocks) {
      collectSymbols(nested);
      add(blocks_[nested].symbols);
    }
  }
}

}  // namespace rota::runtime
