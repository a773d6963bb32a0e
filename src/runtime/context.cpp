// SPDX-License-Identifier: Apache-2.0
#include "runtime/context.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <new>
#include <string>

#include "core/check.h"
#include "runtime/binding.h"
#include "runtime/executor.h"
#include "runtime/kernel_names.h"

namespace rota::runtime {

namespace {

struct InputSlot {
  std::int32_t value = kNone;
  bool given = false;
  const void* data = nullptr;
  std::uint32_t rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
  GrowingBuffer aligned;  ///< A copy of caller memory that is not aligned for its type.
  Dims dimsView() const { return {dims.data(), rank}; }
};

struct ResultSlot {
  std::int32_t value = kNone;
  std::int32_t output =
      kNone;  ///< Index into RunMemory::outputs when this is the name whose memory the step writes.
  void* caller = nullptr;
  std::size_t callerBytes = 0;
  GrowingBuffer copy;  ///< Results that no step writes into output memory: inputs, constants, views.
  const void* data = nullptr;
  std::uint32_t rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
};

bool isAligned(const void* data, DType dtype) {
  const auto bytes = static_cast<std::uintptr_t>(std::max(info(dtype).bits / 8, 1));
  const std::uintptr_t unit = std::min<std::uintptr_t>(bytes, 8);
  return reinterpret_cast<std::uintptr_t>(data) % unit == 0;
}

/// Runs `body` so that nothing is thrown out of the public API.
template <typename F> Status contained(const F& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "Memory ran out");
  } catch (const std::exception& error) {
    return Status(ErrorCode::kInternal, std::string("An exception came out of a kernel: ") + error.what());
  }
}

class ProgramContext final : public Context {
 public:
  ProgramContext(std::shared_ptr<const LoadedProgram> loaded, std::shared_ptr<ThreadPool> threads);

  Status setInput(std::string_view name, const TensorView& value) override;
  Status setInputSequence(std::string_view name, std::span<const TensorView> elements) override;
  Status setOutputBuffer(std::string_view name, void* data, std::size_t capacityBytes) override;
  Status useProfile(std::string_view name) override;
  Status prepare() override {
    return contained([&] { return bind(); });
  }
  /// Makes the bindings of the profiles, with memory for the largest shape of each.
  Status prepareProfiles();
  Status run() override {
    return contained([&] { return runOnce(); });
  }
  Result<TensorView> output(std::string_view name) const override;
  Result<std::vector<TensorView>> outputSequence(std::string_view name) const override;
  std::size_t activationBytes() const override;
  std::uint64_t implicitPrepares() const override { return implicitPrepares_; }
  void setProfiling(bool on) override;
  std::vector<StepTime> profile() const override;

 private:
  const Program& program() const { return *loaded_->program; }
  const ValueInfo& info(std::int32_t value) const {
    return program().values[static_cast<std::size_t>(value)];
  }
  Result<std::size_t> inputIndex(std::string_view name) const;
  Result<std::size_t> resultIndex(std::string_view name) const;
  bool matches(const Prepared& prepared) const;
  Prepared* findPrepared();
  Status bind();
  Status bindEveryShape();
  Status bindProfile(std::int32_t profile);
  Status createPrepared();
  Status createForProfile(std::int32_t profile, bool fromRequest);
  bool cornerSizes(std::int32_t profile, std::vector<std::int64_t> ProfileInput::* corner,
                   SizeValues& sizes) const;
  Status reserveMemory(Prepared& prepared);
  Status placeAgain(Prepared& prepared);
  void gatherShapes();
  Status allGiven() const;
  Status runOnce();
  Status placeInputs();
  Status placeOutputs();
  Status takeResults();
  Status takeCopy(ResultSlot& slot, const ValueState& state);
  void addProfile(std::uint32_t block, std::vector<StepTime>& times) const;

