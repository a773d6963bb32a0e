// SPDX-License-Identifier: Apache-2.0
// Block access for kernels that compute real tensors in double and integers modulo 2^64.
#pragma once

#include "core/element_access.h"
#include "ref/kernel.h"

namespace rota::ref {

inline void loadBlock(const TensorView& view, std::int64_t begin, std::int64_t count, double* out) {
  loadAsDouble(view, begin, count, out);
}
/// Integers of any type, sign-extended, as uint64: sums and products modulo 2^64 have the right low bits for every integer type.
inline void loadBlock(const TensorView& view, std::int64_t begin, std::int64_t count, std::uint64_t* out) {
  loadAsUInt64(view, begin, count, out);
}
inline void storeBlock(const MutableTensorView& view, std::int64_t begin, std::int64_t count,
                       const double* values) {
  storeFromDouble(view, begin, count, values);
}
inline void storeBlock(const MutableTensorView& view, std::int64_t begin, std::int64_t count,
                       const std::uint64_t* values) {
  storeFromUInt64(view, begin, count, values);
}

/// The whole tensor as doubles in scratch memory; nullptr for one that is not given. Loaded by several threads.
Result<double*> loadAll(KernelContext& ctx, const TensorView& view);

}  // namespace rota::ref
