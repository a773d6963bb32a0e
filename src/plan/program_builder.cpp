// SPDX-License-Identifier: Apache-2.0
#include "plan/program_builder.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/check.h"
#include "core/file.h"
#include "op/definition.h"
#include "plan/regions.h"

namespace rota::plan {
namespace {

using runtime::kNone;
using runtime::Layout;
using runtime::Storage;

struct Placed {
  Layout layout;
  std::int32_t id = kNone;
};

class Builder final : public tactic::Emitter {
 public:
  Builder(ir::Graph& graph, const ProgramOptions& options) : graph_(graph), options_(options) {}

  Result<BuiltProgram> run() {
    for (std::uint32_t i = 0; i < graph_.sources().size(); ++i) {
      const ir::SourceNode& s = graph_.sources().at(i);
      program().sources.push_back({s.scope, s.name, s.opType});
    }
    program().blocks.emplace_back();
    program().blocks[0].name = graph_.name;
    for (ir::Value* in : graph_.inputs()) {
      const std::int32_t id = place(in, {}, Storage::kInput);
      program().blocks[0].params.push_back(id);
      program().inputNames.push_back(in->name);
      ROTA_RETURN_IF_ERROR(afterDefinition(in));
    }
    ROTA_RETURN_IF_ERROR(buildBlock(graph_, 0));
    ROTA_RETURN_IF_ERROR(placeOutputs());
    program().outputNames = graph_.outputNames();
    finishSizes();
    addProfiles();
    compactProgram(program(), built_.constants);
    return std::move(built_);
  }

  // --- tactic::Emitter -------------------------------------------------------------------------------------------
  SizeContext& sizes() override { return graph_.sizes(); }
  const tactic::Target& target() const override { return options_.target; }
  const knob::KnobSet& knobs() const override { return options_.knobs; }

  std::uint32_t entry(Size size) override { return sizes().flatten(sizes().resolve(size), program().sizes); }

  std::int32_t operand(ir::Value* value) override { return operand(value, Layout{}); }

  std::int32_t operand(ir::Value* value, const Layout& wanted) override {
    if (value == nullptr) return kNone;
    materialise(value);
    auto& places = placed_[value];
    for (const Placed& p : places)
      if (p.layout == wanted) return p.id;
    CHECK(!places.empty());
    const std::int32_t from = places.front().id;
    const std::int32_t to = place(value, wanted, storageOf(*value));
    runtime::Step reorder;
    reorder.kernel = "cpu.reorder";
    reorder.inputs = {from};
    reorder.outputs = {to};
    reorder.sources = value->provenance.sources;
    reorder.tactic = "cpu.reorder";
    block().steps.push_back(std::move(reorder));
    return to;
  }

  Layout currentLayout(const ir::Value* value) const override {
    const auto it = placed_.find(value);
    return it == placed_.end() || it->second.empty() ? Layout{} : it->second.front().layout;
  }

  std::int32_t define(ir::Value* value, const Layout& layout) override {
    return value == nullptr ? kNone : place(value, layout, storageOf(*value));
  }

  void alias(ir::Value* value, ir::Value* of, Size offsetBytes) override {
    const std::int32_t root = operand(of);
    const std::int32_t id = place(value, {}, Storage::kAlias);
    program().values[static_cast<std::size_t>(id)].aliasOf = root;
    program().values[static_cast<std::size_t>(id)].aliasOffset = entry(offsetBytes);
  }

  void alias(ir::Value* value, std::int32_t of) override {
    const std::int32_t id = place(value, {}, Storage::kAlias);
    program().values[static_cast<std::size_t>(id)].aliasOf = of;
    program().values[static_cast<std::size_t>(id)].aliasOffset = entry(0);
  }

  std::int32_t constant(const Tensor& tensor, std::string recipe) override {
    return packedConstant(tensor, tensor.dims(), std::move(recipe), Layout{});
  }

  std::int32_t view(ir::Value* value, std::vector<Size> dims) override {
    return view(operand(value), std::move(dims));
  }