  std::shared_ptr<const LoadedProgram> loaded_;
  std::shared_ptr<ThreadPool> threads_;
  RunMemory memory_;
  std::map<std::string, std::size_t, std::less<>> inputByName_;
  std::map<std::string, std::size_t, std::less<>> resultByName_;
  std::vector<InputSlot> inputs_;
  std::vector<ResultSlot> results_;
  std::vector<std::unique_ptr<Prepared>> cache_;
  std::vector<std::unique_ptr<Prepared>> everyShape_;  // by profile; one when there is none
  std::vector<InputShape> shapes_;
  std::int32_t wantedProfile_ = kAnyProfile;
  bool dimsAreFixed_ = true;
  Prepared* current_ = nullptr;
  bool shapesChanged_ = true;
  bool hasRun_ = false;
  std::uint64_t clock_ = 0;
  std::uint64_t implicitPrepares_ = 0;
};

ProgramContext::ProgramContext(std::shared_ptr<const LoadedProgram> loaded,
                               std::shared_ptr<ThreadPool> threads)
    : loaded_(std::move(loaded)),
      threads_(std::move(threads)),
      memory_(*loaded_->program) {
  const Block& main = program().blocks[0];
  inputs_.resize(main.params.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].value = main.params[i];
    inputByName_.emplace(program().inputNames[i], i);
  }
  results_.resize(main.results.size());
  std::vector<std::uint8_t> taken(memory_.outputs.size(), 0);
  for (std::size_t i = 0; i < results_.size(); ++i) {
    results_[i].value = main.results[i];
    resultByName_.emplace(program().outputNames[i], i);
    const std::int32_t output = memory_.outputOf[static_cast<std::size_t>(main.results[i])];
    if (output == kNone || taken[static_cast<std::size_t>(output)] != 0) continue;
    taken[static_cast<std::size_t>(output)] = 1;
    results_[i].output = output;
  }
  memory_.stepUs.assign(loaded_->index->stepCount(), 0.0);
  shapes_.reserve(inputs_.size());
  everyShape_.resize(std::max<std::size_t>(1, program().profiles.size()));
  for (const InputSlot& slot : inputs_) {
    const ValueInfo& v = info(slot.value);
    if (v.kind != ValueKind::kTensor) continue;
    dimsAreFixed_ = dimsAreFixed_ && v.rankKnown;
    for (std::uint32_t d : v.dims)
      dimsAreFixed_ = dimsAreFixed_ && program().sizes[d].op == SizeContext::Op::kConstant;
  }
  cache_.reserve(kBoundShapes + 1);
}

std::string knownNames(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i)
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text.empty() ? "none" : text;
}

Result<std::size_t> ProgramContext::inputIndex(std::string_view name) const {
  const auto it = inputByName_.find(name);
  if (it != inputByName_.end()) return it->second;
  return Status(ErrorCode::kUnknownName, "No input has this name")
      .expected(knownNames(program().inputNames))
      .found("'" + std::string(name) + "'");
}

Result<std::size_t> ProgramContext::resultIndex(std::string_view name) const {
  const auto it = resultByName_.find(name);
  if (it != resultByName_.end()) return it->second;
  return Status(ErrorCode::kUnknownName, "No output has this name")
      .expected(knownNames(program().outputNames))
      .found("'" + std::string(name) + "'");
}

Status ProgramContext::setInput(std::string_view name, const TensorView& value) {
  auto index = inputIndex(name);
  if (!index) return index.status();
  InputSlot& slot = inputs_[*index];
  const ValueInfo& expected = info(slot.value);
  const auto wrong = [&](ErrorCode code, const char* message) {
    return Status(code, message).at("input '" + std::string(name) + "'");
  };
  if (expected.kind != ValueKind::kTensor)
    return wrong(ErrorCode::kInputType, "This input is a sequence or optional").fix("use setInputSequence");
  if (value.dtype != expected.dtype)
    return wrong(ErrorCode::kInputType, "An input has the wrong element type")
        .expected(rota::info(expected.dtype).name)
        .found(rota::info(value.dtype).name)
        .fix("convert the data before binding it");
  if (value.dims.size() > kMaxRank)
    return wrong(ErrorCode::kInputShape, "An input has too many dims")
        .expected("at most 16")
        .found(std::to_string(value.dims.size()));
  if (!slot.given ||
      !std::equal(value.dims.begin(), value.dims.end(), slot.dims.begin(), slot.dims.begin() + slot.rank)) {
    shapesChanged_ = true;
    slot.rank = static_cast<std::uint32_t>(value.dims.size());
    std::copy(value.dims.begin(), value.dims.end(), slot.dims.begin());
  }
  slot.given = true;
  slot.data = value.data;
  return Status::ok();
}

