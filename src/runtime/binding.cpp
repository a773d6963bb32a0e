// SPDX-License-Identifier: Apache-2.0
#include "runtime/binding.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/check.h"
#include "runtime/prepared.h"

namespace rota::runtime {

namespace {

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

std::string rangeText(const SizeRange& range) {
  if (range.hi == kUnbounded) return std::to_string(range.lo) + " or more";
  if (range.lo == range.hi) return std::to_string(range.lo);
  return std::to_string(range.lo) + " to " + std::to_string(range.hi);
}

std::string dimName(const Program& program, std::size_t input, std::size_t dim) {
  const ValueInfo& v = program.values[static_cast<std::size_t>(program.blocks[0].params[input])];
  std::string text = "dim " + std::to_string(dim) + " of input '" + program.inputNames[input] + "'";
  const std::string size = sizeText(program, v.dims[dim]);
  if (program.sizes[v.dims[dim]].op != SizeContext::Op::kConstant) text += " ('" + size + "')";
  return text;
}

std::size_t inputOf(const Program& program, std::int32_t value) {
  const auto& params = program.blocks[0].params;
  return static_cast<std::size_t>(std::find(params.begin(), params.end(), value) - params.begin());
}

/// "'seq' is dim 1 of input 'ids'; …" for the symbols in `entry`.
void addOrigins(const Program& program, std::uint32_t entry, int depth, std::vector<SymbolId>& seen,
                std::string& text) {
  const SizeContext::FlatOp& op = program.sizes[entry];
  if (op.op == SizeContext::Op::kConstant || depth == 0) return;
  if (op.op != SizeContext::Op::kSymbol) {
    addOrigins(program, op.a, depth - 1, seen, text);
    addOrigins(program, op.b, depth - 1, seen, text);
    return;
  }
  const auto id = static_cast<SymbolId>(op.immediate);
  if (std::find(seen.begin(), seen.end(), id) != seen.end()) return;
  seen.push_back(id);
  const SymbolInfo& symbol = program.symbols[id];
  if (symbol.value == kNone) return;
  if (!text.empty()) text += "; ";
  text += "'" + symbol.name + "' is ";
  if (symbol.origin == SymbolOrigin::kInputDim)
    text += "dim " + std::to_string(symbol.position) + " of input '" +
            program.inputNames[inputOf(program, symbol.value)] + "'";
  else
    text += std::string(symbol.origin == SymbolOrigin::kDataDependent ? "dim " : "element ") +
            std::to_string(symbol.position) + " of " + describeValue(program, symbol.value);
}

std::string origins(const Program& program, std::initializer_list<std::uint32_t> entries) {
  std::vector<SymbolId> seen;
  std::string text;
  for (std::uint32_t entry : entries) addOrigins(program, entry, 16, seen, text);
  return text;
}

Status inputError(const Program& program, std::size_t i, ErrorCode code, const char* message) {
  return Status(code, message).at("input '" + program.inputNames[i] + "'");
}

Status checkInput(const Program& program, std::size_t i, const InputShape& shape) {
  const ValueInfo& v = program.values[static_cast<std::size_t>(program.blocks[0].params[i])];
  if (shape.dtype == DType::kUndefined)
    return inputError(program, i, ErrorCode::kInputMissing, "An input has not been given")
        .fix("give every input of the model");
  if (shape.dtype != v.dtype)
    return inputError(program, i, ErrorCode::kInputType, "An input has the wrong element type")
        .expected(info(v.dtype).name)
        .found(info(shape.dtype).name)
        .fix("convert the data before binding it");
  if (v.rankKnown && shape.dims.size() != v.dims.size()) {
    std::string dims;
    for (std::uint32_t d : v.dims) dims += (dims.empty() ? "" : ", ") + sizeText(program, d);
    return inputError(program, i, ErrorCode::kInputShape, "An input has the wrong number of dims")
        .expected("[" + dims + "]")
        .found(dimsText(shape.dims));
  }
  if (shape.dims.size() > kMaxRank)
    return inputError(program, i, ErrorCode::kInputShape, "An input has too many dims")
        .expected("at most 16")
        .found(std::to_string(shape.dims.size()));
  if (!layoutBytes(v.dtype, shape.dims, v.layout))
    return inputError(program, i, ErrorCode::kInputShape,
                      "An input has a negative dim, or more bytes than can be addressed")
        .found(dimsText(shape.dims));
  for (std::size_t d = 0; v.rankKnown && d < v.dims.size(); ++d) {
    const SizeContext::FlatOp& op = program.sizes[v.dims[d]];
    if (op.op == SizeContext::Op::kConstant && op.immediate != shape.dims[d])
      return Status(ErrorCode::kInputShape, "An input has the wrong size")
          .at(dimName(program, i, d))
          .expected(std::to_string(op.immediate))
          .found(std::to_string(shape.dims[d]));
  }
  return Status::ok();
}

Status bindSymbols(const Program& program, std::span<const InputShape> inputs, SizeValues& sizes) {
  for (std::size_t s = 0; s < program.symbols.size(); ++s) {
    const SymbolInfo& symbol = program.symbols[s];
    if (symbol.origin != SymbolOrigin::kInputDim || symbol.value == kNone) continue;
    const std::size_t input = inputOf(program, symbol.value);
    if (inputs[input].dims.size() <= symbol.position) continue;  // an input of unknown rank
    const std::int64_t value = inputs[input].dims[symbol.position];
    if (value < symbol.range.lo || value > symbol.range.hi)
      return Status(ErrorCode::kInputShape, "A dim is outside its range")
          .at(dimName(program, input, symbol.position))
          .expected(rangeText(symbol.range))
          .found(std::to_string(value));
    sizes.setSymbol(static_cast<SymbolId>(s), value);
  }
  return Status::ok();
}

/// Dims that are numbers or expressions of other dims.
Status checkDims(const Program& program, std::span<const InputShape> inputs, const SizeValues& sizes) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo& v = program.values[static_cast<std::size_t>(program.blocks[0].params[i])];
    if (v.kind != ValueKind::kTensor || !v.rankKnown) continue;
    for (std::size_t d = 0; d < v.dims.size(); ++d) {
      if (sizes.isKnown(v.dims[d]) && sizes.value(v.dims[d]) == inputs[i].dims[d]) continue;
      Status status(ErrorCode::kInputShape, "An input has the wrong size");
      const std::string text = sizeText(program, v.dims[d]);
      const std::string value =
          sizes.isKnown(v.dims[d]) ? std::to_string(sizes.value(v.dims[d])) : std::string("unknown");
      return std::move(status)
          .at(dimName(program, i, d))
          .expected(text == value ? value : value + " ('" + text + "')")
          .found(std::to_string(inputs[i].dims[d]));
    }
  }
  return Status::ok();
}