  std::int32_t view(std::int32_t of, std::vector<Size> dims) override {
    const runtime::ValueInfo& root = program().values[static_cast<std::size_t>(of)];
    runtime::ValueInfo v;
    v.name = root.name;
    v.dtype = root.dtype;
    v.sources = root.sources;
    v.storage = Storage::kAlias;
    v.aliasOf = of;
    v.aliasOffset = entry(0);
    for (Size d : dims) v.dims.push_back(entry(d));
    program().values.push_back(std::move(v));
    return static_cast<std::int32_t>(program().values.size() - 1);
  }

  std::int32_t packedConstant(const Tensor& tensor, std::vector<std::int64_t> dims, std::string recipe,
                              const Layout& layout) override {
    const Hash128 hash = hashBytes(tensor.data(), tensor.bytes());
    releaseMapped(tensor.data(), tensor.bytes());  // the next to look at them is the writer
    for (const std::int32_t id : constantsByHash_[hash]) {
      const auto& known =
          program()
              .constants[static_cast<std::size_t>(program().values[static_cast<std::size_t>(id)].constant)];
      if (known.dtype == tensor.dtype() && known.dims == dims && known.layout == layout) return id;
    }
    runtime::ConstantInfo c;
    c.dtype = tensor.dtype();
    c.dims = dims;
    c.layout = layout;
    c.bytes = tensor.bytes();
    c.hash = hash;
    c.recipe = std::move(recipe);
    runtime::ValueInfo v;
    v.dtype = tensor.dtype();
    for (std::int64_t d : dims) v.dims.push_back(entry(d));
    v.storage = Storage::kConstant;
    v.constant = static_cast<std::int32_t>(program().constants.size());
    v.layout = layout;
    program().constants.push_back(std::move(c));
    built_.constants.push_back(tensor);
    program().values.push_back(std::move(v));
    const auto id = static_cast<std::int32_t>(program().values.size() - 1);
    constantsByHash_[hash].push_back(id);
    return id;
  }

  std::int32_t temporary(DType dtype, std::vector<Size> dims, const Layout& layout) override {
    runtime::ValueInfo v;
    v.dtype = dtype;
    v.storage = dependsOnRun(dims) ? Storage::kGrowing : Storage::kArena;
    for (Size d : dims) v.dims.push_back(entry(d));
    v.layout = layout;
    program().values.push_back(std::move(v));
    return static_cast<std::int32_t>(program().values.size() - 1);
  }

  void step(runtime::Step s) override {
    s.tactic = currentTactic_;
    s.predictedUs = currentUs_;
    currentUs_ = 0;  // the first step of a region carries its predicted time
    s.sources = currentSources_;
    block().steps.push_back(std::move(s));
  }

 private:
  runtime::Program& program() { return built_.program; }
  runtime::Block& block() { return program().blocks[current_]; }

  /// Sizes that are known only while running live in buffers that grow.
  bool dependsOnRun(const std::vector<Size>& dims) {
    for (Size d : dims) {
      for (SymbolId s : sizes().symbolsOf(sizes().resolve(d)))
        if (sizes().symbols()[s].origin != SymbolOrigin::kInputDim) return true;
    }
    return false;
  }

  Storage storageOf(const ir::Value& value) {
    if (value.type.kind != ir::TypeKind::kTensor || !value.type.shape.known) return Storage::kGrowing;
    return dependsOnRun(value.type.shape.dims) ? Storage::kGrowing : Storage::kArena;
  }

