// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor.h"

#include <algorithm>
#include <chrono>

#include "core/check.h"
#include "runtime/binding.h"

namespace rota::runtime {

namespace {

double nowUs() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status wrongDims(Dims dims, const std::string& planned) {
  return Status(ErrorCode::kShapeMismatch, "A step found other dims than the plan says")
      .expected(planned)
      .found(dimsText(dims));
}

}  // namespace

RunMemory::RunMemory(const Program& program)
    : growing(program.values.size()),
      spare(program.values.size()),
      sequences(program.values.size()),
      outputOf(program.values.size(), kNone),
      activeBlocks(program.blocks.size(), 0) {
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    if (program.values[v].storage == Storage::kOutput) {
      outputOf[v] = static_cast<std::int32_t>(outputs.size());
      outputs.emplace_back();
    }
    sequences[v].dtype = program.values[v].dtype;
    sequences[v].isOptional = program.values[v].kind == ValueKind::kOptional;
  }
}

std::size_t RunMemory::bytes() const {
  std::size_t total = arena.capacity() + dynamicWorkspace.capacity() + scratch.bytes();
  for (const auto* list : {&growing, &spare})
    for (const GrowingBuffer& buffer : *list) total += buffer.capacity();
  for (const OutputMemory& output : outputs) total += output.own.capacity();
  return total;
}

Status Executor::run() {
  for (SymbolId symbol : prepared_.index().runtimeSymbols()) prepared_.sizes().forget(symbol);
  if (memory_.profiling) std::fill(memory_.stepUs.begin(), memory_.stepUs.end(), 0.0);
  std::fill(memory_.activeBlocks.begin(), memory_.activeBlocks.end(), std::uint8_t{0});
  ROTA_RETURN_IF_ERROR(runBlock(0));
  for (std::int32_t v : program_.blocks[0].results)
    if (facts(v).dynamicAlias) ROTA_RETURN_IF_ERROR(resolveAlias(v));
  return Status::ok();
}

Status Executor::runBlock(std::uint32_t block) {
  if (memory_.profiling) {
    for (StepState& step : prepared_.block(block)) {
      Status status = runTimed(step);
      if (!status.isOk()) return located(std::move(status), program_, *step.step);
    }
    return Status::ok();
  }
  for (StepState& step : prepared_.block(block)) {
    Status status = runStep(step);
    if (!status.isOk()) return located(std::move(status), program_, *step.step);
  }
  return Status::ok();
}

Status Executor::runNested(std::uint32_t block) {
  for (std::uint32_t guard : prepared_.index().sizes().blockGuards(block))
    ROTA_RETURN_IF_ERROR(checkGuard(program_, prepared_.sizes(), guard));
  if (!prepared_.blockFault(block).isOk()) return prepared_.blockFault(block);
  memory_.activeBlocks[block] = 1;
  ROTA_RETURN_IF_ERROR(
      runBlock(block));  // after an error the run ends, and the next one starts with no block active
  memory_.activeBlocks[block] = 0;
  return Status::ok();
}

Status Executor::runTimed(StepState& step) {
  // A step of control flow is charged with its own time only; the steps of its blocks have theirs.
  const double outer = nestedUs_;
  nestedUs_ = 0;
  const double start = nowUs();
  Status status = runStep(step);
  const double us = nowUs() - start;
  memory_.stepUs[step.facts->ordinal] += us - nestedUs_;
  nestedUs_ = outer + us;
  return status;
}

Status Executor::runStep(StepState& step) {
  switch (step.facts->action) {
    case StepAction::kKernel: return runKernel(step);
    case StepAction::kReference: return runReference(step);
    case StepAction::kReadSizes: return readSizes(step);
    case StepAction::kIf: return runIf(step);
    case StepAction::kLoop: return runLoop(step);
    case StepAction::kScan: return runScan(step);
  }
  return Status::ok();
}

Status Executor::runKernel(StepState& step) {
  if (step.facts->dynamic) {
    ROTA_RETURN_IF_ERROR(resolveAliases(step));
    ROTA_RETURN_IF_ERROR(sizeOutputs(step));
    prepared_.refresh(step);
    ROTA_RETURN_IF_ERROR(prepareDynamic(step));
    current_ = &step;
    step.binding.sizer = this;
    Status status = step.kernel->run(step.binding);
    step.binding.sizer = nullptr;
    return status.isOk() ? allOutputsSized(step) : status;
  }
  if (step.facts->movable) prepared_.refresh(step);
  return step.kernel->run(step.binding);
}