/// How many dims lie inside `profile`, and the first one that does not.
struct ProfileFit {
  std::size_t agreed = 0;
  bool fits = true;
  std::size_t input = 0, dim = 0;
  SizeRange range;
  double largest = 0;   ///< Elements of all inputs at the maximum.
  double distance = 0;  ///< How far the dims lie outside, added up.
};

ProfileFit fitOf(const Program& program, std::span<const InputShape> inputs, const Profile& profile) {
  ProfileFit fit;
  for (const ProfileInput& in : profile.inputs) {
    const std::size_t i = inputOf(program, in.value);
    double elements = 1;
    for (std::size_t d = 0; d < in.min.size() && d < inputs[i].dims.size(); ++d) {
      elements *= static_cast<double>(in.max[d]);
      const std::int64_t value = inputs[i].dims[d];
      if (value >= in.min[d] && value <= in.max[d]) {
        ++fit.agreed;
        continue;
      }
      fit.distance += static_cast<double>(value < in.min[d] ? in.min[d] - value : value - in.max[d]);
      if (fit.fits) {
        fit.fits = false;
        fit.input = i;
        fit.dim = d;
        fit.range = {in.min[d], in.max[d]};
      }
    }
    fit.largest += elements;
  }
  return fit;
}

Status outside(const Program& program, std::span<const InputShape> inputs, const Profile& profile,
               const ProfileFit& fit) {
  return Status(ErrorCode::kOutOfProfile, "A dim is outside its profile")
      .at(dimName(program, fit.input, fit.dim))
      .expected(rangeText(fit.range) + " (profile '" + profile.name + "')")
      .found(std::to_string(inputs[fit.input].dims[fit.dim]))
      .fix("use a shape inside a profile, or build the engine with a profile that has this shape");
}

}  // namespace

