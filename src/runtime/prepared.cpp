// SPDX-License-Identifier: Apache-2.0
#include "runtime/prepared.h"

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "runtime/binding.h"
#include "runtime/kernel_names.h"

namespace rota::runtime {

namespace {

/// Buffers of values with a bound are reserved at the bound up to this size; above, they grow as needed.
constexpr std::size_t kReserveLimit = std::size_t{64} << 20;
/// An interval bound is believed up to this multiple of what the largest shape of the profile needs.
constexpr std::size_t kLooseFactor = 4;
constexpr std::size_t kLooseFrom = std::size_t{1} << 20;

}  // namespace

Status unknownSize(const Program& program, std::int32_t value, std::uint32_t entry) {
  return Status(ErrorCode::kShapeMismatch, "A size cannot be computed for these input shapes")
      .at(describeValue(program, value))
      .expected("a number for '" + sizeText(program, entry) + "'")
      .found("overflow, division by zero, or a symbol that no input gives")
      .fix("check the input shapes");
}

std::string dimsText(Dims dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return text + "]";
}

std::string describeValue(const Program& program, std::int32_t value) {
  const ValueInfo& v = program.values[static_cast<std::size_t>(value)];
  const std::string sources = describeSources(program, v.sources);
  return "value '" + v.name + "'" + (sources.empty() ? "" : " of " + sources);
}

Status located(Status status, const Program& program, const Step& step) {
  if (status.isOk() || !status.detail().node.empty()) return status;
  std::string where = describeSources(program, step.sources);
  if (where.empty()) where = "step '" + step.kernel + "'";
  return std::move(status).at(std::move(where));
}

std::optional<std::size_t> Prepared::aliasOffset(std::int32_t alias) const {
  const Program& program = *loaded_->program;
  std::uint64_t offset = 0;
  for (std::int32_t at = alias; program.values[static_cast<std::size_t>(at)].storage == Storage::kAlias;
       at = program.values[static_cast<std::size_t>(at)].aliasOf) {
    const std::uint32_t entry = program.values[static_cast<std::size_t>(at)].aliasOffset;
    if (!sizes_.isKnown(entry) || sizes_.value(entry) < 0) return std::nullopt;
    offset += static_cast<std::uint64_t>(sizes_.value(entry));
  }
  return offset;
}

Result<std::unique_ptr<Prepared>> Prepared::create(const LoadedProgram& loaded, SizeValues sizes,
                                                   ThreadPool& threads) {
  std::unique_ptr<Prepared> prepared(new Prepared(loaded, std::move(sizes)));
  ROTA_RETURN_IF_ERROR(prepared->createValues());
  prepared->findBounds(nullptr);
  ROTA_RETURN_IF_ERROR(prepared->createSteps(threads));
  prepared->reserve();
  prepared->planArena();
  return prepared;
}

Result<std::unique_ptr<Prepared>> Prepared::createForProfile(const LoadedProgram& loaded, SizeValues sizes,
                                                             ThreadPool& threads, const Profile* profile) {
  std::unique_ptr<Prepared> prepared(new Prepared(loaded, std::move(sizes)));
  prepared->everyShape_ = true;
  ROTA_RETURN_IF_ERROR(prepared->createValues());
  prepared->findBounds(profile);
  ROTA_RETURN_IF_ERROR(prepared->createSteps(threads));
  prepared->reserve();
  prepared->planArena();
  return prepared;
}

Status Prepared::rebind(bool& grew) {
  ROTA_RETURN_IF_ERROR(bindValues());
  for (std::vector<StepState>& block : blocks_)
    for (StepState& s : block) {
      refresh(s);
      ROTA_RETURN_IF_ERROR(prepareStep(s));
    }
  grew = reserve();
  if (grew) planArena();
  return Status::ok();
}

Status Prepared::createValues() {
  const Program& program = *loaded_->program;
  const std::size_t count = program.values.size();
  dimsPool_.assign(std::max<std::size_t>(index().dimsPoolSize(), 1), 0);
  values_.resize(count);
  aliasOffsets_.assign(count, 0);
  arenaOffsets_.assign(count, 0);
  growingBounds_.assign(count, 0);
  reserved_.assign(count, 0);
  faults_.resize(program.blocks.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ValueInfo& info = program.values[i];
    ValueState& state = values_[i];
    state.dims = dimsPool_.data() + index().value(static_cast<std::int32_t>(i)).dimsAt;
    state.rank = static_cast<std::uint32_t>(info.dims.size());
    if (info.storage == Storage::kConstant)
      state.data = const_cast<std::byte*>(loaded_->constants[static_cast<std::size_t>(info.constant)]);
  }
  return bindValues();
}

Status Prepared::bindValues() {
  const Program& program = *loaded_->program;
  for (Status& fault : faults_) fault = Status::ok();
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (program.values[i].kind != ValueKind::kTensor || index().value(id).dynamicDims) continue;
    Status status = bindValue(id);
    if (!status.isOk()) ROTA_RETURN_IF_ERROR(faultOf(id, std::move(status)));
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (program.values[i].storage != Storage::kAlias) continue;
    const auto id = static_cast<std::int32_t>(i);
    Status status = checkAlias(id);
    if (!status.isOk()) ROTA_RETURN_IF_ERROR(faultOf(id, std::move(status)));
  }
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (program.values[i].storage == Storage::kConstant)
      setData(static_cast<std::int32_t>(i), values_[i].data);
  return Status::ok();
}

