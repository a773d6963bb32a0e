// SPDX-License-Identifier: Apache-2.0
// Stacking and slicing by blocks: a tensor around an axis is [outer, n, inner], and runs of `inner` elements move as a whole. Types below
// one byte are packed across rows, so their runs move element by element. Tested by src/op/stack_tensors_test.cpp.
#include "op/stack_tensors.h"

#include <cstring>

#include "core/check.h"

namespace rota::op {
namespace {

/// Copies `count` elements from element `from` of `source` to element `to` of `target`.
void copyRun(std::byte* target, std::int64_t to, const std::byte* source, std::int64_t from,
             std::int64_t count, int bits) {
  if (count == 0) return;
  if (bits >= 8) {
    const std::size_t size = static_cast<std::size_t>(bits) / 8;
    std::memcpy(target + static_cast<std::size_t>(to) * size, source + static_cast<std::size_t>(from) * size,
                static_cast<std::size_t>(count) * size);
    return;
  }
  const auto width = static_cast<std::size_t>(bits);
  const unsigned mask = (1U << width) - 1U;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t sourceBit = static_cast<std::size_t>(from + i) * width;
    const std::size_t targetBit = static_cast<std::size_t>(to + i) * width;
    const unsigned element = (std::to_integer<unsigned>(source[sourceBit / 8]) >> (sourceBit % 8)) & mask;
    const unsigned kept = std::to_integer<unsigned>(target[targetBit / 8]) & ~(mask << (targetBit % 8));
    target[targetBit / 8] = static_cast<std::byte>(kept | (element << (targetBit % 8)));
  }
}

std::int64_t productOf(const std::vector<std::int64_t>& dims, std::size_t begin, std::size_t end) {
  std::int64_t count = 1;
  for (std::size_t d = begin; d < end; ++d) count *= dims[d];
  return count;
}

}  // namespace

Result<Tensor> stackTensors(const std::vector<Tensor>& parts, std::int64_t axis, bool reverse,
                            DType emptyDtype, const std::vector<std::int64_t>& emptyDims) {
  const DType dtype = parts.empty() ? emptyDtype : parts[0].dtype();
  std::vector<std::int64_t> dims = parts.empty() ? emptyDims : parts[0].dims();
  if (dtype == DType::kUndefined)
    return Status(ErrorCode::kTypeMismatch, "scan outputs must be tensors").expected("a tensor");
  const auto rank = static_cast<std::int64_t>(dims.size()) + 1;
  if (axis < -rank || axis >= rank) {
    return Status(ErrorCode::kBadAttribute, "a scan output axis is outside the result")
        .expected("an axis from " + std::to_string(-rank) + " to " + std::to_string(rank - 1))
        .found(std::to_string(axis));
  }
  for (std::size_t k = 1; k < parts.size(); ++k) {
    if (parts[k].dtype() == dtype && parts[k].dims() == parts[0].dims()) continue;
    return Status(ErrorCode::kShapeMismatch, "a scan output changes its type or shape between iterations")
        .expected("that of the first iteration")
        .found("another in iteration " + std::to_string(k));
  }
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const std::int64_t outer = productOf(dims, 0, at);
  const std::int64_t inner = productOf(dims, at, dims.size());
  const auto count = static_cast<std::int64_t>(parts.size());
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), count);
  auto result = Tensor::allocate(dtype, std::move(dims));
  if (!result) return result;
  const int bits = info(dtype).bits;
  for (std::int64_t k = 0; k < count; ++k) {
    const Tensor& part = parts[static_cast<std::size_t>(reverse ? count - 1 - k : k)];
    for (std::int64_t o = 0; o < outer; ++o) {
      copyRun(result->mutableData(), (o * count + k) * inner, part.data(), o * inner, inner, bits);
    }
  }
  return result;
}

Result<Tensor> sliceTensor(const Tensor& tensor, std::int64_t axis, std::int64_t index) {
  std::vector<std::int64_t> dims = tensor.dims();
  const auto at = static_cast<std::size_t>(axis);
  CHECK(at < dims.size() && index >= 0 && index < dims[at]);
  const std::int64_t count = dims[at];
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at));
  const std::int64_t outer = productOf(dims, 0, at);
  const std::int64_t inner = productOf(dims, at, dims.size());
  auto result = Tensor::allocate(tensor.dtype(), std::move(dims));
  if (!result) return result;
  const int bits = info(tensor.dtype()).bits;
  for (std::int64_t o = 0; o < outer; ++o) {
    copyRun(result->mutableData(), o * inner, tensor.data(), (o * count + index) * inner, inner, bits);
  }
  return result;
}

}  // namespace rota::op
