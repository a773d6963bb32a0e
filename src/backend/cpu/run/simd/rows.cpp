// SPDX-License-Identifier: Apache-2.0
// Folds, softmax and scaling of rows. Sums run in several vector accumulators over chunks of kChunk elements, chunks are added in double, so the
// error hardly grows with the length. Tested by src/backend/cpu/run/simd_test.cpp.
#include "backend/cpu/run/simd/math.h"
#include "backend/cpu/run/simd/parts.h"

namespace rota::simd::ROTA_SIMD_NAMESPACE {
namespace {

constexpr float kInfinity = __builtin_inff();

/// Sum of term(x[i]); lanes behind the end are not counted.
template <typename Term> ROTA_INLINE double chunkedSum(const float* x, std::int64_t n, const Term& term) {
  double total = 0;
  for (std::int64_t start = 0; start < n; start += kChunk) {
    const std::int64_t m = n - start < kChunk ? n - start : kChunk;
    const float* p = x + start;
    F s0{};
    F s1{};
    std::int64_t i = 0;
    for (; i + 2 * kLanes <= m; i += 2 * kLanes) {
      s0 += term(load(p + i));
      s1 += term(load(p + i + kLanes));
    }
    for (; i + kLanes <= m; i += kLanes) s0 += term(load(p + i));
    float chunk = sumLanes(s0 + s1);
    if (i < m) {
      alignas(kVectorBytes) float lanes[kLanes];
      store(lanes, term(loadPart(p + i, m - i)));
      for (std::int64_t k = 0; k < m - i; ++k) chunk += lanes[k];
    }
    total += static_cast<double>(chunk);
  }
  return total;
}

double sum(const float* x, std::int64_t n) {
  return chunkedSum(x, n, [](F v) __attribute__((always_inline)) { return v; });
}
double sumOfSquares(const float* x, std::int64_t n, float shift) {
  const F s = splat(shift);
  return chunkedSum(x, n, [s](F v) __attribute__((always_inline)) { return (v - s) * (v - s); });
}
double sumOfMagnitudes(const float* x, std::int64_t n) {
  return chunkedSum(x, n, [](F v) __attribute__((always_inline)) { return absolute(v); });
}
double sumOfExponentials(const float* x, std::int64_t n, float shift) {
  const F s = splat(shift);
  return chunkedSum(x, n, [s](F v) __attribute__((always_inline)) { return expOf(v - s); });
}

template <bool isLargest> float extreme(const float* x, std::int64_t n) {
  const float start = isLargest ? -kInfinity : kInfinity;
  F best = splat(start);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    best = isLargest ? largerOrNan(load(x + i), best) : smallerOrNan(load(x + i), best);
  alignas(kVectorBytes) float lanes[kLanes];
  store(lanes, best);
  float result = start;
  const auto take = [&](float v) {
    if (result != result) return;
    if (v != v || (isLargest ? v > result : v < result)) result = v;
  };
  for (int k = 0; k < kLanes; ++k) take(lanes[k]);
  for (; i < n; ++i) take(x[i]);
  return result;
}

void softmaxRow(const float* x, float* y, std::int64_t n, SoftmaxForm form) {
  if (n == 0) return;
  const float top = extreme<true>(x, n);
  if (form == SoftmaxForm::kMasked && top == -kInfinity) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = 0;
    return;
  }
  const bool logarithm = form == SoftmaxForm::kLogarithm;
  const F shift = splat(top);
  if (logarithm) {
    const double total = sumOfExponentials(x, n, top);
    const float l = logOf(splat(static_cast<float>(total)))[0];
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store(y + i, (load(x + i) - shift) - l);
    for (; i < n; ++i) y[i] = (x[i] - top) - l;
    return;
  }
  double total = 0;
  for (std::int64_t start = 0; start < n; start += kChunk) {
    const std::int64_t end = n - start < kChunk ? n : start + kChunk;
    F s{};
    std::int64_t i = start;
    for (; i + kLanes <= end; i += kLanes) {
      const F e = expOf(load(x + i) - shift);
      store(y + i, e);
      s += e;
    }
    float chunk = sumLanes(s);
    if (i < end) {
      storePart(y + i, expOf(loadPart(x + i, end - i) - shift), end - i);
      for (; i < end; ++i) chunk += y[i];
    }
    total += static_cast<double>(chunk);
  }
  const float factor = static_cast<float>(1.0 / total);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, load(y + i) * factor);
  for (; i < n; ++i) y[i] *= factor;
}

