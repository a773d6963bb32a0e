// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan (decision N5): steps whose blocks are executed recursively in the same arena.
//
// A carried value has two buffers. In the first turn the parameter lies where the initial value lies; afterwards it lies in one buffer while
// the body writes the next state into the other ("direct"), or the result is copied there when the body passes on something that it did not
// compute itself. All copies of a turn happen before any parameter moves, so that results which swap parameters come out right. Values whose
// size changes from turn to turn do the same with growing buffers. Outputs that collect one slice a turn are written where they end up.
// Tested by src/runtime/control_flow_test.cpp.
#include <algorithm>
#include <cstring>
#include <limits>

#include "core/check.h"
#include "core/checked.h"
#include "runtime/executor.h"

namespace rota::runtime {

namespace {

void copyBytes(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0 && to != from) std::memcpy(to, from, bytes);
}

/// A tensor cut along one axis into slices: `outer` pieces of `inner` bytes each.
struct Cut {
  std::size_t outer = 1;
  std::size_t inner = 0;
};

Result<Cut> cutAlong(DType dtype, Dims dims, std::size_t axis) {
  Cut cut;
  std::int64_t inner = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (d < axis) cut.outer *= static_cast<std::size_t>(dims[d]);
    if (d > axis) inner *= dims[d];
  }
  const std::int64_t bits = inner * info(dtype).bits;
  if (bits % 8 != 0)
    return Status(ErrorCode::kUnsupportedType,
                  "Slices of a packed type that do not end on a byte cannot be scanned")
        .expected("whole bytes in each slice")
        .found(std::string(info(dtype).name) + " " + dimsText(dims));
  cut.inner = static_cast<std::size_t>(bits / 8);
  return cut;
}

std::size_t axisAt(const Attributes& parameters, const char* name, std::size_t i, std::size_t rank) {
  const auto* axes = parameters.getInts(name);
  const std::int64_t axis = axes == nullptr ? 0 : (*axes)[i];
  const auto wrapped = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  return static_cast<std::size_t>(wrapped);  // a bad axis becomes a large number, which the caller refuses
}

bool isReversed(const Attributes& parameters, const char* name, std::size_t i) {
  const auto* directions = parameters.getInts(name);
  return directions != nullptr && (*directions)[i] != 0;
}

Status badAxis(std::size_t rank) {
  return Status(ErrorCode::kBadAttribute, "A Scan axis lies outside of its tensor")
      .found("rank " + std::to_string(rank));
}

Status shapesChange(Dims first, Dims now) {
  return Status(ErrorCode::kShapeMismatch, "A loop stacks values whose shape changes from turn to turn")
      .expected(dimsText(first) + " as in the first turn")
      .found(dimsText(now));
}

}  // namespace

Result<std::int64_t> Executor::scalarOf(std::int32_t value, const char* what) {
  if (facts(value).dynamicAlias) {
    Status status = resolveAlias(value);
    if (!status.isOk()) return status;
  }
  const ValueState& v = state(value);
  const TensorView view{info(value).dtype, v.dimsView(), v.data};
  if (view.count() < 1)
    return Status(ErrorCode::kShapeMismatch, std::string(what) + " is empty")
        .expected("one element")
        .found(dimsText(view.dims));
  return intAt(view, 0);
}

void Executor::forgetSymbols(std::uint32_t block) {
  for (SymbolId symbol : prepared_.index().block(block).symbols) prepared_.sizes().forget(symbol);
}

Status Executor::assign(std::int32_t to, std::int32_t from) {
  if (info(to).kind != ValueKind::kTensor) {
    const ref::Sequence& source = memory_.sequences[static_cast<std::size_t>(from)];
    ref::Sequence& target = memory_.sequences[static_cast<std::size_t>(to)];
    target.elements = source.elements;
    target.holdsEmptySequence = source.holdsEmptySequence;
    return Status::ok();
  }
  if (facts(from).dynamicAlias) ROTA_RETURN_IF_ERROR(resolveAlias(from));
  const ValueState& source = state(from);
  if (facts(to).dynamicDims || facts(to).growing) {
    ROTA_RETURN_IF_ERROR(settle(to, source.dimsView()));
  } else {
    ROTA_RETURN_IF_ERROR(checkHanded(to, source.dimsView()));
  }
  copyBytes(state(to).data, source.data, source.bytes);
  return Status::ok();
}

