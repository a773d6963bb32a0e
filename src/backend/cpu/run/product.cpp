// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/run/product.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace rota::runtime {
namespace {

/// Below this many rows B is read where it lies: packing would cost as much as the product.
constexpr std::int64_t kRowsToPack = 2 * simd::kTileRows + 1;
/// Up to this many rows columns that are contiguous are multiplied as they are.
constexpr std::int64_t kRowsOfDots = 4;

void applyPost(std::span<const PostStep> steps, std::int64_t row, std::int64_t cRow, std::int64_t column,
               std::int64_t n, float* x) {
  const simd::Kernels& k = simd::kernels();
  for (const PostStep& s : steps) {
    const float* operand = s.data;
    std::int64_t period = 0;
    switch (s.over) {
      case PostStep::Operand::kNone: break;
      case PostStep::Operand::kEach: operand += row * cRow + column; break;
      case PostStep::Operand::kColumn: operand += column; break;
      case PostStep::Operand::kRow:
        operand += row;
        period = 1;
        break;
      case PostStep::Operand::kOne: period = 1; break;
    }
    k.post[static_cast<int>(s.kind)](x, n, s.alpha, s.beta, operand, period);
  }
}

/// One stretch of the depth: every panel of columns [first, last) with all rows [top, bottom).
void runStretch(const MatrixProduct& p, std::int64_t d, std::int64_t depth, std::int64_t top,
                std::int64_t bottom, std::int64_t first, std::int64_t last, float* scratch) {
  const simd::Kernels& k = simd::kernels();
  const std::int64_t width = k.tileColumns;
  std::int64_t stride = 0;
  const bool few = bottom - top < kRowsToPack;
  const float* inPlace = few ? p.b->rowsInPlace(0, stride) : nullptr;
  const std::int64_t wide =
      inPlace != nullptr && bottom - top <= simd::kWideRows ? k.wideColumns[bottom - top] : 0;
  std::int64_t j = first;
  for (; wide != 0 && j + wide <= last; j += wide)
    k.productWide(p.a + top * p.aRow + d * p.aDepth, p.aRow, p.aDepth, inPlace + d * stride + j, stride,
                  depth, bottom - top, p.c + top * p.cRow + j, p.cRow, d > 0);
  while (j < last) {
    // What is in place and whole is read there; the rest is packed, some panels at a time.
    const bool isInPlace = inPlace != nullptr && j + width <= last;
    const std::int64_t end =
        isInPlace ? j + width : std::min(last, j + (inPlace != nullptr ? 1 : kPanelsAtOnce) * width);
    if (!isInPlace) p.b->pack(d, depth, j, end - j, width, scratch);
    const float* panel = isInPlace ? inPlace + d * stride + j : scratch;
    for (; j < end; j += width, panel += depth * width)
      for (std::int64_t r = top; r < bottom; r += simd::kTileRows)
        k.productTile(p.a + r * p.aRow + d * p.aDepth, p.aRow, p.aDepth, panel, isInPlace ? stride : width,
                      depth, std::min(simd::kTileRows, bottom - r), std::min(width, last - j),
                      p.c + r * p.cRow + j, p.cRow, d > 0);
  }
}

}  // namespace

Result<std::vector<PostStep>> readPostSteps(const Attributes& parameters) {
  constexpr std::pair<std::string_view, simd::Post> kKinds[] = {{"relu", simd::Post::kRelu},
                                                                {"sigmoid", simd::Post::kSigmoid},
                                                                {"tanh", simd::Post::kTanh},
                                                                {"gelu_erf", simd::Post::kGeluErf},
                                                                {"gelu_tanh", simd::Post::kGeluTanh},
                                                                {"swish", simd::Post::kSwish},
                                                                {"hardswish", simd::Post::kHardSwish},
                                                                {"clip", simd::Post::kClip},
                                                                {"elu", simd::Post::kElu},
                                                                {"linear", simd::Post::kLinear},
                                                                {"add", simd::Post::kAdd},
                                                                {"mul", simd::Post::kMul},
                                                                {"sub", simd::Post::kSub}};
  std::vector<PostStep> steps;
  const auto* names = parameters.getStrings("post");
  const auto* alphas = parameters.getFloats("post_alpha");
  const auto* betas = parameters.getFloats("post_beta");
  if (names == nullptr) return steps;
  if (alphas == nullptr || betas == nullptr || alphas->size() != names->size() ||
      betas->size() != names->size() || names->size() + 1 > kMaxPostSteps)
    return Status(ErrorCode::kEngineDamaged, "post-operations and their parameters differ in number");
  for (std::size_t i = 0; i < names->size(); ++i) {
    const auto* known = std::find_if(std::begin(kKinds), std::end(kKinds),
                                     [&](const auto& kind) { return kind.first == (*names)[i]; });
    if (known == std::end(kKinds))
      return Status(ErrorCode::kEngineDamaged, "unknown post-operation").found((*names)[i]);
    steps.push_back({.kind = known->second, .alpha = (*alphas)[i], .beta = (*betas)[i]});
  }
  return steps;
}