Status ProgramContext::setInputSequence(std::string_view name, std::span<const TensorView> elements) {
  auto index = inputIndex(name);
  if (!index) return index.status();
  InputSlot& slot = inputs_[*index];
  const ValueInfo& expected = info(slot.value);
  const std::string where = "input '" + std::string(name) + "'";
  if (expected.kind != ValueKind::kSequence && expected.kind != ValueKind::kOptional)
    return Status(ErrorCode::kInputType, "This input is a tensor").at(where).fix("use setInput");
  if (expected.kind == ValueKind::kOptional && elements.size() > 1)
    return Status(ErrorCode::kInputType, "An optional has at most one element")
        .at(where)
        .found(std::to_string(elements.size()));
  return contained([&]() -> Status {
    std::vector<Tensor> copies;
    for (const TensorView& element : elements) {
      if (element.dtype != expected.dtype)
        return Status(ErrorCode::kInputType, "An element of a sequence has the wrong element type")
            .at(where)
            .expected(rota::info(expected.dtype).name)
            .found(rota::info(element.dtype).name);
      auto copy = Tensor::allocate(element.dtype, {element.dims.begin(), element.dims.end()});
      if (!copy) return copy.status();
      if (element.bytes() != 0) std::memcpy(copy->mutableData(), element.data, element.bytes());
      copies.push_back(std::move(*copy));
    }
    memory_.sequences[static_cast<std::size_t>(slot.value)].elements = std::move(copies);
    slot.given = true;
    return Status::ok();
  });
}

Status ProgramContext::setOutputBuffer(std::string_view name, void* data, std::size_t capacityBytes) {
  auto index = resultIndex(name);
  if (!index) return index.status();
  results_[*index].caller = data;
  results_[*index].callerBytes = data == nullptr ? 0 : capacityBytes;
  return Status::ok();
}

Status ProgramContext::allGiven() const {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (!inputs_[i].given)
      return Status(ErrorCode::kInputMissing, "An input has not been given")
          .at("input '" + program().inputNames[i] + "'")
          .fix("give every input of the model");
  return Status::ok();
}

bool ProgramContext::matches(const Prepared& prepared) const {
  std::size_t at = 0;
  for (const InputSlot& slot : inputs_) {
    if (prepared.key[at++] != static_cast<std::int64_t>(slot.rank)) return false;
    for (std::uint32_t d = 0; d < slot.rank; ++d)
      if (prepared.key[at++] != slot.dims[d]) return false;
  }
  return true;
}

Prepared* ProgramContext::findPrepared() {
  for (const auto& prepared : cache_)
    if (matches(*prepared)) return prepared.get();
  return nullptr;
}

Status ProgramContext::useProfile(std::string_view name) {
  std::int32_t wanted = kAnyProfile;
  std::vector<std::string> names;
  for (std::size_t p = 0; p < program().profiles.size(); ++p) {
    names.push_back(program().profiles[p].name);
    if (name == names.back()) wanted = static_cast<std::int32_t>(p);
  }
  if (!name.empty() && wanted == kAnyProfile)
    return Status(ErrorCode::kUnknownName, "The engine has no profile of this name")
        .expected(knownNames(names))
        .found("'" + std::string(name) + "'");
  if (wanted == wantedProfile_) return Status::ok();
  wantedProfile_ = wanted;
  shapesChanged_ = true;
  return Status::ok();
}

void ProgramContext::gatherShapes() {
  shapes_.clear();
  for (const InputSlot& slot : inputs_) {
    const bool isTensor = info(slot.value).kind == ValueKind::kTensor;
    shapes_.push_back({isTensor ? info(slot.value).dtype : DType::kUndefined, slot.dimsView()});
  }
}

Status ProgramContext::bind() {
  ROTA_RETURN_IF_ERROR(allGiven());
  current_ = nullptr;
  gatherShapes();
  auto profile = chooseProfile(program(), shapes_, wantedProfile_);
  if (!profile) return profile.status();
  current_ = findPrepared();
  if (current_ == nullptr) ROTA_RETURN_IF_ERROR(createPrepared());
  current_->lastUse = ++clock_;
  ROTA_RETURN_IF_ERROR(placeAgain(*current_));
  shapesChanged_ = false;
  return Status::ok();
}

