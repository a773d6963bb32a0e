// SPDX-License-Identifier: Apache-2.0
// The numbers that enumerations have in engine files. They are fixed: these assertions fail when somebody reorders an enumeration, and then
// the file format needs a translation here, not another number there.
#pragma once

#include "runtime/program.h"

namespace rota::engine {

using runtime::Guard;
using runtime::MemorySpace;
using runtime::ShapeRule;
using runtime::Storage;
using runtime::ValueKind;

static_assert(static_cast<int>(SizeContext::Op::kConstant) == 0 &&
              static_cast<int>(SizeContext::Op::kSymbol) == 1 &&
              static_cast<int>(SizeContext::Op::kAdd) == 2 && static_cast<int>(SizeContext::Op::kMul) == 3 &&
              static_cast<int>(SizeContext::Op::kFloorDiv) == 4 &&
              static_cast<int>(SizeContext::Op::kMod) == 5 && static_cast<int>(SizeContext::Op::kMin) == 6 &&
              static_cast<int>(SizeContext::Op::kMax) == 7);
static_assert(static_cast<int>(SymbolOrigin::kInputDim) == 0 &&
              static_cast<int>(SymbolOrigin::kHostResolved) == 1 &&
              static_cast<int>(SymbolOrigin::kDataDependent) == 2);
static_assert(static_cast<int>(Guard::Kind::kEqual) == 0 && static_cast<int>(Guard::Kind::kBroadcast) == 1);
static_assert(static_cast<int>(ValueKind::kTensor) == 0 && static_cast<int>(ValueKind::kSequence) == 1 &&
              static_cast<int>(ValueKind::kOptional) == 2 && static_cast<int>(ValueKind::kState) == 3);
static_assert(static_cast<int>(Storage::kInput) == 0 && static_cast<int>(Storage::kOutput) == 1 &&
              static_cast<int>(Storage::kConstant) == 2 && static_cast<int>(Storage::kArena) == 3 &&
              static_cast<int>(Storage::kAlias) == 4 && static_cast<int>(Storage::kGrowing) == 5 &&
              static_cast<int>(Storage::kBlockParam) == 6);
static_assert(static_cast<int>(MemorySpace::kHost) == 0 && static_cast<int>(MemorySpace::kDevice) == 1 &&
              static_cast<int>(MemorySpace::kPinned) == 2);
static_assert(static_cast<int>(ShapeRule::kNone) == 0 && static_cast<int>(ShapeRule::kBroadcast) == 1);

/// Alternatives of rota::Attribute, in order.
enum class AttributeKind : std::uint8_t {
  kInt,
  kFloat,
  kString,
  kTensor,
  kInts,
  kFloats,
  kStrings,
  kTensors
};
static_assert(std::variant_size_v<Attribute> == 8);

}  // namespace rota::engine