Status Executor::checkHanded(std::int32_t to, Dims dims) const {
  const Dims planned = prepared_.value(to).dimsView();
  if (std::equal(dims.begin(), dims.end(), planned.begin(), planned.end())) return Status::ok();
  return Status(ErrorCode::kShapeMismatch,
                "A value handed on by control flow has other dims than the plan says")
      .expected(dimsText(planned))
      .found(dimsText(dims));
}

Status Executor::runIf(StepState& step) {
  auto condition = scalarOf(step.step->inputs[0], "The condition of an If");
  if (!condition) return condition.status();
  const std::uint32_t taken = step.step->blocks[*condition != 0 ? 0 : 1];
  ROTA_RETURN_IF_ERROR(runNested(taken));
  const std::vector<std::int32_t>& results = program_.blocks[taken].results;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (step.step->outputs[i] != kNone) ROTA_RETURN_IF_ERROR(assign(step.step->outputs[i], results[i]));
  return Status::ok();
}

Status Executor::startCarried(StepState& step) {
  for (std::size_t c = 0; c < step.facts->carried.size(); ++c) {
    const Carried& carried = step.facts->carried[c];
    if (info(carried.param).kind != ValueKind::kTensor) {
      ROTA_RETURN_IF_ERROR(assign(carried.param, carried.initial));
      continue;
    }
    if (facts(carried.initial).dynamicAlias) ROTA_RETURN_IF_ERROR(resolveAlias(carried.initial));
    const ValueState& initial = state(carried.initial);
    if (carried.isStatic) {
      ROTA_RETURN_IF_ERROR(checkHanded(carried.param, initial.dimsView()));
      if (carried.direct) prepared_.setData(carried.result, step.carriedPlaces[c][0]);
    } else {
      std::int64_t* kept = step.carriedDims.data() + c * (kMaxRank + 1);
      kept[0] = initial.rank;
      std::copy_n(initial.dims, initial.rank, kept + 1);
    }
    prepared_.setData(carried.param, initial.data);
  }
  return Status::ok();
}

Status Executor::bindCarried(StepState& step) {
  for (std::size_t c = 0; c < step.facts->carried.size(); ++c) {
    const Carried& carried = step.facts->carried[c];
    if (carried.isStatic || info(carried.param).kind != ValueKind::kTensor) continue;
    const std::int64_t* kept = step.carriedDims.data() + c * (kMaxRank + 1);
    ROTA_RETURN_IF_ERROR(setDims(carried.param, Dims(kept + 1, static_cast<std::size_t>(kept[0]))));
  }
  return Status::ok();
}

Status Executor::keepResults(StepState& step, std::int64_t turn) {
  for (std::size_t c = 0; c < step.facts->carried.size(); ++c) {
    const Carried& carried = step.facts->carried[c];
    if (info(carried.param).kind != ValueKind::kTensor) {
      const ref::Sequence& result = memory_.sequences[static_cast<std::size_t>(carried.result)];
      step.carriedSequences[c].elements = result.elements;
      step.carriedSequences[c].holdsEmptySequence = result.holdsEmptySequence;
      continue;
    }
    if (facts(carried.result).dynamicAlias) ROTA_RETURN_IF_ERROR(resolveAlias(carried.result));
    const ValueState& result = state(carried.result);
    if (carried.isStatic) {
      ROTA_RETURN_IF_ERROR(checkHanded(carried.param, result.dimsView()));
      if (!carried.direct)
        copyBytes(step.carriedPlaces[c][static_cast<std::size_t>(turn % 2)], result.data, result.bytes);
      continue;
    }
    std::int64_t* kept = step.carriedDims.data() + c * (kMaxRank + 1);
    kept[0] = result.rank;
    std::copy_n(result.dims, result.rank, kept + 1);
    if (carried.direct) continue;
    GrowingBuffer& spare = memory_.spare[static_cast<std::size_t>(carried.param)];
    ROTA_RETURN_IF_ERROR(spare.reserve(result.bytes));
    copyBytes(spare.data(), result.data, result.bytes);
  }
  return Status::ok();
}