  std::int32_t place(ir::Value* value, const Layout& layout, Storage storage) {
    runtime::ValueInfo v;
    v.name = value->name;
    switch (value->type.kind) {
      case ir::TypeKind::kTensor: v.kind = runtime::ValueKind::kTensor; break;
      case ir::TypeKind::kSequence: v.kind = runtime::ValueKind::kSequence; break;
      case ir::TypeKind::kOptional: v.kind = runtime::ValueKind::kOptional; break;
      case ir::TypeKind::kState: v.kind = runtime::ValueKind::kState; break;
    }
    v.dtype = value->type.dtype;
    v.rankKnown = value->type.shape.known && v.kind == runtime::ValueKind::kTensor;
    v.storage = storage;
    v.layout = layout;
    v.sources = value->provenance.sources;
    const auto id = static_cast<std::int32_t>(program().values.size());
    if (v.rankKnown) {
      // Inputs keep their own symbols, so that guards can name the dim that is wrong.
      const bool isInput = storage == Storage::kInput && value->declared.known;
      const std::vector<Size>& dims = isInput ? value->declared.dims : value->type.shape.dims;
      for (Size d : dims) v.dims.push_back(isInput ? sizes().flatten(d, program().sizes) : entry(d));
      bindSymbols(dims, id);
    }
    program().values.push_back(std::move(v));
    placed_[value].push_back({layout, id});
    journal_.push_back(value);
    return id;
  }

  /// A dim that is a bare symbol is where that symbol gets its value.
  void bindSymbols(const std::vector<Size>& dims, std::int32_t id) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const auto ids = sizes().symbolsOf(dims[i]);
      if (ids.size() != 1 || sizes().symbol(ids[0]) != dims[i] ||
          sizes().symbols()[ids[0]].origin == SymbolOrigin::kHostResolved)
        continue;
      symbolHome_.try_emplace(ids[0], id, static_cast<std::uint32_t>(i));
    }
  }

  /// Makes sure that `value` exists in the program: constants and values known from sizes come into being on demand.
  void materialise(ir::Value* value) {
    if (placed_.contains(value) && !placed_[value].empty()) return;
    if (value->isConstant()) {
      placed_[value].push_back({Layout{}, constant(value->constant, value->recipe)});
      journal_.push_back(value);
      return;
    }
    CHECK(knownFromSizes(*value));
    std::vector<std::int64_t> entries;
    for (Size s : *value->contents) entries.push_back(entry(s));
    runtime::Step write;
    write.kernel = "host.write_sizes";
    write.parameters.set("entries", entries);
    write.outputs = {place(value, {}, storageOf(*value))};
    write.sources = value->provenance.sources;
    write.tactic = "host.write_sizes";
    block().steps.push_back(std::move(write));
  }

  bool knownFromSizes(const ir::Value& value) {
    if (!value.contents || value.type.kind != ir::TypeKind::kTensor || !value.type.shape.isStatic() ||
        !value.resolvedHere.empty())
      return false;
    const DType d = value.type.dtype;
    if (d != DType::kInt64 && d != DType::kInt32 && d != DType::kBool) return false;
    for (Size s : *value.contents)
      if (!s.isValid()) return false;
    return true;
  }

  /// After a value has been computed: sizes that are read from it (a sync point).
  Status afterDefinition(ir::Value* value) {
    if (value == nullptr || value->resolvedHere.empty()) return Status::ok();
    const std::int32_t id = operand(value);
    for (const auto& [element, symbol] : value->resolvedHere) symbolHome_.try_emplace(symbol, id, element);
    runtime::Step read;
    read.kernel = "host.read_sizes";
    read.inputs = {id};
    read.sources = value->provenance.sources;
    read.tactic = "host.read_sizes";
    block().steps.push_back(std::move(read));
    return Status::ok();
  }

  Status buildBlock(ir::Graph& graph, std::size_t index) {
    current_ = index;
    auto regions = formRegions(graph, {options_.target, options_.knobs});
    if (!regions) return regions.status();
    for (const tactic::Region& region : *regions) {
      ROTA_RETURN_IF_ERROR(emitRegion(region));
      current_ = index;
    }
    return Status::ok();
  }

