// SPDX-License-Identifier: Apache-2.0
// The table of element types. ONNX numbers are those of TensorProto.DataType (onnx.proto of ONNX 1.20); the numpy
// column holds the codes of the array interface. Integers narrower than 64 bits compute in int64: every value fits, and
// a store keeps the low bits, which is the wrap-around that ONNX asks for.
// Tested by src/core/dtype_test.cpp.
#include <rota/dtype.h>

#include "core/check.h"

namespace rota {
namespace {

constexpr std::size_t kRows = static_cast<std::size_t>(DType::kCount);

constexpr DTypeInfo kTable[] = {
    {DType::kUndefined, "undefined", 0, DTypeClass::kNone, ComputeType::kNone, 0, nullptr},
    {DType::kFloat32, "float32", 32, DTypeClass::kFloat, ComputeType::kDouble, 1, "<f4"},
    {DType::kFloat64, "float64", 64, DTypeClass::kFloat, ComputeType::kDouble, 11, "<f8"},
    {DType::kFloat16, "float16", 16, DTypeClass::kFloat, ComputeType::kDouble, 10, "<f2"},
    {DType::kBFloat16, "bfloat16", 16, DTypeClass::kFloat, ComputeType::kDouble, 16, nullptr},
    {DType::kFloat8E4M3FN, "float8e4m3fn", 8, DTypeClass::kFloat, ComputeType::kDouble, 17, nullptr},
    {DType::kFloat8E4M3FNUZ, "float8e4m3fnuz", 8, DTypeClass::kFloat, ComputeType::kDouble, 18, nullptr},
    {DType::kFloat8E5M2, "float8e5m2", 8, DTypeClass::kFloat, ComputeType::kDouble, 19, nullptr},
    {DType::kFloat8E5M2FNUZ, "float8e5m2fnuz", 8, DTypeClass::kFloat, ComputeType::kDouble, 20, nullptr},
    {DType::kFloat8E8M0, "float8e8m0", 8, DTypeClass::kFloat, ComputeType::kDouble, 24, nullptr},
    {DType::kFloat4E2M1, "float4e2m1", 4, DTypeClass::kFloat, ComputeType::kDouble, 23, nullptr},
    {DType::kInt64, "int64", 64, DTypeClass::kSigned, ComputeType::kInt64, 7, "<i8"},
    {DType::kInt32, "int32", 32, DTypeClass::kSigned, ComputeType::kInt64, 6, "<i4"},
    {DType::kInt16, "int16", 16, DTypeClass::kSigned, ComputeType::kInt64, 5, "<i2"},
    {DType::kInt8, "int8", 8, DTypeClass::kSigned, ComputeType::kInt64, 3, "|i1"},
    {DType::kInt4, "int4", 4, DTypeClass::kSigned, ComputeType::kInt64, 22, nullptr},
    {DType::kInt2, "int2", 2, DTypeClass::kSigned, ComputeType::kInt64, 26, nullptr},
    {DType::kUInt64, "uint64", 64, DTypeClass::kUnsigned, ComputeType::kUInt64, 13, "<u8"},
    {DType::kUInt32, "uint32", 32, DTypeClass::kUnsigned, ComputeType::kInt64, 12, "<u4"},
    {DType::kUInt16, "uint16", 16, DTypeClass::kUnsigned, ComputeType::kInt64, 4, "<u2"},
    {DType::kUInt8, "uint8", 8, DTypeClass::kUnsigned, ComputeType::kInt64, 2, "|u1"},
    {DType::kUInt4, "uint4", 4, DTypeClass::kUnsigned, ComputeType::kInt64, 21, nullptr},
    {DType::kUInt2, "uint2", 2, DTypeClass::kUnsigned, ComputeType::kInt64, 25, nullptr},
    {DType::kBool, "bool", 8, DTypeClass::kBool, ComputeType::kInt64, 9, "|b1"},
    {DType::kComplex64, "complex64", 64, DTypeClass::kComplex, ComputeType::kComplex, 14, "<c8"},
    {DType::kComplex128, "complex128", 128, DTypeClass::kComplex, ComputeType::kComplex, 15, "<c16"},
    {DType::kString, "string", 0, DTypeClass::kString, ComputeType::kNone, 8, nullptr},
};

consteval bool rowsFollowTheEnumeration() {
  for (std::size_t i = 0; i < std::size(kTable); ++i) {
    if (static_cast<std::size_t>(kTable[i].dtype) != i) return false;
  }
  return true;
}
static_assert(std::size(kTable) == kRows, "every DType needs one row");
static_assert(rowsFollowTheEnumeration());

}  // namespace

const DTypeInfo& info(DType dtype) {
  const auto row = static_cast<std::size_t>(dtype);
  CHECK(row < kRows);
  return kTable[row];
}

std::span<const DTypeInfo> dtypeTable() { return kTable; }

DType dtypeFromOnnx(int number) {
  for (const DTypeInfo& row : kTable) {
    if (row.onnx == number) return row.dtype;
  }
  return DType::kUndefined;
}

DType dtypeFromName(std::string_view name) {
  for (const DTypeInfo& row : kTable) {
    if (name == row.name) return row.dtype;
  }
  return DType::kUndefined;
}

}  // namespace rota
