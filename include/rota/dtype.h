// SPDX-License-Identifier: Apache-2.0
// Element types. Every fact about a type (bits, packing, class, how the reference computes it) is a field of one
// table row, so that no code asks "is it float16 or bfloat16" anywhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rota {

enum class DType : std::uint8_t {
  kUndefined = 0,
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,
  kFloat8E4M3FN,
  kFloat8E4M3FNUZ,
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kFloat8E8M0,
  kFloat4E2M1,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kInt4,
  kInt2,
  kUInt64,
  kUInt32,
  kUInt16,
  kUInt8,
  kUInt4,
  kUInt2,
  kBool,
  kComplex64,
  kComplex128,
  kString,
  kCount,
};

enum class DTypeClass : std::uint8_t { kNone, kFloat, kSigned, kUnsigned, kBool, kComplex, kString };

/// The type in which the reference computes.
enum class ComputeType : std::uint8_t { kNone, kInt64, kUInt64, kDouble, kComplex };

struct DTypeInfo {
  DType dtype;
  const char*
      name;  ///< "float32"; the names of the text form, the command line and numpy where numpy has the type.
  int bits;  ///< Bits of one element; below 8 the elements are packed, first element in the low bits.
  DTypeClass dtypeClass;
  ComputeType compute;
  int onnx;           ///< TensorProto.DataType number.
  const char* numpy;  ///< Array-interface code ("<f4"); nullptr where numpy has no such type.
};

/// The row of `dtype`.
const DTypeInfo& info(DType dtype);
/// All rows, in the order of the enumeration.
std::span<const DTypeInfo> dtypeTable();
/// The type with this ONNX number or name, or kUndefined.
DType dtypeFromOnnx(int number);
DType dtypeFromName(std::string_view name);

/// Bytes that `count` packed elements take.
constexpr std::size_t packedBytes(std::size_t count, int bits) {
  return (count * static_cast<std::size_t>(bits) + 7) / 8;
}

inline bool isFloat(DType d) { return info(d).dtypeClass == DTypeClass::kFloat; }
inline bool isInteger(DType d) {
  return info(d).dtypeClass == DTypeClass::kSigned || info(d).dtypeClass == DTypeClass::kUnsigned;
}

}  // namespace rota
