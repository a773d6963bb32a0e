// SPDX-License-Identifier: Apache-2.0
// Elements of any real type as uint64 keys of the same order, so that sorting kernels exist once. NaN counts as greater than every number and
// equal to itself, as in NumPy; -0 and 0 are equal. A complex element gives two keys, real part first.
// Tested by src/op/select_test.cpp.
#pragma once

#include "ref/kernel.h"

namespace rota::ref {

/// Keys that one element of `dtype` gives: 1, or 2 for complex.
std::int64_t keysPerElement(DType dtype);
/// Writes the keys of elements [begin, begin + count), keysPerElement each.
void orderKeys(const TensorView& view, std::int64_t begin, std::int64_t count, std::uint64_t* keys);

}  // namespace rota::ref