void softmaxColumns(const float* x, float* y, std::int64_t n, std::int64_t stride, std::int64_t columns,
                    SoftmaxForm form) {
  if (n == 0) return;
  const bool logarithm = form == SoftmaxForm::kLogarithm;
  for (std::int64_t c = 0; c < columns; c += kLanes) {
    const std::int64_t m = columns - c < kLanes ? columns - c : kLanes;
    const bool whole = m == kLanes;
    const auto get = [&](const float* p)
                         __attribute__((always_inline)) { return whole ? load(p) : loadPart(p, m); };
    const auto put = [&](float* p, F v)
                         __attribute__((always_inline)) { return whole ? store(p, v) : storePart(p, v, m); };
    F top = splat(-kInfinity);
    for (std::int64_t r = 0; r < n; ++r) top = largerOrNan(get(x + r * stride + c), top);
    F total{};
    F chunk{};
    for (std::int64_t r = 0; r < n; ++r) {
      const F e = expOf(get(x + r * stride + c) - top);
      if (!logarithm) put(y + r * stride + c, e);
      chunk += e;
      if ((r & 63) == 63) {
        total += chunk;
        chunk = F{};
      }
    }
    total += chunk;
    if (logarithm) {
      const F l = logOf(total);
      for (std::int64_t r = 0; r < n; ++r) put(y + r * stride + c, (get(x + r * stride + c) - top) - l);
    } else {
      const F factor = 1.0F / total;
      for (std::int64_t r = 0; r < n; ++r) put(y + r * stride + c, get(y + r * stride + c) * factor);
    }
  }
}

/// acc += the column sums of term(x), in float over up to 32 rows, in double over these.
template <typename Term>
ROTA_INLINE void sumRows(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                         double* acc, const Term& term) {
  for (std::int64_t r0 = 0; r0 < rows; r0 += 32) {
    const std::int64_t rEnd = rows - r0 < 32 ? rows : r0 + 32;
    std::int64_t c = 0;
    for (; c < columns; c += kLanes) {
      const std::int64_t m = columns - c < kLanes ? columns - c : kLanes;
      F s{};
      if (m == kLanes) {
        for (std::int64_t r = r0; r < rEnd; ++r) s += term(load(x + r * stride + c));
      } else {
        for (std::int64_t r = r0; r < rEnd; ++r) s += term(loadPart(x + r * stride + c, m));
      }
      alignas(kVectorBytes) float lanes[kLanes];
      store(lanes, s);
      for (std::int64_t k = 0; k < m; ++k) acc[c + k] += static_cast<double>(lanes[k]);
    }
  }
}
void addRows(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns, double* acc) {
  sumRows(x, rows, stride, columns, acc, [](F v) __attribute__((always_inline)) { return v; });
}
void addSquareRows(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                   double* acc) {
  sumRows(x, rows, stride, columns, acc, [](F v) __attribute__((always_inline)) { return v * v; });
}
void addMagnitudeRows(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                      double* acc) {
  sumRows(x, rows, stride, columns, acc, [](F v) __attribute__((always_inline)) { return absolute(v); });
}

template <bool isLargest>
void extremeRows(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns, float* acc) {
  for (std::int64_t c = 0; c < columns; c += kLanes) {
    const std::int64_t m = columns - c < kLanes ? columns - c : kLanes;
    const bool whole = m == kLanes;
    F best = whole ? load(acc + c) : loadPart(acc + c, m);
    for (std::int64_t r = 0; r < rows; ++r) {
      const F v = whole ? load(x + r * stride + c) : loadPart(x + r * stride + c, m);
      best = isLargest ? largerOrNan(v, best) : smallerOrNan(v, best);
    }
    whole ? store(acc + c, best) : storePart(acc + c, best, m);
  }
}

void affineRow(const float* x, float* y, std::int64_t n, float shift, float factor, const float* scale,
               const float* bias) {
  const auto apply = [&](F v, std::int64_t i, auto get) __attribute__((always_inline)) {
    v = (v - shift) * factor;
    if (scale != nullptr) v = v * get(scale + i);
    if (bias != nullptr) v = v + get(bias + i);
    return v;
  };
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(y + i,
          apply(load(x + i), i, [](const float* p) __attribute__((always_inline)) { return load(p); }));
  if (i == n) return;
  const std::int64_t m = n - i;
  storePart(y + i,
            apply(loadPart(x + i, m), i,
                  [m](const float* p) __attribute__((always_inline)) { return loadPart(p, m); }),
            m);
}

void addScaled(const float* x, float weight, float* acc, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(acc + i, load(acc + i) + load(x + i) * weight);
  for (; i < n; ++i) acc[i] += x[i] * weight;
}

void affine(const float* x, float* y, std::int64_t n, float shift, float scale, float bias) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, (load(x + i) - shift) * scale + bias);
  for (; i < n; ++i) y[i] = (x[i] - shift) * scale + bias;
}

}  // namespace

void fillRows(Kernels& table) {
  table.softmaxRow = softmaxRow;
  table.softmaxColumns = softmaxColumns;
  table.sum = sum;
  table.sumOfSquares = sumOfSquares;
  table.sumOfMagnitudes = sumOfMagnitudes;
  table.sumOfExponentials = sumOfExponentials;
  table.largest = extreme<true>;
  table.smallest = extreme<false>;
  table.addRows = addRows;
  table.addSquareRows = addSquareRows;
  table.addMagnitudeRows = addMagnitudeRows;
  table.largestRows = extremeRows<true>;
  table.smallestRows = extremeRows<false>;
  table.affineRow = affineRow;
  table.affine = affine;
  table.addScaled = addScaled;
}

}  // namespace rota::simd::ROTA_SIMD_NAMESPACE
