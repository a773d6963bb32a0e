// SPDX-License-Identifier: Apache-2.0
#include "tactic/pack.h"

#include <cstring>

#include "core/checked.h"

namespace rota::tactic {

Result<Tensor> packTensor(const Tensor& plain, const runtime::Layout& layout) {
  const std::size_t rank = plain.dims().size();
  std::vector<std::int64_t> perAxis(rank, 1), padded(rank), strides(rank);
  for (const auto& block : layout.blocks) perAxis[block.axis] *= block.size;
  std::int64_t inner = 1;
  for (const auto& block : layout.blocks) inner *= block.size;
  for (std::size_t i = 0; i < rank; ++i)
    padded[i] = (plain.dims()[i] + perAxis[i] - 1) / perAxis[i] * perAxis[i];
  const auto count = checkedCount(padded);
  if (!count) return Status(ErrorCode::kModelTooLarge, "a packed constant is too large");
  std::int64_t stride = inner;
  for (std::size_t i = rank; i-- > 0;) {
    const std::size_t axis = layout.order.empty() ? i : layout.order[i];
    strides[axis] = stride;
    stride *= padded[axis] / perAxis[axis];
  }
  auto buffer = Tensor::allocate(plain.dtype(), {*count});
  if (!buffer) return buffer;
  const auto bytes = static_cast<std::size_t>(info(plain.dtype()).bits / 8);
  std::vector<std::int64_t> at(rank, 0);
  const std::byte* from = plain.data();
  std::byte* to = buffer->mutableData();
  for (std::int64_t n = plain.count(); n > 0; --n, from += bytes) {
    std::int64_t offset = 0;
    std::int64_t rest[runtime::kMaxRank];
    for (std::size_t i = 0; i < rank; ++i) {
      offset += at[i] / perAxis[i] * strides[i];
      rest[i] = at[i] % perAxis[i];
    }
    std::int64_t blockStride = 1;
    for (std::size_t b = layout.blocks.size(); b-- > 0;) {
      const auto& block = layout.blocks[b];
      offset += rest[block.axis] % block.size * blockStride;
      rest[block.axis] /= block.size;
      blockStride *= block.size;
    }
    std::memcpy(to + static_cast<std::size_t>(offset) * bytes, from, bytes);
    for (std::size_t i = rank; i-- > 0;) {
      if (++at[i] < plain.dims()[i]) break;
      at[i] = 0;
    }
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
