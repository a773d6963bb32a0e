// SPDX-License-Identifier: Apache-2.0
// What the movement kernels share: copies of elements by their width, and one strided
// copy that Transpose, Slice, Concat, Split, Expand, Tile, Pad and the like all are. Elements are moved as bits, so that one instantiation
// serves all types of one width; packed types of 4 and 2 bits go element by element and in one thread, for neighbours share a byte.
// Tested by src/op/movement_test.cpp through the operators.
#pragma once

#include "ref/common.h"

namespace rota::ref {

Status kernelError(ErrorCode code, std::string message, std::string expected = {}, std::string found = {});
/// An error when the rank is above kMaxRank.
Status checkRank(std::size_t rank);
/// The axes of attribute "axes" or of the integer input `input`, counted from the front; all axes of `rank` when neither is given and
/// `allByDefault`. Repeated axes are an error.
Result<DimArray> kernelAxes(KernelContext& context, std::size_t input, std::size_t rank, bool allByDefault);
/// Elements of an integer input as sizes; an error when there are more than kMaxRank.
Result<DimArray> kernelInts(const TensorView& view);

/// Copies `count` neighbouring elements of `bits` bits.
void copyElements(int bits, const void* source, std::int64_t from, void* target, std::int64_t to,
                  std::int64_t count);
/// Writes the element that lies at index 0 of `value` to `count` places.
void fillElements(int bits, void* target, std::int64_t to, std::int64_t count, const void* value);

/// target[targetOffset + i * targetStrides] = source[sourceOffset + i * sourceStrides] for all i in dims; strides in elements, of any sign.
struct StridedCopy {
  int bits = 0;
  const void* source = nullptr;
  std::int64_t sourceOffset = 0;
  DimArray sourceStrides = {};
  void* target = nullptr;
  std::int64_t targetOffset = 0;
  DimArray targetStrides = {};
  DimArray dims = {};
};
void copyStrided(ThreadPool& threads, StridedCopy copy);

/// target[i] = source[maps[0][i0], maps[1][i1], …] for all i in targetDims; where a map gives -1, `fill` (one element) is written. Maps lie in
/// memory of the caller, one per axis, of the size of that axis.
struct MappedCopy {
  int bits = 0;
  const void* source = nullptr;
  Dims sourceDims = {};
  void* target = nullptr;
  Dims targetDims = {};
  std::array<const std::int64_t*, kMaxRank> maps = {};
  const void* fill = nullptr;
};
void copyMapped(ThreadPool& threads, const MappedCopy& copy);

/// Calls `body(begin, end)` on parts of [0, count): in parallel, or in one call where elements of `bits` bits share bytes.
void forParts(ThreadPool& threads, int bits, std::int64_t count, std::int64_t grain, RangeFunction body);

}  // namespace rota::ref