Status Prepared::bindValue(std::int32_t id) {
  const ValueInfo& info = loaded_->program->values[static_cast<std::size_t>(id)];
  ValueState& state = value(id);
  for (std::size_t d = 0; d < info.dims.size(); ++d) {
    if (!sizes_.isKnown(info.dims[d])) return unknownSize(*loaded_->program, id, info.dims[d]);
    state.dims[d] = sizes_.value(info.dims[d]);
  }
  const auto bytes = layoutBytes(info.dtype, state.dimsView(), info.layout);
  if (!bytes) return badDims(*loaded_->program, sizes_, id, state.dimsView());
  state.bytes = *bytes;
  return Status::ok();
}

Status Prepared::faultOf(std::int32_t id, Status error) {
  const ValueFacts& facts = index().value(id);
  // A view belongs to the block that looks through it, anything else to the block that computes it.
  const bool isAlias = loaded_->program->values[static_cast<std::size_t>(id)].storage == Storage::kAlias;
  const std::int32_t block = isAlias ? facts.needs : facts.block;
  if (block <= 0) return error;
  Status& fault = faults_[static_cast<std::size_t>(block)];
  if (fault.isOk()) fault = std::move(error);
  ValueState& state = value(id);
  std::fill_n(state.dims, state.rank, std::int64_t{0});
  state.bytes = 0;
  aliasOffsets_[static_cast<std::size_t>(id)] = 0;
  return Status::ok();
}

