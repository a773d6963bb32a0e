// SPDX-License-Identifier: Apache-2.0
// Operations of "cpu.pointwise" programs, as numbers in the parameter "code" of a step: append only, engines hold them.
#pragma once

#include <cstdint>

namespace rota::simd {

enum class PointwiseOp : std::uint8_t {
  kCopy,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kMin,
  kMax,
  kMod,
  kNeg,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kReciprocal,
  kSqrt,
  kExp,
  kLog,
  kErf,
  kTanh,
  kSigmoid,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kSoftplus,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kAnd,
  kOr,
  kXor,
  kNot,
  kIsNan,
  kIsInf,
  kSelect,
  kRoundFloat16,  ///< To the nearest float16, kept as float32.
  kRoundBFloat16,
  kWrap,  ///< Integers: to the type whose number is operand b, low bits kept.
  kCount,
};
inline constexpr int kPointwiseOps = static_cast<int>(PointwiseOp::kCount);

}  // namespace rota::simd