/// For `run` of shapes that nobody has prepared.
Status ProgramContext::bindEveryShape() {
  if (dimsAreFixed_) {
    ++implicitPrepares_;
    return bind();
  }
  ROTA_RETURN_IF_ERROR(allGiven());
  current_ = nullptr;
  gatherShapes();
  auto profile = chooseProfile(program(), shapes_, wantedProfile_);
  if (!profile) return profile.status();
  if (Prepared* known = findPrepared()) {
    current_ = known;
    current_->lastUse = ++clock_;
    ROTA_RETURN_IF_ERROR(placeAgain(*current_));
  } else {
    ROTA_RETURN_IF_ERROR(bindProfile(*profile));
  }
  shapesChanged_ = false;
  return Status::ok();
}

/// Moves the binding of a profile to the dims of the inputs.
Status ProgramContext::bindProfile(std::int32_t profile) {
  std::unique_ptr<Prepared>& binding = everyShape_[static_cast<std::size_t>(std::max(profile, 0))];
  if (binding == nullptr) {
    ++implicitPrepares_;
    ROTA_RETURN_IF_ERROR(createForProfile(profile, true));
    current_ = binding.get();
    return Status::ok();
  }
  ROTA_RETURN_IF_ERROR(bindSizes(*loaded_->index, shapes_, binding->sizes()));
  bool grew = false;
  ROTA_RETURN_IF_ERROR(binding->rebind(grew));
  if (grew) {
    ++implicitPrepares_;
    ROTA_RETURN_IF_ERROR(reserveMemory(*binding));
  }
  if (memory_.arena.capacity() < binding->arenaBytes()) ROTA_RETURN_IF_ERROR(reserveMemory(*binding));
  binding->place(memory_.arena.data());
  current_ = binding.get();
  return Status::ok();
}

/// The sizes of one corner of a profile; false when a guard does not hold there.
bool ProgramContext::cornerSizes(std::int32_t profile, std::vector<std::int64_t> ProfileInput::* corner,
                                 SizeValues& sizes) const {
  const Program& p = program();
  sizes.clear();
  for (std::size_t s = 0; s < p.symbols.size(); ++s) {
    const SymbolInfo& symbol = p.symbols[s];
    if (symbol.origin != SymbolOrigin::kInputDim) continue;
    std::int64_t value = std::clamp<std::int64_t>(1, symbol.range.lo, symbol.range.hi);
    for (const ProfileInput& in : p.profiles[static_cast<std::size_t>(profile)].inputs)
      if (in.value == symbol.value && symbol.position < (in.*corner).size())
        value = (in.*corner)[symbol.position];
    sizes.setSymbol(static_cast<SymbolId>(s), value);
  }
  sizes.evaluate();
  const auto guards = loaded_->index->sizes().staticGuards();
  return std::all_of(guards.begin(), guards.end(), [&](std::uint32_t g) { return holds(p, sizes, g); });
}

/// Warmed up at the shapes that are bound, or at the largest shape of the profile, where it is one.
Status ProgramContext::createForProfile(std::int32_t profile, bool fromRequest) {
  SizeValues sizes(loaded_->index->sizes());
  const Profile* ranges =
      profile == kAnyProfile ? nullptr : &program().profiles[static_cast<std::size_t>(profile)];
  if (fromRequest) {
    ROTA_RETURN_IF_ERROR(bindSizes(*loaded_->index, shapes_, sizes));
  } else {
    if (!cornerSizes(profile, &ProfileInput::max, sizes) && !cornerSizes(profile, &ProfileInput::opt, sizes))
      cornerSizes(profile, &ProfileInput::min, sizes);
  }
  auto prepared = Prepared::createForProfile(*loaded_, std::move(sizes), *threads_, ranges);
  if (!prepared) return prepared.status();
  ROTA_RETURN_IF_ERROR(reserveMemory(**prepared));
  everyShape_[static_cast<std::size_t>(std::max(profile, 0))] = std::move(*prepared);
  return Status::ok();
}

Status ProgramContext::prepareProfiles() {
  if (dimsAreFixed_) return Status::ok();
  for (std::size_t p = 0; p < program().profiles.size(); ++p) {
    // Where no corner fits the model, or the memory for it is not there, the binding is made for the first shape that comes, and the error is that shape's.
    static_cast<void>(createForProfile(static_cast<std::int32_t>(p), false));
  }
  return Status::ok();
}

