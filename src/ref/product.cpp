// SPDX-License-Identifier: Apache-2.0
// Packed, register-blocked products; see product.h. Tested by src/ref/product_test.cpp.
#include "ref/product.h"

#include <algorithm>
#include <cstring>

#include "ref/blocks.h"

namespace rota::ref {

namespace {

constexpr std::int64_t kProductTileRows = 64;
constexpr std::int64_t kProductTileColumns = 64;
constexpr std::int64_t kProductTileDepth = 128;
constexpr std::int64_t kProductLanes = 4;  // rows and columns of the register block
static_assert(kProductTileDepth <= kProductRun && kProductTileRows <= kProductRun &&
              kProductTileColumns <= kProductRun);

// Two doubles. GCC and Clang both keep the eight accumulators of a register block in the 16 registers of plain x86-64.
typedef double DoublePair __attribute__((vector_size(16)));

DoublePair pairAt(const double* p) {
  DoublePair v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
void storePair(double* p, DoublePair v) { std::memcpy(p, &v, sizeof v); }

// acc[4][stride] += a[depth][4] * b[depth][4].
void blockOfFour(const double* a, const double* b, std::int64_t depth, double* acc, std::int64_t stride) {
  DoublePair c00 = pairAt(acc), c01 = pairAt(acc + 2);
  DoublePair c10 = pairAt(acc + stride), c11 = pairAt(acc + stride + 2);
  DoublePair c20 = pairAt(acc + 2 * stride), c21 = pairAt(acc + 2 * stride + 2);
  DoublePair c30 = pairAt(acc + 3 * stride), c31 = pairAt(acc + 3 * stride + 2);
  for (std::int64_t k = 0; k < depth; ++k, a += kProductLanes, b += kProductLanes) {
    const DoublePair b0 = pairAt(b), b1 = pairAt(b + 2);
    const DoublePair a0 = {a[0], a[0]}, a1 = {a[1], a[1]}, a2 = {a[2], a[2]}, a3 = {a[3], a[3]};
    c00 += a0 * b0, c01 += a0 * b1;
    c10 += a1 * b0, c11 += a1 * b1;
    c20 += a2 * b0, c21 += a2 * b1;
    c30 += a3 * b0, c31 += a3 * b1;
  }
  storePair(acc, c00), storePair(acc + 2, c01);
  storePair(acc + stride, c10), storePair(acc + stride + 2, c11);
  storePair(acc + 2 * stride, c20), storePair(acc + 2 * stride + 2, c21);
  storePair(acc + 3 * stride, c30), storePair(acc + 3 * stride + 2, c31);
}

// acc[4] += a[depth] * b[depth][4].
void blockOfOne(const double* a, const double* b, std::int64_t depth, double* acc) {
  DoublePair c0 = pairAt(acc), c1 = pairAt(acc + 2);
  for (std::int64_t k = 0; k < depth; ++k, b += kProductLanes) {
    const DoublePair a0 = {a[k], a[k]};
    c0 += a0 * pairAt(b), c1 += a0 * pairAt(b + 2);
  }
  storePair(acc, c0), storePair(acc + 2, c1);
}

void blockOfOne(const std::uint64_t* a, const std::uint64_t* b, std::int64_t depth, std::uint64_t* acc) {
  std::uint64_t c0 = acc[0], c1 = acc[1], c2 = acc[2], c3 = acc[3];
  for (std::int64_t k = 0; k < depth; ++k, b += kProductLanes) {
    c0 += a[k] * b[0], c1 += a[k] * b[1], c2 += a[k] * b[2], c3 += a[k] * b[3];
  }
  acc[0] = c0, acc[1] = c1, acc[2] = c2, acc[3] = c3;
}

// Two rows of four at a time: their sums and factors fit the general registers.
void blockOfFour(const std::uint64_t* a, const std::uint64_t* b, std::int64_t depth, std::uint64_t* acc,
                 std::int64_t stride) {
  for (std::int64_t r = 0; r < kProductLanes; r += 2) {
    std::uint64_t* const upper = acc + r * stride;
    std::uint64_t* const lower = upper + stride;
    std::uint64_t c00 = upper[0], c01 = upper[1], c02 = upper[2], c03 = upper[3];
    std::uint64_t c10 = lower[0], c11 = lower[1], c12 = lower[2], c13 = lower[3];
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::uint64_t x = a[k * kProductLanes + r], y = a[k * kProductLanes + r + 1];
      const std::uint64_t* const line = b + k * kProductLanes;
      c00 += x * line[0], c01 += x * line[1], c02 += x * line[2], c03 += x * line[3];
      c10 += y * line[0], c11 += y * line[1], c12 += y * line[2], c13 += y * line[3];
    }
    upper[0] = c00, upper[1] = c01, upper[2] = c02, upper[3] = c03;
    lower[0] = c10, lower[1] = c11, lower[2] = c12, lower[3] = c13;
  }
}

template <typename T> struct ProductTile {
  alignas(64) T a[kProductTileRows * kProductTileDepth];
  alignas(64) T b[kProductTileColumns * kProductTileDepth];
  alignas(64) T acc[kProductTileRows * kProductTileColumns];
};

struct ProductSpan {
  std::int64_t begin;
  std::int64_t count;
};

// Writes lines of an operand as groups of four [group][depth][4]. With `tail`, the last count % 4 lines stand one by one, [depth] each; without,
// the last group is filled up with zeros.
template <typename T>
void packPanels(const ProductOperand<T>& operand, std::int64_t batch, ProductSpan lines, ProductSpan depth,
                bool tail, T* panels) {
  const std::int64_t grouped = tail ? lines.count / kProductLanes * kProductLanes : lines.count;
  const auto place = [&](std::int64_t i) {  // start of line i, and the distance of its elements
    return i < grouped
               ? std::pair(i / kProductLanes * kProductLanes * depth.count + i % kProductLanes, kProductLanes)
               : std::pair(i * depth.count, std::int64_t{1});
  };
  if (!tail && lines.count % kProductLanes != 0) {
    T* last = panels + lines.count / kProductLanes * kProductLanes * depth.count;
    std::fill(last, last + kProductLanes * depth.count, T{});
  }
  T run[kProductRun];
  if (operand.alongDepth()) {
    for (std::int64_t i = 0; i < lines.count; ++i) {
      const auto [start, step] = place(i);
      operand.load(batch, lines.begin + i, depth.begin, depth.count, step == 1 ? panels + start : run);
      if (step == 1) continue;
      T* out = panels + start;
      for (std::int64_t k = 0; k < depth.count; ++k) out[k * kProductLanes] = run[k];
    }
    return;
  }
  for (std::int64_t k = 0; k < depth.count; ++k) {
    operand.load(batch, depth.begin + k, lines.begin, lines.count, run);
    std::int64_t i = 0;
    for (; i + kProductLanes <= grouped; i += kProductLanes)
      std::memcpy(panels + i * depth.count + k * kProductLanes, run + i, kProductLanes * sizeof(T));
    for (; i < lines.count; ++i) {
      const auto [start, step] = place(i);
      panels[start + k * step] = run[i];
    }
  }
}

template <typename T>
void computeTile(ProductTile<T>& tile, const ProductShape& shape, std::int64_t batch, ProductSpan rows,
                 ProductSpan columns, const ProductOperand<T>& a, const ProductOperand<T>& b,
                 const ProductSink<T>& sink) {
  std::fill(tile.acc, tile.acc + rows.count * kProductTileColumns, T{});
  for (std::int64_t k = 0; k < shape.depth; k += kProductTileDepth) {
    const ProductSpan depth{k, std::min(kProductTileDepth, shape.depth - k)};
    packPanels(a, batch, rows, depth, true, tile.a);
    packPanels(b, batch, columns, depth, false, tile.b);
    for (std::int64_t j = 0; j < columns.count; j += kProductLanes) {
      const T* panel = tile.b + j * depth.count;
      std::int64_t i = 0;
      for (; i + kProductLanes <= rows.count; i += kProductLanes) {
        blockOfFour(tile.a + i * depth.count, panel, depth.count, tile.acc + i * kProductTileColumns + j,
                    kProductTileColumns);
      }
      for (; i < rows.count; ++i)
        blockOfOne(tile.a + i * depth.count, panel, depth.count, tile.acc + i * kProductTileColumns + j);
    }
  }
  for (std::int64_t i = 0; i < rows.count; ++i) {
    sink.store(batch, rows.begin + i, columns.begin, columns.count, tile.acc + i * kProductTileColumns);
  }
}

// --- A few rows or columns: packing the other factor would cost more than the product. Each line of it is read once and used at once.

constexpr std::int64_t kThinLines = 3;
constexpr std::int64_t kThinTile = 512;  // lines of the wide factor

template <typename T> struct ThinTile {
  alignas(64) T narrow[kThinLines][kProductTileDepth];
  alignas(64) T wide[kProductLanes][kProductRun];
  alignas(64) T acc[kThinLines][kThinTile];
};

// acc[i] += sum over four lines of factors[line] * wide[line][i], line by line.
void addFourLines(const double* factors, const double (*wide)[kProductRun], std::int64_t count, double* acc) {
  const DoublePair f0 = {factors[0], factors[0]}, f1 = {factors[1], factors[1]};
  const DoublePair f2 = {factors[2], factors[2]}, f3 = {factors[3], factors[3]};
  std::int64_t i = 0;
  for (; i + 2 <= count; i += 2) {
    DoublePair c = pairAt(acc + i);
    c += f0 * pairAt(wide[0] + i);
    c += f1 * pairAt(wide[1] + i);
    c += f2 * pairAt(wide[2] + i);
    c += f3 * pairAt(wide[3] + i);
    storePair(acc + i, c);
  }
  for (; i < count; ++i) {
    for (std::int64_t line = 0; line < kProductLanes; ++line) acc[i] += factors[line] * wide[line][i];
  }
}
void addFourLines(const std::uint64_t* factors, const std::uint64_t (*wide)[kProductRun], std::int64_t count,
                  std::uint64_t* acc) {
  for (std::int64_t i = 0; i < count; ++i) {
    acc[i] +=
        factors[0] * wide[0][i] + factors[1] * wide[1][i] + factors[2] * wide[2][i] + factors[3] * wide[3][i];
  }
}

// The wide factor comes along its lines: four k at a time.
template <typename T>
void thinAlongLines(ThinTile<T>& tile, const ProductOperand<T>& wide, std::int64_t batch,
                    std::int64_t narrowLines, ProductSpan lines, ProductSpan depth) {
  for (std::int64_t k = 0; k < depth.count; k += kProductLanes) {
    const std::int64_t n = std::min(kProductLanes, depth.count - k);
    for (std::int64_t i = 0; i < lines.count; i += kProductRun) {
      const std::int64_t count = std::min(kProductRun, lines.count - i);
      for (std::int64_t j = 0; j < n; ++j)
        wide.load(batch, depth.begin + k + j, lines.begin + i, count, tile.wide[j]);
      for (std::int64_t r = 0; r < narrowLines; ++r) {
        T* const acc = tile.acc[r] + i;
        if (n == kProductLanes) {
          addFourLines(tile.narrow[r] + k, tile.wide, count, acc);
          continue;
        }
        for (std::int64_t j = 0; j < n; ++j) {
          const T factor = tile.narrow[r][k + j];
          for (std::int64_t e = 0; e < count; ++e) acc[e] += factor * tile.wide[j][e];
        }
      }
    }
  }
}

// The wide factor comes along k: four of its lines at a time, which keeps four sums going.
template <typename T>
void thinAlongDepth(ThinTile<T>& tile, const ProductOperand<T>& wide, std::int64_t batch,
                    std::int64_t narrowLines, ProductSpan lines, ProductSpan depth) {
  for (std::int64_t i = 0; i < lines.count; i += kProductLanes) {
    const std::int64_t n = std::min(kProductLanes, lines.count - i);
    for (std::int64_t j = 0; j < n; ++j)
      wide.load(batch, lines.begin + i + j, depth.begin, depth.count, tile.wide[j]);
    for (std::int64_t r = 0; r < narrowLines; ++r) {
      T* const acc = tile.acc[r] + i;
      const T* const narrow = tile.narrow[r];
      if (n == kProductLanes) {
        T c0 = acc[0], c1 = acc[1], c2 = acc[2], c3 = acc[3];
        for (std::int64_t k = 0; k < depth.count; ++k) {
          const T factor = narrow[k];
          c0 += factor * tile.wide[0][k], c1 += factor * tile.wide[1][k];
          c2 += factor * tile.wide[2][k], c3 += factor * tile.wide[3][k];
        }
        acc[0] = c0, acc[1] = c1, acc[2] = c2, acc[3] = c3;
        continue;
      }
      for (std::int64_t j = 0; j < n; ++j) {
        T c = acc[j];
        for (std::int64_t k = 0; k < depth.count; ++k) c += narrow[k] * tile.wide[j][k];
        acc[j] = c;
      }
    }
  }
}

template <typename T>
void loadNarrow(const ProductOperand<T>& narrow, std::int64_t batch, std::int64_t lines, ProductSpan depth,
                T (*out)[kProductTileDepth]) {
  if (narrow.alongDepth()) {
    for (std::int64_t r = 0; r < lines; ++r) narrow.load(batch, r, depth.begin, depth.count, out[r]);
    return;
  }
  T column[kThinLines];
  for (std::int64_t k = 0; k < depth.count; ++k) {
    narrow.load(batch, depth.begin + k, 0, lines, column);
    for (std::int64_t r = 0; r < lines; ++r) out[r][k] = column[r];
  }
}

/// `lines` of the wide factor times all of the narrow one, which has the rows when `narrowIsA`, else the columns.
template <typename T>
void computeThin(ThinTile<T>& tile, const ProductShape& shape, std::int64_t batch, ProductSpan lines,
                 bool narrowIsA, const ProductOperand<T>& narrow, const ProductOperand<T>& wide,
                 const ProductSink<T>& sink) {
  const std::int64_t narrowLines = narrowIsA ? shape.rows : shape.columns;
  for (std::int64_t r = 0; r < narrowLines; ++r) std::fill_n(tile.acc[r], lines.count, T{});
  for (std::int64_t k = 0; k < shape.depth; k += kProductTileDepth) {
    const ProductSpan depth{k, std::min(kProductTileDepth, shape.depth - k)};
    loadNarrow(narrow, batch, narrowLines, depth, tile.narrow);
    if (wide.alongDepth()) {
      thinAlongDepth(tile, wide, batch, narrowLines, lines, depth);
    } else {
      thinAlongLines(tile, wide, batch, narrowLines, lines, depth);
    }
  }
  if (narrowIsA) {
    for (std::int64_t r = 0; r < narrowLines; ++r) {
      for (std::int64_t i = 0; i < lines.count; i += kProductRun)
        sink.store(batch, r, lines.begin + i, std::min(kProductRun, lines.count - i), tile.acc[r] + i);
    }
    return;
  }
  T row[kThinLines];
  for (std::int64_t i = 0; i < lines.count; ++i) {
    for (std::int64_t r = 0; r < narrowLines; ++r) row[r] = tile.acc[r][i];
    sink.store(batch, lines.begin + i, 0, narrowLines, row);
  }
}

/// Products handed out at once, so that a part has about as many multiplications as a full tile.
std::int64_t grainOf(std::int64_t multiplications) {
  return std::max<std::int64_t>(1, kProductTileRows * kProductTileColumns * kProductTileDepth /
                                       std::max<std::int64_t>(multiplications, 1));
}

template <typename T>
void thinProduct(ThreadPool& threads, const ProductShape& shape, const ProductOperand<T>& a,
                 const ProductOperand<T>& b, const ProductSink<T>& sink) {
  const bool narrowIsA = shape.rows <= shape.columns;
  const std::int64_t lines = narrowIsA ? shape.columns : shape.rows;
  const std::int64_t narrowLines = narrowIsA ? shape.rows : shape.columns;
  const std::int64_t tiles = (lines + kThinTile - 1) / kThinTile;
  const std::int64_t grain = grainOf(narrowLines * std::min(lines, kThinTile) * shape.depth);
  threads.parallelFor(shape.batch * tiles, grain, [&](std::int64_t begin, std::int64_t end) {
    ThinTile<T> tile;
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t first = t % tiles * kThinTile;
      computeThin(tile, shape, t / tiles, {first, std::min(kThinTile, lines - first)}, narrowIsA,
                  narrowIsA ? a : b, narrowIsA ? b : a, sink);
    }
  });
}

}  // namespace