void MatrixPanels::pack(std::int64_t d, std::int64_t depth, std::int64_t column, std::int64_t columns,
                        std::int64_t width, float* to) const {
  const float* from = data_ + d * row_ + column * column_;
  const std::int64_t whole = columns / width;
  const std::int64_t rest = columns % width;
  if (rest != 0) std::fill_n(to + whole * depth * width, depth * width, 0.0F);
  if (column_ == 1) {
    constexpr std::int64_t kAhead =
        8;  // rows lie on pages of their own, where the processor does not look ahead
    const auto bytes = static_cast<std::size_t>(width) * sizeof(float);
    for (std::int64_t k = 0; k < depth; ++k, from += row_) {
      for (std::int64_t j = 0; k + kAhead < depth && j < columns; j += 16)
        __builtin_prefetch(from + kAhead * row_ + j);
      for (std::int64_t p = 0; p < whole; ++p)
        std::memcpy(to + (p * depth + k) * width, from + p * width, bytes);
      for (std::int64_t j = 0; j < rest; ++j) to[(whole * depth + k) * width + j] = from[whole * width + j];
    }
    return;
  }
  // Square pieces, so that what is read along the columns is written while its lines are near.
  constexpr std::int64_t kPiece = 16;
  for (std::int64_t panel = 0; panel < columns; panel += width, to += depth * width)
    for (std::int64_t first = 0; first < depth; first += kPiece) {
      const std::int64_t last = std::min(depth, first + kPiece);
      for (std::int64_t j = 0; j < std::min(width, columns - panel); ++j)
        for (std::int64_t k = first; k < last; ++k)
          to[k * width + j] = from[k * row_ + (panel + j) * column_];
    }
}

const float* MatrixPanels::rowsInPlace(std::int64_t column, std::int64_t& stride) const {
  stride = row_;
  return column_ == 1 ? data_ + column : nullptr;
}

const float* MatrixPanels::columnsInPlace(std::int64_t column, std::int64_t& stride) const {
  stride = column_;
  return row_ == 1 ? data_ + column * column_ : nullptr;
}

std::int64_t productParts(std::int64_t rows, std::int64_t columns) {
  return ((rows + kProductRows - 1) / kProductRows) * ((columns + kProductColumns - 1) / kProductColumns);
}

void runProductPart(const MatrixProduct& p, std::int64_t part, float* scratch) {
  const std::int64_t across = (p.columns + kProductColumns - 1) / kProductColumns;
  const std::int64_t top = part / across * kProductRows;
  const std::int64_t bottom = std::min(p.rows, top + kProductRows);
  const std::int64_t first = part % across * kProductColumns;
  const std::int64_t last = std::min(p.columns, first + kProductColumns);
  std::int64_t stride = 0;
  const bool isDot = p.rows <= kRowsOfDots && p.aDepth == 1;
  const float* columns = isDot ? p.b->columnsInPlace(first, stride) : nullptr;
  if (columns != nullptr && stride != 1) {
    for (std::int64_t r = top; r < bottom; ++r)
      simd::kernels().dotColumns(p.a + r * p.aRow, columns, stride, p.depth, last - first,
                                 p.c + r * p.cRow + first);
  } else {
    std::int64_t d = 0;
    do {  // a product over nothing is zero
      const std::int64_t depth = std::min(kProductDepth, p.depth - d);
      runStretch(p, d, depth, top, bottom, first, last, scratch);
      d += kProductDepth;
    } while (d < p.depth);
  }
  if (p.post.empty()) return;
  for (std::int64_t r = top; r < bottom; ++r)
    applyPost(p.post, r, p.cRow, first, last - first, p.c + r * p.cRow + first);
}

}  // namespace rota::runtime