Status ProgramContext::createPrepared() {
  std::vector<std::int64_t> key;
  for (const InputSlot& slot : inputs_) {
    key.push_back(slot.rank);
    key.insert(key.end(), slot.dims.begin(), slot.dims.begin() + slot.rank);
  }
  SizeValues sizes(loaded_->index->sizes());
  ROTA_RETURN_IF_ERROR(bindSizes(*loaded_->index, shapes_, sizes));
  auto prepared = Prepared::create(*loaded_, std::move(sizes), *threads_);
  if (!prepared) return prepared.status();
  (*prepared)->key = std::move(key);
  if (cache_.size() >= kBoundShapes)
    cache_.erase(std::min_element(cache_.begin(), cache_.end(),
                                  [](const auto& a, const auto& b) { return a->lastUse < b->lastUse; }));
  cache_.push_back(std::move(*prepared));
  current_ = cache_.back().get();
  Status status = reserveMemory(*current_);
  if (!status.isOk()) {
    current_ = nullptr;
    cache_.pop_back();
  }
  return status;
}

/// A binding that was made earlier: the arena may have moved since, or have been lost to a shape that there was no memory for.
Status ProgramContext::placeAgain(Prepared& prepared) {
  if (memory_.arena.capacity() < prepared.arenaBytes()) return reserveMemory(prepared);
  if (prepared.arena() != memory_.arena.data()) prepared.place(memory_.arena.data());
  return Status::ok();
}

Status ProgramContext::reserveMemory(Prepared& prepared) {
  ROTA_RETURN_IF_ERROR(memory_.arena.reserveExactly(prepared.arenaBytes()));
  prepared.place(memory_.arena.data());
  const std::vector<std::size_t>& bounds = prepared.growingBounds();
  for (std::size_t v = 0; v < bounds.size(); ++v)
    if (bounds[v] != 0) ROTA_RETURN_IF_ERROR(memory_.growing[v].reserve(bounds[v]));
  for (ResultSlot& slot : results_) {
    if (info(slot.value).kind != ValueKind::kTensor || slot.caller != nullptr) continue;
    const std::size_t bytes = prepared.reservedBytes(slot.value);
    if (bytes == 0) continue;
    GrowingBuffer& buffer =
        slot.output == kNone ? slot.copy : memory_.outputs[static_cast<std::size_t>(slot.output)].own;
    ROTA_RETURN_IF_ERROR(buffer.reserve(bytes));
  }
  return Status::ok();
}

Status ProgramContext::runOnce() {
  hasRun_ = false;
  if (shapesChanged_ || current_ == nullptr) ROTA_RETURN_IF_ERROR(bindEveryShape());
  ROTA_RETURN_IF_ERROR(placeInputs());
  ROTA_RETURN_IF_ERROR(placeOutputs());
  ROTA_RETURN_IF_ERROR(Executor(*current_, memory_, *threads_).run());
  ROTA_RETURN_IF_ERROR(takeResults());
  hasRun_ = true;
  return Status::ok();
}

Status ProgramContext::placeInputs() {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    InputSlot& slot = inputs_[i];
    const ValueInfo& v = info(slot.value);
    if (v.kind != ValueKind::kTensor) continue;
    ValueState& state = current_->value(slot.value);
    if (loaded_->index->value(slot.value).dynamicDims) {
      // An input of unknown rank: its dims are known from here on.
      state.rank = slot.rank;
      std::copy_n(slot.dims.begin(), slot.rank, state.dims);
      state.bytes = layoutBytes(v.dtype, slot.dimsView(), v.layout).value_or(0);
    }
    const void* data = slot.data;
    if (data == nullptr && state.bytes != 0)
      return Status(ErrorCode::kInputMissing, "An input has dims but no data")
          .at("input '" + program().inputNames[i] + "'")
          .fix("bind the data before run");
    if (!isAligned(data, v.dtype)) {
      ROTA_RETURN_IF_ERROR(slot.aligned.reserve(state.bytes));
      std::memcpy(slot.aligned.data(), data, state.bytes);
      data = slot.aligned.data();
    }
    // Kernels write outputs only; the one pointer type of value states is not const.
    current_->setData(slot.value, static_cast<std::byte*>(const_cast<void*>(data)));
  }
  return Status::ok();
}