Status Executor::carry(StepState& step, std::int64_t turn) {
  ROTA_RETURN_IF_ERROR(keepResults(step, turn));
  for (std::size_t c = 0; c < step.facts->carried.size(); ++c) {
    const Carried& carried = step.facts->carried[c];
    const auto param = static_cast<std::size_t>(carried.param);
    if (info(carried.param).kind != ValueKind::kTensor) {
      memory_.sequences[param].elements.swap(step.carriedSequences[c].elements);
      memory_.sequences[param].holdsEmptySequence = step.carriedSequences[c].holdsEmptySequence;
    } else if (carried.isStatic) {
      const auto half = static_cast<std::size_t>(turn % 2);
      prepared_.setData(carried.param, step.carriedPlaces[c][half]);
      if (carried.direct) prepared_.setData(carried.result, step.carriedPlaces[c][1 - half]);
    } else {
      GrowingBuffer& written =
          carried.direct ? memory_.growing[static_cast<std::size_t>(carried.result)] : memory_.spare[param];
      memory_.growing[param].swap(written);
      prepared_.setData(carried.param, memory_.growing[param].data());
    }
  }
  return Status::ok();
}

Status Executor::finishCarried(StepState& step) {
  for (const Carried& carried : step.facts->carried)
    if (carried.output != kNone) ROTA_RETURN_IF_ERROR(assign(carried.output, carried.param));
  return Status::ok();
}

Status Executor::runLoop(StepState& step) {
  const Step& loop = *step.step;
  const std::uint32_t bodyId = loop.blocks[0];
  const Block& body = program_.blocks[bodyId];
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  if (loop.inputs[0] != kNone) {
    auto trips = scalarOf(loop.inputs[0], "The trip count of a Loop");
    if (!trips) return trips.status();
    limit = *trips;
  }
  bool goOn = true;
  if (loop.inputs[1] != kNone) {
    auto condition = scalarOf(loop.inputs[1], "The condition of a Loop");
    if (!condition) return condition.status();
    goOn = *condition != 0;
  }
  const std::size_t carried = step.facts->carried.size();
  ROTA_RETURN_IF_ERROR(startCarried(step));
  prepared_.setData(body.params[0], reinterpret_cast<std::byte*>(&step.turn));
  prepared_.setData(body.params[1], reinterpret_cast<std::byte*>(&step.condition));

  std::int64_t turn = 0;
  for (; turn < limit && goOn; ++turn) {
    step.turn = turn;
    step.condition = 1;
    forgetSymbols(bodyId);
    ROTA_RETURN_IF_ERROR(bindCarried(step));
    ROTA_RETURN_IF_ERROR(runNested(bodyId));
    auto condition = scalarOf(body.results[0], "The condition that a Loop's body computes");
    if (!condition) return condition.status();
    goOn = *condition != 0;
    for (std::size_t i = carried; i < loop.outputs.size(); ++i)
      if (loop.outputs[i] != kNone)
        ROTA_RETURN_IF_ERROR(appendTurn(loop.outputs[i], body.results[i + 1], turn));
    ROTA_RETURN_IF_ERROR(carry(step, turn));
  }
  forgetSymbols(bodyId);
  ROTA_RETURN_IF_ERROR(bindCarried(step));
  for (std::size_t i = carried; i < loop.outputs.size(); ++i)
    if (loop.outputs[i] != kNone)
      ROTA_RETURN_IF_ERROR(finishAppended(loop.outputs[i], body.results[i + 1], turn));
  return finishCarried(step);
}

Status Executor::appendTurn(std::int32_t output, std::int32_t result, std::int64_t turn) {
  if (facts(result).dynamicAlias) ROTA_RETURN_IF_ERROR(resolveAlias(result));
  const ValueState& slice = state(result);
  ValueState& whole = state(output);
  const bool sized = facts(output).dynamicDims || facts(output).growing;
  if (slice.rank + 1 > kMaxRank || (info(output).rankKnown && info(output).dims.size() != slice.rank + 1))
    return badAxis(slice.rank + 1);
  auto cut = cutAlong(info(result).dtype, slice.dimsView(), static_cast<std::size_t>(-1));
  if (!cut) return cut.status();
  const auto at = static_cast<std::size_t>(turn);
  if (sized && turn == 0) {
    whole.rank = slice.rank + 1;
    std::copy_n(slice.dims, slice.rank, whole.dims + 1);
  }
  const Dims tail = whole.dimsView().subspan(1);
  if (!std::equal(tail.begin(), tail.end(), slice.dims, slice.dims + slice.rank))
    return shapesChange(tail, slice.dimsView());
  if (sized) {
    ROTA_RETURN_IF_ERROR(giveMemory(output, (at + 1) * slice.bytes, at * slice.bytes));
  } else if (turn >= whole.dims[0]) {
    return Status(ErrorCode::kShapeMismatch, "A Loop runs more turns than its output has room for")
        .found(dimsText(whole.dimsView()));
  }
  copyBytes(whole.data + at * slice.bytes, slice.data, slice.bytes);
  return Status::ok();
}