Result<std::int32_t> chooseProfile(const Program& program, std::span<const InputShape> inputs,
                                   std::int32_t wanted) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (program.values[static_cast<std::size_t>(program.blocks[0].params[i])].kind == ValueKind::kTensor) {
      Status status = checkInput(program, i, inputs[i]);
      if (!status.isOk()) return status;
    }
  std::int32_t best = kAnyProfile;
  std::size_t nearest = 0;
  ProfileFit bestFit, nearestFit;
  for (std::size_t p = 0; p < program.profiles.size(); ++p) {
    if (wanted != kAnyProfile && static_cast<std::int32_t>(p) != wanted) continue;
    const ProfileFit fit = fitOf(program, inputs, program.profiles[p]);
    if (fit.fits && (best == kAnyProfile || fit.largest < bestFit.largest)) {
      best = static_cast<std::int32_t>(p);
      bestFit = fit;
    }
    const bool nearer = fit.agreed > nearestFit.agreed ||
                        (fit.agreed == nearestFit.agreed && fit.distance < nearestFit.distance);
    if (!fit.fits && (nearestFit.fits || nearer)) {
      nearest = p;
      nearestFit = fit;
    }
  }
  if (best == kAnyProfile && !nearestFit.fits)
    return outside(program, inputs, program.profiles[nearest], nearestFit);
  return best;
}

bool holds(const Program& program, const SizeValues& sizes, std::uint32_t index) {
  const Guard& guard = program.guards[index];
  if (!sizes.isKnown(guard.a) || !sizes.isKnown(guard.b)) return true;
  const std::int64_t a = sizes.value(guard.a);
  const std::int64_t b = sizes.value(guard.b);
  return a == b || (guard.kind == Guard::Kind::kBroadcast && (a == 1 || b == 1));
}

Status checkGuard(const Program& program, const SizeValues& sizes, std::uint32_t index) {
  if (holds(program, sizes, index)) return Status::ok();
  const Guard& guard = program.guards[index];
  const std::string where = origins(program, {guard.a, guard.b});
  const bool equal = guard.kind == Guard::Kind::kEqual;
  return Status(ErrorCode::kShapeGuard, equal ? "Two sizes that must be equal differ"
                                              : "Two sizes that must be equal, or one of them 1, differ")
      .at(guard.node)
      .expected("'" + sizeText(program, guard.a) + "' = '" + sizeText(program, guard.b) + "'" +
                (guard.reason.empty() ? "" : " (" + guard.reason + ")"))
      .found(std::to_string(sizes.value(guard.a)) + " and " + std::to_string(sizes.value(guard.b)) +
             (where.empty() ? "" : ", where " + where))
      .fix("give inputs whose dims agree");
}

Status badDims(const Program& program, const SizeValues& sizes, std::int32_t value, Dims dims) {
  const ValueInfo& v = program.values[static_cast<std::size_t>(value)];
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] >= 0) continue;
    const std::string where = origins(program, {v.dims[d]});
    std::string sources = describeSources(program, v.sources);
    return Status(ErrorCode::kShapeGuard, "A size that the model computes is negative")
        .at(sources.empty() ? describeValue(program, value) : std::move(sources))
        .expected("0 or more for '" + sizeText(program, v.dims[d]) + "', dim " + std::to_string(d) +
                  " of value '" + v.name + "'")
        .found(std::to_string(sizes.value(v.dims[d])) + (where.empty() ? "" : ", where " + where))
        .fix("give larger inputs");
  }
  return Status(ErrorCode::kShapeMismatch, "A tensor has more bytes than can be addressed")
      .at(describeValue(program, value))
      .found(dimsText(dims))
      .fix("check the input shapes");
}

Status checkFound(const Program& program, SymbolId symbol, std::int64_t value) {
  const SymbolInfo& s = program.symbols[symbol];
  if (value >= s.range.lo && value <= s.range.hi) return Status::ok();
  return Status(ErrorCode::kShapeGuard, "A size that was computed while running is outside its range")
      .expected(rangeText(s.range) + " for '" + s.name + "' of " + describeValue(program, s.value))
      .found(std::to_string(value));
}

Status bindSizes(const ProgramIndex& index, std::span<const InputShape> inputs, SizeValues& sizes) {
  const Program& program = index.program();
  sizes.clear();
  ROTA_RETURN_IF_ERROR(bindSymbols(program, inputs, sizes));
  sizes.evaluate();
  ROTA_RETURN_IF_ERROR(checkDims(program, inputs, sizes));
  for (std::uint32_t guard : index.sizes().staticGuards())
    ROTA_RETURN_IF_ERROR(checkGuard(program, sizes, guard));
  return Status::ok();
}

}  // namespace rota::runtime