Status ProgramContext::placeOutputs() {
  for (ResultSlot& slot : results_) {
    if (slot.output == kNone) continue;
    OutputMemory& memory = memory_.outputs[static_cast<std::size_t>(slot.output)];
    const bool direct = slot.caller != nullptr && isAligned(slot.caller, info(slot.value).dtype);
    memory.caller = direct ? slot.caller : nullptr;
    memory.callerBytes = direct ? slot.callerBytes : 0;
    if (loaded_->index->value(slot.value).dynamicDims) continue;  // placed when its dims are known
    const std::size_t bytes = current_->value(slot.value).bytes;
    if (slot.caller != nullptr && bytes > slot.callerBytes)
      return Status(ErrorCode::kOutputBuffer, "The caller's output buffer is too small")
          .at("output '" + info(slot.value).name + "'")
          .expected(std::to_string(bytes) + " bytes")
          .found(std::to_string(slot.callerBytes) + " bytes");
    if (!direct) ROTA_RETURN_IF_ERROR(memory.own.reserve(bytes));
    current_->setData(slot.value, direct ? static_cast<std::byte*>(slot.caller) : memory.own.data());
  }
  return Status::ok();
}

Status ProgramContext::takeCopy(ResultSlot& slot, const ValueState& state) {
  void* to = slot.caller;
  if (to == nullptr) {
    ROTA_RETURN_IF_ERROR(slot.copy.reserve(state.bytes));
    to = slot.copy.data();
  } else if (state.bytes > slot.callerBytes) {
    return Status(ErrorCode::kOutputBuffer, "The caller's output buffer is too small")
        .at("output '" + info(slot.value).name + "'")
        .expected(std::to_string(state.bytes) + " bytes")
        .found(std::to_string(slot.callerBytes) + " bytes");
  }
  if (state.bytes != 0) std::memmove(to, state.data, state.bytes);
  slot.data = to;
  return Status::ok();
}

Status ProgramContext::takeResults() {
  for (ResultSlot& slot : results_) {
    if (info(slot.value).kind != ValueKind::kTensor) continue;
    ValueState& state = current_->value(slot.value);
    slot.rank = state.rank;
    std::copy_n(state.dims, state.rank, slot.dims.begin());
    slot.data = state.data;
    const bool written = slot.output != kNone && (slot.caller == nullptr || slot.caller == state.data);
    const bool lasting = slot.caller == nullptr && info(slot.value).storage == Storage::kConstant;
    if (!written && !lasting) ROTA_RETURN_IF_ERROR(takeCopy(slot, state));
  }
  return Status::ok();
}

Result<TensorView> ProgramContext::output(std::string_view name) const {
  auto index = resultIndex(name);
  if (!index) return index.status();
  if (!hasRun_)
    return Status(ErrorCode::kUsage, "There is no result yet").fix("call run, and look at what it returns");
  const ResultSlot& slot = results_[*index];
  if (info(slot.value).kind != ValueKind::kTensor)
    return Status(ErrorCode::kUsage, "This output is a sequence or optional")
        .at("output '" + std::string(name) + "'")
        .fix("use outputSequence");
  return TensorView{info(slot.value).dtype, Dims(slot.dims.data(), slot.rank), slot.data};
}

Result<std::vector<TensorView>> ProgramContext::outputSequence(std::string_view name) const {
  auto index = resultIndex(name);
  if (!index) return index.status();
  if (!hasRun_)
    return Status(ErrorCode::kUsage, "There is no result yet").fix("call run, and look at what it returns");
  const std::int32_t value = results_[*index].value;
  if (info(value).kind == ValueKind::kTensor)
    return Status(ErrorCode::kUsage, "This output is a tensor")
        .at("output '" + std::string(name) + "'")
        .fix("use output");
  std::vector<TensorView> views;
  for (const Tensor& element : memory_.sequences[static_cast<std::size_t>(value)].elements)
    views.push_back(element.view());
  return views;
}

std::size_t ProgramContext::activationBytes() const {
  std::size_t total = memory_.bytes();
  for (const InputSlot& slot : inputs_) total += slot.aligned.capacity();
  for (const ResultSlot& slot : results_) total += slot.copy.capacity();
  return total;
}

