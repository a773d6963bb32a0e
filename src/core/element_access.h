// SPDX-License-Identifier: Apache-2.0
// Elements of any type as double, int64, uint64 or complex, a run of them at a time: how the reference reads and writes tensors with
// four instantiations instead of one per type. `begin` and `begin + count` lie inside the tensor.
//
// Conversion rules (ONNX Cast, with its undefined cases fixed):
// - real to narrower real: one rounding, half to even; 8-bit floats saturate (core/float_convert.h);
// - real to integer: towards zero into int64, saturating, NaN gives 0; int32 saturates as well, other types keep the low bits; uint64 saturates
//   above and wraps below zero;
// - integer to narrower integer: keeps the low bits; anything to bool: whether it is not zero (NaN is not);
// - complex to real: the real part.
// Elements below 8 bits are packed, first one in the low bits; a store leaves its neighbours in the same byte alone, but two
// threads may not store into one byte: cut such ranges at multiples of 8 elements. Strings are refused by CHECK.
// Tested by src/core/element_access_test.cpp.
#pragma once

#include <cstdint>

#include <rota/tensor_view.h>

namespace rota {

void loadAsDouble(const TensorView& view, std::int64_t begin, std::int64_t count, double* out);
void loadAsInt64(const TensorView& view, std::int64_t begin, std::int64_t count, std::int64_t* out);
void loadAsUInt64(const TensorView& view, std::int64_t begin, std::int64_t count, std::uint64_t* out);
/// Real and imaginary parts in turn, `2 * count` doubles; imaginary parts of real types are 0.
void loadAsComplex(const TensorView& view, std::int64_t begin, std::int64_t count, double* out);

void storeFromDouble(const MutableTensorView& view, std::int64_t begin, std::int64_t count, const double* in);
void storeFromInt64(const MutableTensorView& view, std::int64_t begin, std::int64_t count,
                    const std::int64_t* in);
void storeFromUInt64(const MutableTensorView& view, std::int64_t begin, std::int64_t count,
                     const std::uint64_t* in);
/// `in` holds real and imaginary parts in turn.
void storeFromComplex(const MutableTensorView& view, std::int64_t begin, std::int64_t count,
                      const double* in);

/// `value` towards zero as int64: saturating, NaN gives 0.
std::int64_t doubleToInt64(double value);
/// The same for uint64, except that negative values wrap.
std::uint64_t doubleToUInt64(double value);

}  // namespace rota