void Prepared::findBounds(const Profile* profile) {
  const Program& program = *loaded_->program;
  std::vector<SizeRange> symbols;
  for (std::size_t s = 0; s < program.symbols.size(); ++s) {
    const SymbolInfo& symbol = program.symbols[s];
    SizeRange range = symbol.range;
    if (symbol.origin == SymbolOrigin::kInputDim && profile != nullptr) {
      for (const ProfileInput& in : profile->inputs)
        if (in.value == symbol.value && symbol.position < in.max.size())
          range = {std::max(range.lo, in.min[symbol.position]), std::min(range.hi, in.max[symbol.position])};
    } else if (symbol.origin == SymbolOrigin::kInputDim) {
      const std::int64_t now = sizes_.symbol(static_cast<SymbolId>(s));
      range = {now, now};
    }
    symbols.push_back(range);
  }
  const std::vector<SizeRange> bounds = entryBounds(program, symbols);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const ValueInfo& info = program.values[i];
    const ValueFacts& facts = index().value(static_cast<std::int32_t>(i));
    if (info.kind != ValueKind::kTensor || !info.rankKnown) continue;
    std::array<std::int64_t, kMaxRank> upper{};
    bool bounded = true;
    for (std::size_t d = 0; d < info.dims.size(); ++d) {
      upper[d] = std::max<std::int64_t>(bounds[info.dims[d]].hi, 0);
      bounded &= upper[d] != std::numeric_limits<std::int64_t>::max();
    }
    const auto bytes = layoutBytes(info.dtype, Dims(upper.data(), info.dims.size()), info.layout);
    if (facts.dynamicDims) {
      const bool grows = facts.growing || info.storage == Storage::kBlockParam;
      if (!bounded || !bytes || *bytes > kReserveLimit) continue;
      if (grows) growingBounds_[i] = *bytes;
      reserved_[i] = *bytes;  // of results: memory that the context owns for them
      continue;
    }
    const std::size_t now = values_[i].bytes;
    // Intervals can be far too wide where a size falls as another grows; then the bytes of the largest shape must do, and growth is counted.
    const bool useful = bounded && bytes && *bytes / kLooseFactor <= std::max(now, kLooseFrom);
    reserved_[i] = useful ? std::max(*bytes, now) : now;
    if (facts.growing) growingBounds_[i] = reserved_[i];
  }
}

bool Prepared::reserve() {
  bool grew = false;
  const auto raise = [&grew](std::size_t& reserved, std::size_t needed) {
    if (needed <= reserved) return;
    reserved = needed;
    grew = true;
  };
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (!index().value(static_cast<std::int32_t>(i)).dynamicDims) raise(reserved_[i], values_[i].bytes);
  for (std::vector<StepState>& block : blocks_)
    for (StepState& s : block)
      if (!s.facts->dynamic) raise(s.workspaceReserved, s.workspaceBytes);
  return grew;
}

Status Prepared::checkAlias(std::int32_t alias) {
  const ValueFacts& facts = index().value(alias);
  if (facts.dynamicAlias) return Status::ok();
  const auto offset = aliasOffset(alias);
  if (!offset)
    return unknownSize(*loaded_->program, alias,
                       loaded_->program->values[static_cast<std::size_t>(alias)].aliasOffset);
  aliasOffsets_[static_cast<std::size_t>(alias)] = *offset;
  const ValueFacts& root = index().value(facts.root);
  const std::size_t available = value(facts.root).bytes;
  if (!root.dynamicDims && (*offset > available || value(alias).bytes > available - *offset))
    return Status(ErrorCode::kShapeGuard,
                  "A tensor is viewed with a shape that has more elements than it has")
        .at(describeValue(*loaded_->program, alias))
        .expected("at most " + std::to_string(available) + " bytes, as in " +
                  dimsText(value(facts.root).dimsView()))
        .found(dimsText(value(alias).dimsView()))
        .fix("check the input shapes");
  return Status::ok();
}

Status Prepared::createSteps(ThreadPool& threads) {
  const Program& program = *loaded_->program;
  blocks_.resize(program.blocks.size());
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const Block& block = program.blocks[b];
    blocks_[b].resize(block.steps.size());
    for (std::size_t i = 0; i < block.steps.size(); ++i) {
      ROTA_RETURN_IF_ERROR(
          located(createStep(block.steps[i], index().block(b).steps[i], blocks_[b][i], threads), program,
                  block.steps[i]));
      blocks_[b][i].block = static_cast<std::uint32_t>(b);
      ROTA_RETURN_IF_ERROR(prepareStep(blocks_[b][i]));
    }
  }
  return Status::ok();
}