void ProgramContext::setProfiling(bool on) {
  memory_.profiling = on;
  std::fill(memory_.stepUs.begin(), memory_.stepUs.end(), 0.0);
}

void ProgramContext::addProfile(std::uint32_t block, std::vector<StepTime>& times) const {
  const Block& b = program().blocks[block];
  for (std::size_t i = 0; i < b.steps.size(); ++i) {
    const Step& step = b.steps[i];
    const std::uint32_t ordinal = loaded_->index->block(block).steps[i].ordinal;
    times.push_back({describeSources(program(), step.sources),
                     step.tactic.empty() ? step.kernel : step.tactic, memory_.stepUs[ordinal]});
    for (std::uint32_t nested : step.blocks) addProfile(nested, times);
  }
}

std::vector<StepTime> ProgramContext::profile() const {
  std::vector<StepTime> times;
  if (memory_.profiling) addProfile(0, times);
  return times;
}

std::vector<TensorInfo> describeInterface(const Program& program, const std::vector<std::int32_t>& values,
                                          const std::vector<std::string>& names) {
  std::vector<TensorInfo> list;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ValueInfo& v = program.values[static_cast<std::size_t>(values[i])];
    TensorInfo tensor;
    tensor.name = names[i];
    tensor.dtype = v.dtype;
    tensor.rankKnown = v.rankKnown;
    tensor.isSequence = v.kind == ValueKind::kSequence;
    tensor.isOptional = v.kind == ValueKind::kOptional;
    for (std::uint32_t d : v.dims) {
      const bool fixed = program.sizes[d].op == SizeContext::Op::kConstant;
      tensor.dims.push_back(fixed ? program.sizes[d].immediate : -1);
      tensor.dimNames.push_back(fixed ? "" : sizeText(program, d));
    }
    if (!program.profiles.empty())
      for (const ProfileInput& in : program.profiles[0].inputs)
        if (in.value == values[i]) {
          tensor.minDims = in.min;
          tensor.optDims = in.opt;
          tensor.maxDims = in.max;
        }
    list.push_back(std::move(tensor));
  }
  return list;
}

}  // namespace

Result<std::shared_ptr<const LoadedProgram>> loadProgram(std::shared_ptr<const Program> program,
                                                         std::vector<const std::byte*> constants,
                                                         std::shared_ptr<const void> keeper) {
  ROTA_RETURN_IF_ERROR(validate(*program));
  if (constants.size() != program->constants.size())
    return Status(ErrorCode::kInternal, "A program comes with another number of constants than it names");
  for (std::size_t i = 0; i < constants.size(); ++i)
    if (program->constants[i].bytes != 0 && reinterpret_cast<std::uintptr_t>(constants[i]) % 64 != 0)
      return Status(ErrorCode::kInternal, "A constant is not aligned").at(program->constants[i].recipe);
  for (const Block& block : program->blocks)
    for (const Step& step : block.steps)
      if (!step.library.empty())
        ROTA_RETURN_IF_ERROR(located(loadKernelModule(step.library), *program, step));
  ROTA_RETURN_IF_ERROR(checkKernels(*program));
  auto loaded = std::make_shared<LoadedProgram>();
  loaded->index = std::make_unique<const ProgramIndex>(*program);
  loaded->program = std::move(program);
  loaded->constants = std::move(constants);
  loaded->keeper = std::move(keeper);
  return std::shared_ptr<const LoadedProgram>(std::move(loaded));
}

Result<std::unique_ptr<Context>> createContext(std::shared_ptr<const LoadedProgram> program,
                                               std::shared_ptr<ThreadPool> threads) {
  auto context = std::make_unique<ProgramContext>(std::move(program), std::move(threads));
  Status status = context->prepareProfiles();
  if (!status.isOk()) return status;
  return std::unique_ptr<Context>(std::move(context));
}

std::vector<TensorInfo> inputInfo(const Program& program) {
  return describeInterface(program, program.blocks[0].params, program.inputNames);
}
std::vector<TensorInfo> outputInfo(const Program& program) {
  return describeInterface(program, program.blocks[0].results, program.outputNames);
}

}  // namespace rota::runtime