template <typename T>
void product(ThreadPool& threads, const ProductShape& shape, const ProductOperand<T>& a,
             const ProductOperand<T>& b, const ProductSink<T>& sink) {
  if (std::min(shape.rows, shape.columns) <= kThinLines) return thinProduct(threads, shape, a, b, sink);
  const std::int64_t rowTiles = (shape.rows + kProductTileRows - 1) / kProductTileRows;
  const std::int64_t columnTiles = (shape.columns + kProductTileColumns - 1) / kProductTileColumns;
  const std::int64_t tiles = rowTiles * columnTiles;
  const std::int64_t grain = grainOf(std::min(shape.rows, kProductTileRows) *
                                     std::min(shape.columns, kProductTileColumns) * shape.depth);
  threads.parallelFor(shape.batch * tiles, grain, [&](std::int64_t begin, std::int64_t end) {
    ProductTile<T> tile;
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t row = t % tiles / columnTiles * kProductTileRows;
      const std::int64_t column = t % columnTiles * kProductTileColumns;
      computeTile(tile, shape, t / tiles, {row, std::min(kProductTileRows, shape.rows - row)},
                  {column, std::min(kProductTileColumns, shape.columns - column)}, a, b, sink);
    }
  });
}

template void product<double>(ThreadPool&, const ProductShape&, const ProductOperand<double>&,
                              const ProductOperand<double>&, const ProductSink<double>&);
template void product<std::uint64_t>(ThreadPool&, const ProductShape&, const ProductOperand<std::uint64_t>&,
                                     const ProductOperand<std::uint64_t>&, const ProductSink<std::uint64_t>&);

template <typename T>
void DenseOperand<T>::load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
                           T* out) const {
  const std::int64_t start = (offsets_ == nullptr ? 0 : offsets_[batch]) + line * lineStride_ + begin;
  loadBlock(view_, start, count, out);
}

template <typename T>
void DenseSink<T>::store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                         const T* values) const {
  storeBlock(view_, (batch * rows_ + row) * columns_ + column, count, values);
}

template class DenseOperand<double>;
template class DenseOperand<std::uint64_t>;
template class DenseSink<double>;
template class DenseSink<std::uint64_t>;

void ScratchOperand::load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
                          double* out) const {
  const double* from = data_ + batch * batchStride_ + line * lineStride_ + begin;
  std::copy(from, from + count, out);
}

void ScratchSink::store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                        const double* values) const {
  std::copy(values, values + count, data_ + (batch * rows_ + row) * columns_ + column);
}

}  // namespace rota::ref
