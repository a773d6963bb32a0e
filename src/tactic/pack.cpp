// SPDX-License-Identifier: Apache-2.0
#include "tactic/pack.h"

#include <cstring>
#include <span>
#include <vector>

#include "core/checked.h"

namespace rota::tactic {

namespace {

/// Where the elements go, in elements: the place of index (i0, i1, ...) is the sum of one term an axis, because each block divides one axis only.
/// `terms[axis][i]` is that term.
struct Places {
  std::vector<std::vector<std::int64_t>> terms;
  std::int64_t count = 0;  ///< elements with padding
};

Result<Places> placesOf(std::span<const std::int64_t> dims, const runtime::Layout& layout) {
  const std::size_t rank = dims.size();
  std::vector<std::int64_t> perAxis(rank, 1), padded(rank);
  std::int64_t blockStride = 1;
  for (const auto& block : layout.blocks) {
    perAxis[block.axis] *= block.size;
    blockStride *= block.size;
  }
  for (std::size_t i = 0; i < rank; ++i) padded[i] = (dims[i] + perAxis[i] - 1) / perAxis[i] * perAxis[i];
  const auto count = checkedCount(padded);
  if (!count) return Status(ErrorCode::kModelTooLarge, "a packed constant is too large");
  Places places{std::vector<std::vector<std::int64_t>>(rank), *count};
  std::int64_t stride = blockStride;
  for (std::size_t i = rank; i-- > 0;) {
    const std::size_t axis = layout.order.empty() ? i : layout.order[i];
    auto& terms = places.terms[axis];
    terms.resize(static_cast<std::size_t>(dims[axis]));
    for (std::size_t at = 0; at < terms.size(); ++at)
      terms[at] = static_cast<std::int64_t>(at) / perAxis[axis] * stride;
    stride *= padded[axis] / perAxis[axis];
  }
  std::vector<std::int64_t> within(rank, 1);  // elements of the axis that one step of the block is apart
  std::int64_t step = 1;
  for (std::size_t b = layout.blocks.size(); b-- > 0;) {
    const auto& block = layout.blocks[b];
    auto& terms = places.terms[block.axis];
    for (std::size_t at = 0; at < terms.size(); ++at)
      terms[at] += static_cast<std::int64_t>(at) / within[block.axis] % block.size * step;
    within[block.axis] *= block.size;
    step *= block.size;
  }
  return places;
}

/// Every sum of one term of `slow` and one of `fast`, `fast` moving fastest.
std::vector<std::int64_t> sums(const std::vector<std::int64_t>& slow, const std::vector<std::int64_t>& fast) {
  std::vector<std::int64_t> all;
  all.reserve(slow.size() * fast.size());
  for (std::int64_t s : slow) {
    for (std::int64_t f : fast) all.push_back(s + f);
  }
  return all;
}

template <typename Word>
void scatter(const std::byte* from, std::byte* to, const std::vector<std::int64_t>& outer,
             const std::vector<std::int64_t>& inner) {
  for (std::int64_t base : outer) {
    for (std::int64_t place : inner) {
      std::memcpy(to + static_cast<std::size_t>(base + place) * sizeof(Word), from, sizeof(Word));
      from += sizeof(Word);
    }
  }
}

}  // namespace

Result<Tensor> packTensor(const Tensor& plain, const runtime::Layout& layout) {
  auto places = placesOf(plain.dims(), layout);
  if (!places) return places.status();
  auto buffer = Tensor::allocate(plain.dtype(), {places->count});
  if (!buffer || plain.count() == 0) return buffer;
  // Two tables; the inner one spans several axes where the last are short (a 1x1 kernel).
  constexpr std::size_t kLong = 64, kFits = 4096;
  std::vector<std::int64_t> outer = {0}, inner = {0};
  std::size_t axis = places->terms.size();
  while (axis > 0 && (inner.size() < kLong || inner.size() * places->terms[axis - 1].size() <= kFits))
    inner = sums(places->terms[--axis], inner);
  for (std::size_t i = 0; i < axis; ++i) outer = sums(outer, places->terms[i]);
  const std::byte* from = plain.data();
  std::byte* to = buffer->mutableData();
  switch (info(plain.dtype()).bits) {
    case 8: scatter<std::uint8_t>(from, to, outer, inner); break;
    case 16: scatter<std::uint16_t>(from, to, outer, inner); break;
    case 32: scatter<std::uint32_t>(from, to, outer, inner); break;
    case 64: scatter<std::uint64_t>(from, to, outer, inner); break;
    default:
      return Status(ErrorCode::kInternal,
                    std::string("constants of ") + info(plain.dtype()).name + " cannot be packed");
  }
  return buffer;
}

std::string describeLayout(const runtime::Layout& layout) {
  std::string text = "packed [";
  for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(layout.blocks[i].axis) + "x" +
            std::to_string(layout.blocks[i].size);
  }
  text += "]";
  if (!layout.order.empty()) {
    text += " order";
    for (std::uint8_t o : layout.order) text += " " + std::to_string(o);
  }
  return text;
}

}  // namespace rota::tactic