  Status emitRegion(const tactic::Region& region) {
    bool allKnown = !region.outputs.empty();
    for (const ir::Value* out : region.outputs) allKnown = allKnown && knownFromSizes(*out);
    if (allKnown || region.outputs.empty()) return Status::ok();

    ir::Provenance provenance;
    for (const ir::Node* n : region.nodes) provenance.merge(n->provenance);
    currentSources_ = provenance.sources;
    if (region.root != nullptr && region.root->definition->kind == op::Kind::kControlFlow) {
      ROTA_RETURN_IF_ERROR(emitControlFlow(*region.root));
    } else {
      const tactic::Problem problem{region, options_.target, options_.knobs, sizes()};
      tactic::Candidates candidates = tactic::enumerate(problem);
      if (candidates.usable.empty()) {
        return Status(ErrorCode::kUnsupportedOperator, "no tactic can run this part of the model")
            .at(graph_.sources().describe(provenance));
      }
      const tactic::Candidate& best = candidates.usable.front();
      currentTactic_ = best.tactic->name;
      currentUs_ = best.predictedUs;
      Choice choice{
          .scope = region.scope, .tactic = currentTactic_, .predictedUs = best.predictedUs, .refused = {}};
      for (const auto& r : candidates.refused)
        choice.refused.emplace_back(std::string(r.tactic->name), r.reason);
      built_.choices.push_back(std::move(choice));
      if (Status s = best.tactic->emit(problem, *this); !s.isOk())
        return std::move(s).at(graph_.sources().describe(provenance));
    }
    for (ir::Node* n : region.nodes) {
      for (ir::Value* out : n->outputs) ROTA_RETURN_IF_ERROR(afterDefinition(out));
    }
    return Status::ok();
  }

  /// If, Loop and Scan: a step whose blocks are built in a scope of their own.
  Status emitControlFlow(ir::Node& node) {
    const std::vector<std::uint32_t> sources = currentSources_;
    runtime::Step flow;
    flow.kernel = node.opType == "If" ? "flow.if" : node.opType == "Loop" ? "flow.loop" : "flow.scan";
    flow.parameters = node.attributes;
    flow.version = node.version;
    for (ir::Value* in : node.inputs) flow.inputs.push_back(operand(in));
    const std::size_t outer = current_;
    for (const char* name : {"then_branch", "else_branch", "body"}) {  // a model has them in any order
      ir::Graph* const nested = node.block(name);
      if (nested == nullptr) continue;
      const auto index = program().blocks.size();
      program().blocks.emplace_back();
      program().blocks[index].name = nested->name;
      blockOfScope_.insert_or_assign(nested->scope, static_cast<std::uint32_t>(index));
      flow.blocks.push_back(static_cast<std::uint32_t>(index));
      ROTA_RETURN_IF_ERROR(buildNested(*nested, index));
    }
    current_ = outer;
    for (ir::Value* out : node.outputs) flow.outputs.push_back(define(out, {}));
    fitOperands(flow);
    currentSources_ = sources;
    currentTactic_ = flow.kernel;
    currentUs_ = 0;
    step(std::move(flow));
    return Status::ok();
  }

  /// A node may leave out operands at the end of its lists, and take fewer results than its blocks have; a step has them all.
  void fitOperands(runtime::Step& flow) {
    const bool isLoop = flow.kernel == "flow.loop";
    if (isLoop && flow.inputs.size() < 2) flow.inputs.resize(2, kNone);
    const std::size_t carried =
        isLoop ? flow.inputs.size() - 2
        : flow.kernel == "flow.scan"
            ? flow.inputs.size() - static_cast<std::size_t>(flow.parameters.getInt("num_scan_inputs"))
            : 0;
    flow.outputs.resize(std::max(flow.outputs.size(), carried), kNone);
    for (const std::uint32_t b : flow.blocks)
      program().blocks[b].results.resize(flow.outputs.size() + (isLoop ? 1 : 0));
    for (const char* name : {"scan_output_axes", "scan_output_directions"})
      if (const auto* list = flow.parameters.getInts(name); list != nullptr) {
        std::vector<std::int64_t> kept = *list;
        kept.resize(flow.outputs.size() - carried);
        flow.parameters.set(name, std::move(kept));
      }
  }

  Status buildNested(ir::Graph& nested, std::size_t index) {
    const std::size_t mark = journal_.size();
    current_ = index;
    for (ir::Value* in : nested.inputs()) {
      const std::int32_t id = place(in, {}, Storage::kBlockParam);
      program().blocks[index].params.push_back(id);
      ROTA_RETURN_IF_ERROR(afterDefinition(in));
    }
    ROTA_RETURN_IF_ERROR(buildBlock(nested, index));
    for (ir::Value* out : nested.outputs()) program().blocks[index].results.push_back(operand(out));
    // What came into being in here is not visible outside.
    while (journal_.size() > mark) {
      placed_[journal_.back()].pop_back();
      journal_.pop_back();
    }
    return Status::ok();
  }