Status Executor::finishAppended(std::int32_t output, std::int32_t result, std::int64_t turns) {
  const bool sized = facts(output).dynamicDims || facts(output).growing;
  if (turns == 0) return sizeStacked(output, result, 0, 0, false);
  if (!sized) {
    if (state(output).dims[0] == turns) return Status::ok();
    return Status(ErrorCode::kShapeMismatch, "A Loop ends after fewer turns than its output has rows")
        .expected(std::to_string(state(output).dims[0]))
        .found(std::to_string(turns));
  }
  std::array<std::int64_t, kMaxRank> dims{};
  const std::uint32_t rank = state(output).rank;
  std::copy_n(state(output).dims, rank, dims.begin());
  dims[0] = turns;
  return setDims(output, Dims(dims.data(), rank));
}

Status Executor::sizeStacked(std::int32_t output, std::int32_t result, std::size_t axis, std::int64_t length,
                             bool ran) {
  std::array<std::int64_t, kMaxRank> dims{};
  std::size_t rank = state(output).rank;
  if (ran) {
    rank = state(result).rank + 1;
    if (rank > kMaxRank || axis >= rank) return badAxis(rank);
    for (std::size_t d = 0; d < rank; ++d)
      dims[d] = d < axis ? state(result).dims[d] : d == axis ? length : state(result).dims[d - 1];
  } else {
    // Nothing ran: what the plan knows about the slices, and 0 for the rest.
    const ValueInfo& whole = info(output);
    const ValueInfo& slice = info(result);
    rank = whole.rankKnown ? whole.dims.size() : slice.rankKnown ? slice.dims.size() + 1 : 1;
    if (axis >= rank) return badAxis(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      const SizeValues& sizes = prepared_.sizes();
      if (d == axis)
        dims[d] = length;
      else if (whole.rankKnown && sizes.isKnown(whole.dims[d]))
        dims[d] = sizes.value(whole.dims[d]);
      else if (slice.rankKnown && sizes.isKnown(slice.dims[d < axis ? d : d - 1]))
        dims[d] = sizes.value(slice.dims[d < axis ? d : d - 1]);
    }
  }
  const Dims all(dims.data(), rank);
  return facts(output).dynamicDims || facts(output).growing ? settle(output, all) : checkHanded(output, all);
}

Result<std::int64_t> Executor::scanLength(const StepState& step) {
  const Step& scan = *step.step;
  std::int64_t length = -1;
  const std::size_t carried = step.facts->carried.size();
  for (std::size_t i = carried; i < scan.inputs.size(); ++i) {
    if (facts(scan.inputs[i]).dynamicAlias) {
      Status status = resolveAlias(scan.inputs[i]);
      if (!status.isOk()) return status;
    }
    const Dims dims = state(scan.inputs[i]).dimsView();
    const std::size_t axis = axisAt(scan.parameters, "scan_input_axes", i - carried, dims.size());
    if (axis >= dims.size()) return badAxis(dims.size());
    if (length >= 0 && dims[axis] != length)
      return Status(ErrorCode::kShapeMismatch, "The sequences of a Scan have different lengths")
          .expected(std::to_string(length))
          .found(std::to_string(dims[axis]));
    length = dims[axis];
  }
  return length;
}

