// SPDX-License-Identifier: Apache-2.0
// See input_dims.h.
#include "import/onnx/input_dims.h"

#include <algorithm>
#include <cctype>

namespace rota::onnx {
namespace {

/// A name that stays one word inside expressions over sizes.
std::string symbolName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    const bool keep = std::isalnum(u) != 0 || c == '_' || c == '.' || u >= 0x80;
    if (keep) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_' && text.back() != '_') name.pop_back();
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "dim_" + name;
  return name;
}

std::string rangeText(std::int64_t lo, std::int64_t hi) {
  return lo == hi ? std::to_string(lo) : std::to_string(lo) + " to " + std::to_string(hi);
}

bool isDynamic(const DimView& dim) {
  return !dim.value || *dim.value == -1;
}  // -1: what old converters write

}  // namespace

InputDims::Key InputDims::keyOf(const std::string& input, const TypeView& type, std::size_t axis) {
  if (axis < type.dims.size() && !type.dims[axis].parameter.empty())
    return {std::string(type.dims[axis].parameter), 0};
  return {"\n" + input, axis};
}

void InputDims::restrict(const Key& key, const DimRange& range, const std::string& from) {
  if (range.lo < 0 || range.lo > range.hi || range.opt < range.lo || range.opt > range.hi) {
    problems_.add(Status(ErrorCode::kUsage, "a range of a dim is not ordered")
                      .expected("0 <= min <= opt <= max")
                      .found(std::to_string(range.lo) + ":" + std::to_string(range.opt) + ":" +
                             std::to_string(range.hi)),
                  from);
    return;
  }
  Range& known = ranges_[key];
  if (known.lo < 0) {
    known = {range.lo, range.hi, from};
    return;
  }
  const std::int64_t lo = std::max(known.lo, range.lo);
  const std::int64_t hi = std::min(known.hi, range.hi);
  if (lo > hi) {
    problems_.add(Status(ErrorCode::kInputShape, "the dim '" + key.first + "' is given two values")
                      .expected(rangeText(known.lo, known.hi) + ", as for " + known.from)
                      .found(rangeText(range.lo, range.hi))
                      .fix("give dims that the model names alike the same size"),
                  from);
    return;
  }
  known.lo = lo;
  known.hi = hi;
}

void InputDims::noteStatic(const std::string& input, std::size_t axis, std::int64_t value,
                           const DimRange& range) {
  if (range.lo <= value && value <= range.hi) return;
  problems_.add(
      Status(ErrorCode::kInputShape, "dim " + std::to_string(axis) + " of the input is fixed by the model")
          .expected(std::to_string(value))
          .found(rangeText(range.lo, range.hi)),
      input);
}

void InputDims::note(const std::string& input, const TypeView& type) {
  inputs_.push_back(input);
  for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
    const Key key = keyOf(input, type, axis);
    if (!isDynamic(type.dims[axis])) continue;
    ranges_.try_emplace(key);
    if (const auto named = options_.symbols.find(key.first); named != options_.symbols.end()) {
      restrict(key, named->second, "dim '" + key.first + "'");
    }
  }
  const auto given = options_.inputDims.find(input);
  if (given == options_.inputDims.end()) return;
  const std::vector<DimRange>& ranges = given->second;
  if (type.hasShape && ranges.size() != type.dims.size()) {
    problems_.add(Status(ErrorCode::kInputShape, "the given shape has another rank than the input")
                      .expected(std::to_string(type.dims.size()) + " dims")
                      .found(std::to_string(ranges.size())),
                  input);
    return;
  }
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    if (axis < type.dims.size() && !isDynamic(type.dims[axis])) {
      noteStatic(input, axis, *type.dims[axis].value, ranges[axis]);
    } else {
      restrict(keyOf(input, type, axis), ranges[axis], input);
    }
  }
}

void InputDims::finish() {
  for (const auto& [name, range] : options_.symbols) {
    if (ranges_.contains({name, 0})) continue;
    std::string known;
    for (const auto& [key, unused] : ranges_) {
      if (key.first.front() != '\n') known += (known.empty() ? "" : ", ") + key.first;
    }
    problems_.add(Status(ErrorCode::kUnknownName, "the model has no dynamic dim of this name")
                      .expected(known.empty() ? "none: the model has no named dims" : "one of " + known)
                      .found("'" + name + "'"),
                  name);
  }
  for (const auto& [name, ranges] : options_.inputDims) {
    if (std::find(inputs_.begin(), inputs_.end(), name) != inputs_.end()) continue;
    std::string known;
    for (const std::string& input : inputs_) known += (known.empty() ? "" : ", ") + input;
    problems_.add(Status(ErrorCode::kUnknownName, "the model has no input of this name")
                      .expected(known.empty() ? "none: the model has no inputs" : "one of " + known)
                      .found("'" + name + "'"),
                  name);
  }
}

Size InputDims::sizeOf(const std::string& input, const Key& key) {
  if (const auto known = made_.find(key); known != made_.end()) return known->second;
  const Range& range = ranges_[key];
  Size size;
  if (range.lo >= 0 && range.lo == range.hi) {
    size = Size(range.lo);
  } else {
    const bool named = key.first.front() != '\n';
    const std::string name = symbolName(named ? key.first : input + "_dim" + std::to_string(key.second));
    size = sizes_.newSymbol(name, range.lo < 0 ? SizeRange{.lo = 1} : SizeRange{range.lo, range.hi},
                            SymbolOrigin::kInputDim);
  }
  made_.emplace(key, size);
  return size;
}

ir::Shape InputDims::shapeOf(const std::string& input, const TypeView& type) {
  const auto given = options_.inputDims.find(input);
  const bool rankGiven = !type.hasShape && given != options_.inputDims.end();
  if (!type.hasShape && !rankGiven) return ir::Shape::unknown();
  const std::size_t rank = rankGiven ? given->second.size() : type.dims.size();
  std::vector<Size> dims;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (axis < type.dims.size() && !isDynamic(type.dims[axis])) {
      dims.emplace_back(*type.dims[axis].value);
    } else {
      dims.push_back(sizeOf(input, keyOf(input, type, axis)));
    }
  }
  return ir::Shape::of(std::move(dims));
}

}  // namespace rota::onnx