Status Executor::prepareDynamic(StepState& step) {
  bool same = step.everPrepared;
  std::size_t at = 0;
  for (const auto* list : {&step.inputs, &step.outputs})
    for (const Operand& operand : *list) {
      const std::size_t rank = operand.view.dims.size();
      same = same && at < step.preparedDims.size() &&
             step.preparedDims[at] == static_cast<std::int64_t>(rank) &&
             std::equal(operand.view.dims.begin(), operand.view.dims.end(),
                        step.preparedDims.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      at += rank + 1;
    }
  if (!same) {
    step.preparedDims.clear();
    for (const auto* list : {&step.inputs, &step.outputs})
      for (const Operand& operand : *list) {
        step.preparedDims.push_back(static_cast<std::int64_t>(operand.view.dims.size()));
        step.preparedDims.insert(step.preparedDims.end(), operand.view.dims.begin(), operand.view.dims.end());
      }
    step.everPrepared = false;
    step.workspaceBytes = 0;
    ROTA_RETURN_IF_ERROR(step.kernel->prepare(step.binding, step.workspaceBytes));
    step.everPrepared = true;
  }
  if (step.workspaceBytes != 0) {
    ROTA_RETURN_IF_ERROR(memory_.dynamicWorkspace.reserve(step.workspaceBytes));
    step.binding.workspace = memory_.dynamicWorkspace.data();
  }
  return Status::ok();
}

Status Executor::runReference(StepState& step) {
  const bool dynamic = step.facts->dynamic;
  if (dynamic) {
    ROTA_RETURN_IF_ERROR(resolveAliases(step));
    ROTA_RETURN_IF_ERROR(sizeOutputs(step));
  }
  if (step.facts->writesSequences)
    for (std::int32_t v : step.step->outputs)
      if (v != kNone) {
        memory_.sequences[static_cast<std::size_t>(v)].elements.clear();
        memory_.sequences[static_cast<std::size_t>(v)].holdsEmptySequence = false;
      }
  if (step.facts->movable) prepared_.refresh(step);
  current_ = &step;
  ref::KernelContext context(*this, step.step->parameters, step.step->version, step.referenceInputs,
                             step.referenceOutputs);
  Status status = step.reference(context);
  Status given = memory_.scratch.reset();
  if (!status.isOk()) return status;
  if (!given.isOk()) return given;
  return dynamic ? allOutputsSized(step) : Status::ok();
}

Status Executor::readSizes(const StepState& step) {
  ROTA_RETURN_IF_ERROR(resolveAliases(step));
  for (SymbolId symbol : step.facts->reads) {
    const SymbolInfo& s = program_.symbols[symbol];
    const ValueState& v = state(s.value);
    const TensorView view{info(s.value).dtype, v.dimsView(), v.data};
    if (static_cast<std::int64_t>(s.position) >= view.count())
      return Status(ErrorCode::kShapeMismatch, "A tensor of sizes has fewer elements than the plan says")
          .at(describeValue(program_, s.value))
          .found(dimsText(view.dims));
    ROTA_RETURN_IF_ERROR(bindSymbol(symbol, intAt(view, s.position)));
  }
  return Status::ok();
}

Status Executor::resolveAliases(const StepState& step) {
  for (std::int32_t v : step.step->inputs)
    if (v != kNone && facts(v).dynamicAlias) ROTA_RETURN_IF_ERROR(resolveAlias(v));
  return Status::ok();
}

Status Executor::resolveAlias(std::int32_t alias) {
  std::array<std::int64_t, kMaxRank> dims{};
  if (!knownDims(alias, dims)) {
    for (std::uint32_t d : info(alias).dims)
      if (!prepared_.sizes().isKnown(d)) return unknownSize(program_, alias, d);
    return Status(ErrorCode::kShapeMismatch, "A view of unknown rank").at(describeValue(program_, alias));
  }
  const auto offset = prepared_.aliasOffset(alias);
  if (!offset) return unknownSize(program_, alias, info(alias).aliasOffset);
  ValueState& v = state(alias);
  const ValueState& root = state(facts(alias).root);
  const auto bytes =
      layoutBytes(info(alias).dtype, Dims(dims.data(), info(alias).dims.size()), info(alias).layout);
  if (!bytes || *offset > root.bytes || *bytes > root.bytes - *offset)
    return Status(ErrorCode::kShapeMismatch, "A view does not fit the tensor it views")
        .at(describeValue(program_, alias))
        .expected("at most " + std::to_string(root.bytes) + " bytes, as in " + dimsText(root.dimsView()))
        .found(dimsText(Dims(dims.data(), info(alias).dims.size())));
  v.rank = static_cast<std::uint32_t>(info(alias).dims.size());
  std::copy_n(dims.begin(), v.rank, v.dims);
  v.bytes = *bytes;
  v.data = root.data + *offset;
  return Status::ok();
}

bool Executor::knownDims(std::int32_t value, std::array<std::int64_t, kMaxRank>& dims) const {
  if (!info(value).rankKnown) return false;
  const std::vector<std::uint32_t>& entries = info(value).dims;
  for (std::size_t d = 0; d < entries.size(); ++d) {
    if (!prepared_.sizes().isKnown(entries[d])) return false;
    dims[d] = prepared_.sizes().value(entries[d]);
  }
  return true;
}

Status Executor::broadcastDims(const StepState& step, std::array<std::int64_t, kMaxRank>& dims,
                               std::size_t& rank) const {
  rank = 0;
  for (std::int32_t v : step.step->inputs)
    if (v != kNone) rank = std::max<std::size_t>(rank, prepared_.value(v).rank);
  std::fill_n(dims.begin(), rank, 1);
  for (std::int32_t v : step.step->inputs) {
    if (v == kNone) continue;
    const Dims mine = prepared_.value(v).dimsView();
    for (std::size_t d = 0; d < mine.size(); ++d) {
      std::int64_t& all = dims[rank - mine.size() + d];
      if (all == 1)
        all = mine[d];
      else if (mine[d] != 1 && mine[d] != all)
        return Status(ErrorCode::kShapeMismatch, "Inputs cannot be broadcast against each other")
            .expected("equal dims, or 1")
            .found(dimsText(mine) + " against " + dimsText(Dims(dims.data(), rank)));
    }
  }
  return Status::ok();
}

Status Executor::sizeOutputs(const StepState& step) {
  for (std::int32_t v : step.step->outputs) {
    if (v == kNone || info(v).kind != ValueKind::kTensor || !(facts(v).dynamicDims || facts(v).growing))
      continue;
    ValueState& value = state(v);
    value.settled = false;
    std::array<std::int64_t, kMaxRank> dims{};
    std::size_t rank = info(v).dims.size();
    if (!knownDims(v, dims)) {
      // Empty until the kernel sizes it, so that a kernel which never does writes nothing, and allOutputsSized reports it.
      value.rank =
          std::min<std::uint32_t>(1, info(v).rankKnown ? static_cast<std::uint32_t>(info(v).dims.size()) : 1);
      if (value.rank != 0) value.dims[0] = 0;
      value.data = nullptr;
      if (step.step->shapeRule != ShapeRule::kBroadcast) continue;
      ROTA_RETURN_IF_ERROR(broadcastDims(step, dims, rank));
    }
    ROTA_RETURN_IF_ERROR(settle(v, Dims(dims.data(), rank)));
  }
  return Status::ok();
}

Status Executor::allOutputsSized(const StepState& step) const {
  for (std::int32_t v : step.step->outputs)
    if (v != kNone && info(v).kind == ValueKind::kTensor && facts(v).dynamicDims &&
        !prepared_.value(v).settled)
      return Status(ErrorCode::kInternal, "A kernel did not size its output")
          .expected("dims for " + describeValue(program_, v));
  return Status::ok();
}

Status Executor::settle(std::int32_t value, Dims dims) {
  ROTA_RETURN_IF_ERROR(setDims(value, dims));
  ROTA_RETURN_IF_ERROR(giveMemory(value, state(value).bytes, 0));
  state(value).settled = true;
  return Status::ok();
}

Status Executor::setDims(std::int32_t value, Dims dims) {
  const ValueInfo& v = info(value);
  ValueState& s = state(value);
  if ((v.rankKnown && dims.size() != v.dims.size()) || dims.size() > kMaxRank)
    return wrongDims(dims, "rank " + std::to_string(v.dims.size()));
  const auto bytes = layoutBytes(v.dtype, dims, v.layout);
  if (!bytes)
    return Status(ErrorCode::kShapeMismatch,
                  "A tensor has a negative dim, or more bytes than can be addressed")
        .found(dimsText(dims));
  s.rank = static_cast<std::uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), s.dims);
  s.bytes = *bytes;
  return bindSymbols(value);
}