Status Executor::bindSlices(StepState& step, std::int64_t turn, std::int64_t length) {
  const Step& scan = *step.step;
  const Block& body = program_.blocks[scan.blocks[0]];
  const std::size_t carried = step.facts->carried.size();
  for (std::size_t i = carried; i < scan.inputs.size(); ++i) {
    const ValueState& whole = state(scan.inputs[i]);
    const std::int32_t param = body.params[i];
    const std::size_t axis = axisAt(scan.parameters, "scan_input_axes", i - carried, whole.rank);
    const bool reversed = isReversed(scan.parameters, "scan_input_directions", i - carried);
    const auto at = static_cast<std::size_t>(reversed ? length - 1 - turn : turn);
    auto cut = cutAlong(info(param).dtype, whole.dimsView(), axis);
    if (!cut) return cut.status();
    std::array<std::int64_t, kMaxRank> dims{};
    for (std::size_t d = 0; d + 1 < whole.rank; ++d) dims[d] = whole.dims[d < axis ? d : d + 1];
    const Dims sliceDims(dims.data(), whole.rank - 1);
    if (facts(param).dynamicDims) {
      ROTA_RETURN_IF_ERROR(setDims(param, sliceDims));
    } else {
      ROTA_RETURN_IF_ERROR(checkHanded(param, sliceDims));
    }
    if (cut->outer == 1) {
      prepared_.setData(param, whole.data + at * cut->inner);
      continue;
    }
    ROTA_RETURN_IF_ERROR(giveMemory(param, cut->outer * cut->inner, 0));
    for (std::size_t o = 0; o < cut->outer; ++o)
      copyBytes(state(param).data + o * cut->inner,
                whole.data + (o * static_cast<std::size_t>(length) + at) * cut->inner, cut->inner);
  }
  return Status::ok();
}

Status Executor::stackTurn(const StepState& step, std::size_t output, std::int64_t turn,
                           std::int64_t length) {
  const Step& scan = *step.step;
  const std::size_t carried = step.facts->carried.size();
  const std::int32_t whole = scan.outputs[output];
  const std::int32_t result = program_.blocks[scan.blocks[0]].results[output];
  if (facts(result).dynamicAlias) ROTA_RETURN_IF_ERROR(resolveAlias(result));
  const std::size_t axis =
      axisAt(scan.parameters, "scan_output_axes", output - carried, state(result).rank + 1);
  if (turn == 0) ROTA_RETURN_IF_ERROR(sizeStacked(whole, result, axis, length, true));
  const ValueState& slice = state(result);
  ValueState& stack = state(whole);
  auto cut = cutAlong(info(whole).dtype, stack.dimsView(), axis);
  if (!cut) return cut.status();
  for (std::size_t d = 0; d < slice.rank; ++d)
    if (slice.rank + 1 != stack.rank || slice.dims[d] != stack.dims[d < axis ? d : d + 1])
      return shapesChange(stack.dimsView(), slice.dimsView());
  const bool reversed = isReversed(scan.parameters, "scan_output_directions", output - carried);
  const auto at = static_cast<std::size_t>(reversed ? length - 1 - turn : turn);
  for (std::size_t o = 0; o < cut->outer; ++o)
    copyBytes(stack.data + (o * static_cast<std::size_t>(length) + at) * cut->inner,
              slice.data + o * cut->inner, cut->inner);
  return Status::ok();
}

Status Executor::runScan(StepState& step) {
  const Step& scan = *step.step;
  const std::uint32_t bodyId = scan.blocks[0];
  const std::size_t carried = step.facts->carried.size();
  auto length = scanLength(step);
  if (!length) return length.status();
  ROTA_RETURN_IF_ERROR(startCarried(step));
  for (std::int64_t turn = 0; turn < *length; ++turn) {
    forgetSymbols(bodyId);
    ROTA_RETURN_IF_ERROR(bindCarried(step));
    ROTA_RETURN_IF_ERROR(bindSlices(step, turn, *length));
    ROTA_RETURN_IF_ERROR(runNested(bodyId));
    for (std::size_t i = carried; i < scan.outputs.size(); ++i)
      if (scan.outputs[i] != kNone) ROTA_RETURN_IF_ERROR(stackTurn(step, i, turn, *length));
    ROTA_RETURN_IF_ERROR(carry(step, turn));
  }
  forgetSymbols(bodyId);
  ROTA_RETURN_IF_ERROR(bindCarried(step));
  if (*length == 0)
    for (std::size_t i = carried; i < scan.outputs.size(); ++i)
      if (scan.outputs[i] != kNone) {
        const std::int32_t result = program_.blocks[bodyId].results[i];
        const std::size_t rank = info(scan.outputs[i]).rankKnown ? info(scan.outputs[i]).dims.size()
                                 : info(result).rankKnown        ? info(result).dims.size() + 1
                                                                 : 1;
        const std::size_t axis = axisAt(scan.parameters, "scan_output_axes", i - carried, rank);
        ROTA_RETURN_IF_ERROR(sizeStacked(scan.outputs[i], result, axis, 0, false));
      }
  return finishCarried(step);
}

}  // namespace rota::runtime
