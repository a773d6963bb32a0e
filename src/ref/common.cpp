// SPDX-License-Identifier: Apache-2.0
// Shared parts of reference kernels; see common.h. Tested by src/ref/pointwise_test.cpp.
#include "ref/common.h"

#include <algorithm>

namespace rota::ref {

Result<std::size_t> axisOf(std::int64_t axis, std::size_t rank) {
  const auto signedRank = static_cast<std::int64_t>(rank);
  if (axis < -signedRank || axis >= signedRank) {
    return Status(ErrorCode::kBadIndex, "An axis is outside the tensor")
        .expected("an axis from " + std::to_string(-signedRank) + " to " + std::to_string(signedRank - 1))
        .found(std::to_string(axis));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + signedRank : axis);
}

std::string dimsText(Dims dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

DimArray denseStrides(Dims dims) {
  DimArray strides(dims);
  std::int64_t stride = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

AxisSplit splitAt(Dims dims, std::size_t axis) {
  AxisSplit split;
  for (std::size_t d = 0; d < axis; ++d) split.outer *= dims[d];
  split.axis = dims[axis];
  for (std::size_t d = axis + 1; d < dims.size(); ++d) split.inner *= dims[d];
  return split;
}

DimArray broadcastStrides(Dims dims, Dims outDims) {
  DimArray strides(outDims);
  const std::size_t missing = outDims.size() - dims.size();
  std::int64_t stride = 1;
  for (std::size_t d = outDims.size(); d-- > 0;) {
    if (d < missing) {
      strides[d] = 0;
      continue;
    }
    const std::int64_t dim = dims[d - missing];
    strides[d] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
  return strides;
}

Result<DimArray> broadcastDims(Dims a, Dims b) {
  const std::size_t rank = std::max(a.size(), b.size());
  DimArray result;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t x = d + a.size() < rank ? 1 : a[d + a.size() - rank];
    const std::int64_t y = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (x != y && x != 1 && y != 1) {
      return Status(ErrorCode::kShapeMismatch, "Two shapes do not broadcast")
          .expected("equal dims, or 1")
          .found(dimsText(a) + " and " + dimsText(b));
    }
    result.push(x == 1 ? y : x);
  }
  return result;
}

}  // namespace rota::ref