  /// A result is written in place where one step makes it in plain order; else it is copied at the end.
  Status placeOutputs() {
    current_ = 0;
    currentTactic_ = "output copy";
    for (ir::Value* out : graph_.outputs()) {
      const std::int32_t id = operand(out);
      runtime::ValueInfo& v = program().values[static_cast<std::size_t>(id)];
      if ((v.storage == Storage::kArena || v.storage == Storage::kGrowing) &&
          v.kind == runtime::ValueKind::kTensor) {
        v.storage = Storage::kOutput;
        program().blocks[0].results.push_back(id);
        continue;
      }
      const std::int32_t copy = place(out, {}, Storage::kOutput);
      runtime::Step s;
      s.kernel = "ref:Identity";
      s.version = 1;
      s.inputs = {id};
      s.outputs = {copy};
      currentSources_ = out->provenance.sources;
      step(std::move(s));
      program().blocks[0].results.push_back(copy);
    }
    return Status::ok();
  }

  /// Guards and symbols: all symbols of the graph that the program mentions, with where they get their values.
  void finishSizes() {
    for (const SizeGuard& g : sizes().guards()) {
      bool bound = true;
      for (Size s : {g.a, g.b}) {
        for (SymbolId id : sizes().symbolsOf(s)) bound = bound && symbolHome_.contains(id);
      }
      // Facts of a branch or body hold where its block runs; when the block is gone, nothing depends on them.
      const auto block = g.scope == 0 ? blockOfScope_.end() : blockOfScope_.find(g.scope);
      if (!bound || (g.scope != 0 && block == blockOfScope_.end())) continue;
      runtime::Guard guard;
      if (g.scope != 0) guard.block = block->second;
      guard.kind =
          g.kind == GuardKind::kBroadcast ? runtime::Guard::Kind::kBroadcast : runtime::Guard::Kind::kEqual;
      guard.a = sizes().flatten(g.a, program().sizes);
      guard.b = sizes().flatten(g.b, program().sizes);
      guard.node = g.node;
      guard.reason = g.reason;
      program().guards.push_back(std::move(guard));
    }
    const auto& symbols = sizes().symbols();
    for (SymbolId id = 0; id < symbols.size(); ++id) {
      runtime::SymbolInfo s;
      s.name = symbols[id].name;
      s.origin = symbols[id].origin;
      s.range = symbols[id].range;
      if (const auto it = symbolHome_.find(id); it != symbolHome_.end()) {
        s.value = it->second.first;
        s.position = it->second.second;
      }
      program().symbols.push_back(std::move(s));
    }
  }

  void addProfiles() {
    program().profiles = options_.profiles;
    for (auto& profile : program().profiles) {
      for (auto& in : profile.inputs)
        in.value = program().blocks[0].params[static_cast<std::size_t>(in.value)];
    }
  }

  ir::Graph& graph_;
  const ProgramOptions& options_;
  BuiltProgram built_;
  std::size_t current_ = 0;
  std::string currentTactic_;
  double currentUs_ = 0;
  std::vector<std::uint32_t> currentSources_;
  std::unordered_map<const ir::Value*, std::vector<Placed>> placed_;
  std::vector<const ir::Value*> journal_;  // order of placements, to leave a scope
  std::map<Hash128, std::vector<std::int32_t>> constantsByHash_;
  std::map<SymbolId, std::pair<std::int32_t, std::uint32_t>> symbolHome_;
  std::map<std::uint32_t, std::uint32_t> blockOfScope_;  // ir::Graph::scope -> block of the program
};

}  // namespace

Result<BuiltProgram> buildProgram(ir::Graph& graph, const ProgramOptions& options) {
  return Builder(graph, options).run();
}

}  // namespace rota::plan