Status Executor::bindSymbols(std::int32_t value) {
  const ValueInfo& v = info(value);
  const Dims dims = state(value).dimsView();
  for (SymbolId symbol : facts(value).binds) {
    const std::uint32_t position = program_.symbols[symbol].position;
    if (position >= dims.size()) return wrongDims(dims, "at least " + std::to_string(position + 1) + " dims");
    ROTA_RETURN_IF_ERROR(bindSymbol(symbol, dims[position]));
  }
  if (!v.rankKnown) return Status::ok();
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (prepared_.sizes().isKnown(v.dims[d]) && prepared_.sizes().value(v.dims[d]) != dims[d])
      return wrongDims(dims,
                       std::to_string(prepared_.sizes().value(v.dims[d])) + " for dim " + std::to_string(d));
  return Status::ok();
}

Status Executor::bindSymbol(SymbolId symbol, std::int64_t found) {
  ROTA_RETURN_IF_ERROR(checkFound(program_, symbol, found));
  prepared_.sizes().bind(symbol, found);
  for (std::uint32_t guard : prepared_.index().sizes().guards(symbol)) {
    const std::uint32_t block = program_.guards[guard].block;
    if (block == 0 || memory_.activeBlocks[block] != 0)
      ROTA_RETURN_IF_ERROR(checkGuard(program_, prepared_.sizes(), guard));
  }
  return Status::ok();
}