/// Kernels whose dims are known get ready for them. In a block that cannot run there is nothing to prepare.
Status Prepared::prepareStep(StepState& state) {
  if (state.facts->action != StepAction::kKernel || state.facts->dynamic) return Status::ok();
  if (!faults_[state.block].isOk()) return Status::ok();
  Status status =
      located(state.kernel->prepare(state.binding, state.workspaceBytes), *loaded_->program, *state.step);
  if (status.isOk() || state.block == 0) return status;
  faults_[state.block] = std::move(status);
  return Status::ok();
}

Status Prepared::createStep(const Step& step, const StepFacts& facts, StepState& state, ThreadPool& threads) {
  const Program& program = *loaded_->program;
  state.step = &step;
  state.facts = &facts;
  state.carriedOffsets.resize(facts.carried.size());
  state.carriedPlaces.resize(facts.carried.size());
  state.carriedDims.resize(facts.carried.size() * (kMaxRank + 1));
  state.carriedSequences.resize(facts.carried.size());
  if (facts.action == StepAction::kReference) {
    state.reference = referenceKernelOf(step);
    CHECK(state.reference != nullptr);  // as loadProgram has made sure
    state.referenceInputs.resize(step.inputs.size());
    state.referenceOutputs.resize(step.outputs.size());
    refresh(state);
    return Status::ok();
  }
  if (facts.action != StepAction::kKernel) return Status::ok();
  const StepKernelFactory factory = findStepKernel(step.kernel);
  CHECK(factory != nullptr);
  auto kernel = factory(StepKernelSpec{step, program});
  if (!kernel) return kernel.status();
  state.kernel = std::move(*kernel);
  state.inputs.resize(step.inputs.size());
  state.outputs.resize(step.outputs.size());
  const auto describe = [&](std::int32_t id, Operand& operand) {
    if (id == kNone) return;
    const ValueInfo& info = program.values[static_cast<std::size_t>(id)];
    operand.view.dtype = info.dtype;
    operand.layout = &info.layout;
    operand.isConstant =
        program.values[static_cast<std::size_t>(index().value(id).root)].storage == Storage::kConstant;
  };
  for (std::size_t i = 0; i < step.inputs.size(); ++i) describe(step.inputs[i], state.inputs[i]);
  for (std::size_t i = 0; i < step.outputs.size(); ++i) describe(step.outputs[i], state.outputs[i]);
  state.binding.inputs = state.inputs;
  state.binding.outputs = state.outputs;
  state.binding.threads = &threads;
  state.binding.sizes = sizes_.values();
  // Dims that are found while running differ from run to run.
  state.binding.everyShape = everyShape_ || facts.dynamic;
  refresh(state);
  return Status::ok();
}

void Prepared::refresh(StepState& state) {
  const Step& step = *state.step;
  if (state.facts->action == StepAction::kReference) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      if (step.inputs[i] != kNone) {
        const ValueState& v = value(step.inputs[i]);
        state.referenceInputs[i] = {loaded_->program->values[static_cast<std::size_t>(step.inputs[i])].dtype,
                                    v.dimsView(), v.data};
      }
    for (std::size_t i = 0; i < step.outputs.size(); ++i)
      if (step.outputs[i] != kNone) {
        const ValueState& v = value(step.outputs[i]);
        state.referenceOutputs[i] = {
            loaded_->program->values[static_cast<std::size_t>(step.outputs[i])].dtype, v.dimsView(), v.data};
      }
    return;
  }
  for (std::size_t i = 0; i < state.inputs.size(); ++i)
    if (step.inputs[i] != kNone) {
      const ValueState& v = value(step.inputs[i]);
      state.inputs[i].view.data = v.data;
      state.inputs[i].view.dims = v.dimsView();
    }
  for (std::size_t i = 0; i < state.outputs.size(); ++i)
    if (step.outputs[i] != kNone) {
      const ValueState& v = value(step.outputs[i]);
      state.outputs[i].view.data = v.data;
      state.outputs[i].view.dims = v.dimsView();
      state.outputs[i].mutableData = v.data;
    }
}

