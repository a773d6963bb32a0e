// SPDX-License-Identifier: Apache-2.0
// Tiles of products and of convolutions over channels in blocks, held in registers while the depth runs.
//
// Six rows (or pixels) by two vectors: twelve accumulators, which hide the latency of FMA on two ports and leave registers for one element of A
// and two vectors of B (the register tile of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008). Every shape runs
// through the same code: there is nothing to make ready (decision N18). Terms are added in order of the depth, fused where the instruction set fuses.
// Tested by src/backend/cpu/run/product_test.cpp.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "backend/cpu/run/simd/parts.h"
#include "backend/cpu/run/simd/vector.h"

namespace rota::simd::ROTA_SIMD_NAMESPACE {

namespace {

/// The value in every lane; without the addition that keeps splat from being one instruction.
ROTA_INLINE F everyLane(float x) {
#if defined(__AVX512F__)
  return reinterpret_cast<F>(_mm512_set1_ps(x));
#elif defined(__AVX2__)
  return reinterpret_cast<F>(_mm256_set1_ps(x));
#else
  return x - F{};
#endif
}
ROTA_INLINE F multiplyAdd(F a, F b, F c) {
#if defined(__AVX512F__)
  return reinterpret_cast<F>(
      _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__FMA__)
  return reinterpret_cast<F>(
      _mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  return a * b + c;
#endif
}

struct Output {
  float* c;
  std::int64_t row, columns;
  bool adds;
};

ROTA_INLINE void put(const Output& o, float* c, F low, F high) {
  if (o.columns == 2 * kLanes) {
    store(c, o.adds ? load(c) + low : low);
    store(c + kLanes, o.adds ? load(c + kLanes) + high : high);
    return;
  }
  alignas(kVectorBytes) float lanes[2 * kLanes];
  store(lanes, low);
  store(lanes + kLanes, high);
  for (std::int64_t j = 0; j < o.columns; ++j) c[j] = o.adds ? c[j] + lanes[j] : lanes[j];
}

template <int kRows>
void tileOf(const float* a, std::int64_t aRow, std::int64_t aDepth, const float* b, std::int64_t bStride,
            std::int64_t depth, const Output& o) {
  F low[kRows] = {};
  F high[kRows] = {};
  for (std::int64_t d = 0; d < depth; ++d) {
    const F first = load(b);
    const F second = load(b + kLanes);
    for (int r = 0; r < kRows; ++r) {
      const F x = everyLane(a[r * aRow]);
      low[r] = multiplyAdd(x, first, low[r]);
      high[r] = multiplyAdd(x, second, high[r]);
    }
    a += aDepth;
    b += bStride;
  }
  for (int r = 0; r < kRows; ++r) put(o, o.c + r * o.row, low[r], high[r]);
}

void productTile(const float* a, std::int64_t aRow, std::int64_t aDepth, const float* b, std::int64_t bStride,
                 std::int64_t depth, std::int64_t rows, std::int64_t columns, float* c, std::int64_t cRow,
                 bool adds) {
  const Output o{c, cRow, columns, adds};
  switch (rows) {
    case 1: return tileOf<1>(a, aRow, aDepth, b, bStride, depth, o);
    case 2: return tileOf<2>(a, aRow, aDepth, b, bStride, depth, o);
    case 3: return tileOf<3>(a, aRow, aDepth, b, bStride, depth, o);
    case 4: return tileOf<4>(a, aRow, aDepth, b, bStride, depth, o);
    case 5: return tileOf<5>(a, aRow, aDepth, b, bStride, depth, o);
    case 6: return tileOf<6>(a, aRow, aDepth, b, bStride, depth, o);
    default: return;
  }
}

template <int kRows, int kVectors>
void wideOf(const float* a, std::int64_t aRow, std::int64_t aDepth, const float* b, std::int64_t bStride,
            std::int64_t depth, float* c, std::int64_t cRow, bool adds) {
  F sums[kRows][kVectors] = {};
  for (std::int64_t d = 0; d < depth; ++d) {
    for (int v = 0; v < kVectors; ++v) {
      const F column = load(b + v * kLanes);
      for (int r = 0; r < kRows; ++r) sums[r][v] = multiplyAdd(everyLane(a[r * aRow]), column, sums[r][v]);
    }
    a += aDepth;
    b += bStride;
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      float* to = c + r * cRow + v * kLanes;
      store(to, adds ? load(to) + sums[r][v] : sums[r][v]);
    }
}

void productWide(const float* a, std::int64_t aRow, std::int64_t aDepth, const float* b, std::int64_t bStride,
                 std::int64_t depth, std::int64_t rows, float* c, std::int64_t cRow, bool adds) {
  switch (rows) {
    case 1: return wideOf<1, 12>(a, aRow, aDepth, b, bStride, depth, c, cRow, adds);
    case 2: return wideOf<2, 6>(a, aRow, aDepth, b, bStride, depth, c, cRow, adds);
    case 3: return wideOf<3, 4>(a, aRow, aDepth, b, bStride, depth, c, cRow, adds);
    default: return;
  }
}

/// Four columns at a time, each in two accumulators.
template <int kColumnsAtOnce>
ROTA_INLINE void dots(const float* a, const float* b, std::int64_t bStride, std::int64_t depth, float* c) {
  F even[kColumnsAtOnce] = {};
  F odd[kColumnsAtOnce] = {};
  std::int64_t d = 0;
  for (; d + 2 * kLanes <= depth; d += 2 * kLanes) {
    const F first = load(a + d);
    const F second = load(a + d + kLanes);
    for (int j = 0; j < kColumnsAtOnce; ++j) {
      even[j] = multiplyAdd(first, load(b + j * bStride + d), even[j]);
      odd[j] = multiplyAdd(second, load(b + j * bStride + d + kLanes), odd[j]);
    }
  }
  for (int j = 0; j < kColumnsAtOnce; ++j) {
    float sum = sumLanes(even[j] + odd[j]);
    for (std::int64_t rest = d; rest < depth; ++rest) sum += a[rest] * b[j * bStride + rest];
    c[j] = sum;
  }
}

void dotColumns(const float* a, const float* b, std::int64_t bStride, std::int64_t depth,
                std::int64_t columns, float* c) {
  std::int64_t j = 0;
  for (; j + 4 <= columns; j += 4) dots<4>(a, b + j * bStride, bStride, depth, c + j);
  for (; j < columns; ++j) dots<1>(a, b + j * bStride, bStride, depth, c + j);
}

#if defined(__AVX2__)

// Operations on a block of channels: `v` is the vector of a block, and everything is passed by pointer, so that no vector crosses a call.
struct Block8 {
  static constexpr int kSize = 8;
  using V = __m256;
  ROTA_INLINE V get(const float* p) { return _mm256_loadu_ps(p); }
  ROTA_INLINE void set(float* p, V v) { _mm256_storeu_ps(p, v); }
  ROTA_INLINE V all(float x) { return _mm256_set1_ps(x); }
  ROTA_INLINE V zero() { return _mm256_setzero_ps(); }
  ROTA_INLINE V fused(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
};
#if defined(__AVX512F__)
struct Block16 {
  static constexpr int kSize = 16;
  using V = __m512;
  ROTA_INLINE V get(const float* p) { return _mm512_loadu_ps(p); }
  ROTA_INLINE void set(float* p, V v) { _mm512_storeu_ps(p, v); }
  ROTA_INLINE V all(float x) { return _mm512_set1_ps(x); }
  ROTA_INLINE V zero() { return _mm512_setzero_ps(); }
  ROTA_INLINE V fused(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
};
#endif

ROTA_INLINE bool allInside(const float* const* pixels) {
  bool inside = true;
  for (int p = 0; p < kTileRows; ++p) inside = inside && pixels[p] != nullptr;
  return inside;
}

template <typename B, int kBlocks> ROTA_INLINE void convolveTile(const ConvolutionTile& t) {
  using V = typename B::V;
  V sums[kTileRows][kBlocks];
  for (int p = 0; p < kTileRows; ++p)
    for (int o = 0; o < kBlocks; ++o) sums[p][o] = B::zero();
  const float* weights = t.weights;
  const std::int64_t step = t.inner * B::kSize;
  for (std::int64_t outer = 0; outer < t.outer; ++outer) {
    const std::int64_t channel = outer * t.outerStride;
    for (std::int64_t k = 0; k < t.kernelPoints; ++k, weights += step) {
      const float* const* pixels = t.points + k * kTileRows;
      if (allInside(pixels)) {
        const float* w = weights;
        for (std::int64_t i = 0, at = channel; i < t.inner; ++i, at += t.innerStride, w += B::kSize) {
          V filter[kBlocks];
          for (int o = 0; o < kBlocks; ++o) filter[o] = B::get(w + o * t.weightsStride);
          for (int p = 0; p < kTileRows; ++p) {
            const V x = B::all(pixels[p][at]);
            for (int o = 0; o < kBlocks; ++o) sums[p][o] = B::fused(x, filter[o], sums[p][o]);
          }
        }
        continue;
      }
      // What lies in the padding adds nothing.
      for (int p = 0; p < kTileRows; ++p) {
        if (pixels[p] == nullptr) continue;
        const float* w = weights;
        for (std::int64_t i = 0, at = channel; i < t.inner; ++i, at += t.innerStride, w += B::kSize) {
          const V x = B::all(pixels[p][at]);
          for (int o = 0; o < kBlocks; ++o)
            sums[p][o] = B::fused(x, B::get(w + o * t.weightsStride), sums[p][o]);
        }
      }
    }
  }
  for (int p = 0; p < kTileRows; ++p) {
    if (p >= t.pixels) break;
    for (int o = 0; o < kBlocks; ++o) B::set(t.out + o * t.outStride + p * B::kSize, sums[p][o]);
  }
}

template <typename B> void convolve(const ConvolutionTile& t) {
  if (t.blocks == 2) {
    convolveTile<B, 2>(t);
  } else {
    convolveTile<B, 1>(t);
  }
}

template <typename B> void depthwise(const ConvolutionTile& t) {
  using V = typename B::V;
  V sums[kTileRows];
  for (int p = 0; p < kTileRows; ++p) sums[p] = B::zero();
  for (std::int64_t k = 0; k < t.kernelPoints; ++k) {
    const V filter = B::get(t.weights + k * B::kSize);
    const float* const* pixels = t.points + k * kTileRows;
    if (allInside(pixels)) {
      for (int p = 0; p < kTileRows; ++p)
        sums[p] = B::fused(B::get(pixels[p] + t.outerStride), filter, sums[p]);
      continue;
    }
    for (int p = 0; p < kTileRows; ++p)
      if (pixels[p] != nullptr) sums[p] = B::fused(B::get(pixels[p] + t.outerStride), filter, sums[p]);
  }
  for (int p = 0; p < kTileRows; ++p) {
    if (p >= t.pixels) break;
    B::set(t.out + p * B::kSize, sums[p]);
  }
}

#endif

}  // namespace

void fillProducts(Kernels& table) {
  table.tileColumns = 2 * kLanes;
  table.productTile = productTile;
  for (std::int64_t rows = 1; rows <= kWideRows; ++rows) table.wideColumns[rows] = 12 / rows * kLanes;
  table.productWide = productWide;
  table.dotColumns = dotColumns;
#if defined(__AVX2__)
  table.convolve8 = convolve<Block8>;
  table.depthwise8 = depthwise<Block8>;
#endif
#if defined(__AVX512F__)
  table.convolve16 = convolve<Block16>;
  table.depthwise16 = depthwise<Block16>;
#endif
}

}  // namespace rota::simd::ROTA_SIMD_NAMESPACE