Status Executor::giveMemory(std::int32_t value, std::size_t bytes, std::size_t used) {
  const std::int32_t output = memory_.outputOf[static_cast<std::size_t>(value)];
  if (output == kNone) {
    GrowingBuffer& buffer = memory_.growing[static_cast<std::size_t>(value)];
    ROTA_RETURN_IF_ERROR(buffer.reserveKeeping(bytes, used));
    prepared_.setData(value, buffer.data());
    return Status::ok();
  }
  OutputMemory& memory = memory_.outputs[static_cast<std::size_t>(output)];
  if (memory.caller != nullptr) {
    if (bytes > memory.callerBytes)
      return Status(ErrorCode::kOutputBuffer, "The caller's output buffer is too small")
          .at("output '" + info(value).name + "'")
          .expected(std::to_string(bytes) + " bytes")
          .found(std::to_string(memory.callerBytes) + " bytes");
    prepared_.setData(value, static_cast<std::byte*>(memory.caller));
    return Status::ok();
  }
  ROTA_RETURN_IF_ERROR(memory.own.reserveKeeping(bytes, used));
  prepared_.setData(value, memory.own.data());
  return Status::ok();
}

Result<MutableTensorView> Executor::allocateOutput(std::size_t index, Dims dims) {
  const std::int32_t v = index < current_->step->outputs.size() ? current_->step->outputs[index] : kNone;
  if (v == kNone || info(v).kind != ValueKind::kTensor)
    return Status(ErrorCode::kInternal, "A kernel asked for an output that it does not have");
  ValueState& value = state(v);
  if (!facts(v).dynamicDims || value.settled) {
    if (!std::equal(dims.begin(), dims.end(), value.dims, value.dims + value.rank))
      return wrongDims(dims, dimsText(value.dimsView()));
  } else {
    Status status = settle(v, dims);
    if (!status.isOk()) return status;
  }
  return MutableTensorView{info(v).dtype, value.dimsView(), value.data};
}

Result<void*> Executor::sizeOutput(std::size_t index, Dims dims) {
  auto view = allocateOutput(index, dims);
  if (!view) return view.status();
  Operand& operand = current_->outputs[index];
  operand.view = {view->dtype, view->dims, view->data};
  operand.mutableData = view->data;
  return view->data;
}

const ref::Sequence* Executor::inputSequence(std::size_t index) {
  const std::int32_t v = index < current_->step->inputs.size() ? current_->step->inputs[index] : kNone;
  if (v == kNone || info(v).kind == ValueKind::kTensor) return nullptr;
  return &memory_.sequences[static_cast<std::size_t>(v)];
}

ref::Sequence* Executor::outputSequence(std::size_t index) {
  const std::int32_t v = index < current_->step->outputs.size() ? current_->step->outputs[index] : kNone;
  if (v == kNone || info(v).kind == ValueKind::kTensor) return nullptr;
  return &memory_.sequences[static_cast<std::size_t>(v)];
}

}  // namespace rota::runtime
