// SPDX-License-Identifier: Apache-2.0
// Checked indices of the gather and scatter kernels; see index_common.h.
#include "ref/index_common.h"

#include <algorithm>

#include "core/element_access.h"
#include "ref/movement_common.h"

namespace rota::ref {

void IndexReader::refill(std::int64_t i) {
  first_ = i;
  count_ = std::min(kRun, total_ - i);
  loadAsInt64(view_, first_, count_, values_.data());
}

Status BadIndex::status(const TensorView& indices, std::int64_t size) const {
  if (!any()) return Status::ok();
  const std::int64_t place = place_.load(std::memory_order_relaxed);
  return kernelError(ErrorCode::kBadIndex,
                     "the index at place " + std::to_string(place) + " of the indices is outside its axis",
                     size < 0 ? std::string("an index inside the axis")
                              : "a value from " + std::to_string(-size) + " to " + std::to_string(size - 1),
                     std::to_string(intAt(indices, place)));
}

Status checkElementIndices(Dims data, Dims indices, std::size_t axis) {
  bool fits = data.size() == indices.size();
  for (std::size_t i = 0; fits && i < data.size(); ++i) fits = i == axis || indices[i] <= data[i];
  if (fits) return Status::ok();
  return kernelError(ErrorCode::kShapeMismatch,
                     "the indices do not fit into the data off axis " + std::to_string(axis),
                     "at most " + dimsText(data), dimsText(indices));
}

Result<IndexTuples> tuplesOf(Dims data, Dims indices, std::size_t batchAxes) {
  IndexTuples tuples;
  if (indices.empty() || indices.back() < 0 ||
      static_cast<std::size_t>(indices.back()) + batchAxes > data.size() || batchAxes >= indices.size()) {
    return kernelError(ErrorCode::kShapeMismatch, "index tuples are longer than the axes they index",
                       "at most " + std::to_string(data.size()) + " indices, " + std::to_string(batchAxes) +
                           " of them batch axes",
                       dimsText(indices));
  }
  for (std::size_t i = 0; i < batchAxes; ++i) {
    if (data[i] != indices[i]) {
      return kernelError(ErrorCode::kShapeMismatch, "data and indices differ on a batch axis", dimsText(data),
                         dimsText(indices));
    }
  }
  tuples.length = static_cast<std::size_t>(indices.back());
  tuples.count = elementCount(indices.first(indices.size() - 1));
  tuples.sliceElements = elementCount(data.subspan(batchAxes + tuples.length));
  const DimArray strides = denseStrides(data);
  for (std::size_t k = 0; k < tuples.length; ++k) {
    tuples.sizes.push(data[batchAxes + k]);
    tuples.strides.push(strides[batchAxes + k]);
  }
  return tuples;
}

}  // namespace rota::ref
