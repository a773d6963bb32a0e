// SPDX-License-Identifier: Apache-2.0
// Direct convolution; see conv_direct.h. Tested by src/ref/conv_test.cpp.
#include "ref/conv_direct.h"

#include <algorithm>
#include <cstring>

#include "ref/blocks.h"
#include "ref/product.h"

namespace rota::ref {

namespace {

typedef double DirectPair __attribute__((vector_size(16)));

constexpr std::int64_t kDirectBlock = 8;  // outputs summed side by side
static_assert(kDirectBlock <= kDirectSlack);

DirectPair directPairAt(const double* p) {
  DirectPair v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

void directBlock(const DirectFilter& f, std::int64_t base, double* out) {
  DirectPair c0 = {}, c1 = {}, c2 = {}, c3 = {};
  const double* const data = f.data + base;
  for (std::int64_t k = 0; k < f.depth; ++k) {
    const DirectPair weight = {f.weights[k], f.weights[k]};
    const double* const from = data + f.offsets[k];
    c0 += weight * directPairAt(from), c1 += weight * directPairAt(from + 2);
    c2 += weight * directPairAt(from + 4), c3 += weight * directPairAt(from + 6);
  }
  std::memcpy(out, &c0, sizeof c0), std::memcpy(out + 2, &c1, sizeof c1);
  std::memcpy(out + 4, &c2, sizeof c2), std::memcpy(out + 6, &c3, sizeof c3);
}

}  // namespace

PaddedPlane::PaddedPlane(std::size_t rank, const Spatial& in, const Spatial& lead, const Spatial& size,
                         std::int64_t split)
    : rank_(rank),
      in_(in),
      lead_(lead),
      size_(size),
      split_(split) {
  part_ = (size[rank - 1] + split - 1) / split;
  elements_ = part_ * split;
  for (std::size_t d = rank - 1; d-- > 0;) {
    strides_[d] = elements_;
    elements_ *= size[d];
  }
}

std::int64_t PaddedPlane::offset(const Spatial& at) const {
  const std::int64_t last = at[rank_ - 1];
  std::int64_t offset = last % split_ * part_ + last / split_;
  for (std::size_t d = 0; d + 1 < rank_; ++d) offset += at[d] * strides_[d];
  return offset;
}

void PaddedPlane::place(const double* values, std::int64_t column, std::int64_t count, double* row) const {
  const std::int64_t first = lead_[rank_ - 1] + column;
  if (split_ == 1) {
    std::copy(values, values + count, row + first);
    return;
  }
  for (std::int64_t j = 0; j < std::min(split_, count); ++j) {
    double* to = row + (first + j) % split_ * part_ + (first + j) / split_;
    for (std::int64_t i = j; i < count; i += split_) *to++ = values[i];
  }
}

void PaddedPlane::fill(const TensorView& x, std::int64_t plane, double* out) const {
  constexpr std::int64_t kRun = 1024;
  const std::size_t last = rank_ - 1;
  const std::int64_t length = in_[last];
  const std::int64_t width = std::min(length, size_[last] - lead_[last]);  // the part that is read
  std::int64_t rows = 1;
  for (std::size_t d = 0; d < last; ++d) rows *= in_[d];
  if (width <= 0 || rows == 0) return;
  // Short rows are loaded several at a time, long ones in pieces.
  const std::int64_t atOnce = std::max<std::int64_t>(1, kRun / length);
  double values[kRun];
  SpatialIndex row;
  for (std::int64_t r = 0; r < rows; ++r, row.next(in_, last)) {
    const std::int64_t from = (plane * rows + r) * length;
    if (length <= kRun && r % atOnce == 0) loadBlock(x, from, std::min(atOnce, rows - r) * length, values);
    std::int64_t to = 0;
    bool inside = true;
    for (std::size_t d = 0; d < last; ++d) {
      const std::int64_t at = row.at[d] + lead_[d];
      inside = inside && at < size_[d];
      to += at * strides_[d];
    }
    if (!inside) continue;
    if (length <= kRun) {
      place(values + r % atOnce * length, 0, width, out + to);
      continue;
    }
    for (std::int64_t i = 0; i < width; i += kRun) {
      const std::int64_t n = std::min(kRun, width - i);
      loadBlock(x, from + i, n, values);
      place(values, i, n, out + to);
    }
  }
}

void runDirect(const DirectFilter& f, const DirectSink& sink) {
  const std::size_t last = f.rank - 1;
  const std::int64_t width = f.count[last];
  std::int64_t rows = width == 0 ? 0 : 1;
  for (std::size_t d = 0; d < last; ++d) rows *= f.count[d];
  double buffer[kProductRun + kDirectBlock];
  std::int64_t filled = 0, position = 0;
  SpatialIndex row;
  for (std::int64_t r = 0; r < rows; ++r, row.next(f.count, last)) {
    std::int64_t base = 0;
    for (std::size_t d = 0; d < last; ++d) base += row.at[d] * f.steps[d];
    for (std::int64_t x = 0; x < width; x += kDirectBlock) {
      if (filled + kDirectBlock > kProductRun) {
        sink.store(position, filled, buffer);
        position += filled;
        filled = 0;
      }
      directBlock(f, base + x, buffer + filled);
      filled += std::min(kDirectBlock, width - x);
    }
  }
  if (filled > 0) sink.store(position, filled, buffer);
}

DirectParts directParts(std::int64_t items, std::int64_t multiplicationsPerItem) {
  constexpr std::int64_t kMostParts = 64, kWork = std::int64_t{1} << 18;
  const std::int64_t byWork = kWork / std::max<std::int64_t>(multiplicationsPerItem, 1);
  DirectParts parts;
  parts.grain = std::max<std::int64_t>({1, byWork, (items + kMostParts - 1) / kMostParts});
  parts.count = (items + parts.grain - 1) / parts.grain;
  return parts;
}

}  // namespace rota::ref