std::vector<ArenaRequest> arenaRequests(const ProgramIndex& index, const std::vector<std::size_t>& bytesOf,
                                        const std::vector<std::vector<std::size_t>>& workspace) {
  const Program& program = index.program();
  std::vector<ArenaRequest> requests;
  std::vector<std::uint8_t> carriedResult(program.values.size(), 0);
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
    for (std::uint32_t i = 0; i < program.blocks[b].steps.size(); ++i) {
      const StepFacts& facts = index.block(b).steps[i];
      for (std::uint32_t c = 0; c < facts.carried.size(); ++c) {
        const Carried& carried = facts.carried[c];
        if (!carried.isStatic) continue;
        if (carried.direct) carriedResult[static_cast<std::size_t>(carried.result)] = 1;
        for (std::uint32_t half = 0; half < 2; ++half)
          requests.push_back(
              {ArenaRequest::Owner::kCarried,
               carried.param,
               b,
               i,
               c * 2 + half,
               {bytesOf[static_cast<std::size_t>(carried.param)], facts.range.first, facts.range.last}});
      }
      if (workspace[b][i] != 0)
        requests.push_back({ArenaRequest::Owner::kWorkspace,
                            kNone,
                            b,
                            i,
                            0,
                            {workspace[b][i], facts.range.first, facts.range.last}});
    }
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    const ValueInfo& info = program.values[v];
    const auto id = static_cast<std::int32_t>(v);
    if (info.kind != ValueKind::kTensor || info.storage != Storage::kArena || index.value(id).growing ||
        carriedResult[v] != 0 || index.lifetime(id).isEmpty())
      continue;
    requests.push_back({ArenaRequest::Owner::kValue,
                        id,
                        0,
                        0,
                        0,
                        {bytesOf[v], index.lifetime(id).first, index.lifetime(id).last}});
  }
  return requests;
}

void Prepared::planArena() {
  std::vector<std::vector<std::size_t>> workspace(blocks_.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (const StepState& s : blocks_[b]) workspace[b].push_back(s.facts->dynamic ? 0 : s.workspaceReserved);
  const std::vector<ArenaRequest> requests = arenaRequests(index(), reserved_, workspace);
  std::vector<BufferRequest> buffers;
  buffers.reserve(requests.size());
  for (const ArenaRequest& r : requests) buffers.push_back(r.buffer);
  plan_ = planMemory(buffers);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ArenaRequest& r = requests[i];
    switch (r.owner) {
      case ArenaRequest::Owner::kValue:
        arenaOffsets_[static_cast<std::size_t>(r.value)] = plan_.offsets[i];
        break;
      case ArenaRequest::Owner::kWorkspace:
        blocks_[r.block][r.step].workspaceOffset = plan_.offsets[i];
        break;
      case ArenaRequest::Owner::kCarried:
        blocks_[r.block][r.step].carriedOffsets[r.slot / 2][r.slot % 2] = plan_.offsets[i];
        break;
    }
  }
}

void Prepared::place(std::byte* arena) {
  arena_ = arena;
  const Program& program = *loaded_->program;
  for (std::size_t v = 0; v < values_.size(); ++v) {
    const auto id = static_cast<std::int32_t>(v);
    if (program.values[v].storage == Storage::kArena && !index().value(id).growing &&
        program.values[v].kind == ValueKind::kTensor)
      setData(id, arena + arenaOffsets_[v]);
  }
  for (std::vector<StepState>& block : blocks_)
    for (StepState& s : block) {
      for (std::size_t c = 0; c < s.carriedOffsets.size(); ++c)
        s.carriedPlaces[c] = {arena + s.carriedOffsets[c][0], arena + s.carriedOffsets[c][1]};
      if (!s.facts->dynamic && s.workspaceBytes != 0) s.binding.workspace = arena + s.workspaceOffset;
      refresh(s);
    }
}

}  // namespace rota::runtime
