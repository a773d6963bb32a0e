// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer over integers: counts the n-grams of a pool, also with skipped elements between theirs, and weighs the counts.
// Every n-gram of a row is compared with every n-gram of the pool of its length: plain, and slow for large pools.
// Tested by src/ref/tf_idf_vectorizer_test.cpp.
#include <algorithm>
#include <string>

#include "core/check.h"
#include "ref/blocks.h"
#include "ref/common.h"

namespace rota::ref {

namespace {

struct NgramPool {
  const std::vector<std::int64_t>* elements;
  const std::vector<std::int64_t>* starts;   // of the 1-grams, 2-grams, … in `elements`
  const std::vector<std::int64_t>* columns;  // one for each n-gram
  std::int64_t width = 0;                    // columns of the result
};

Result<NgramPool> ngramPool(const Attributes& attributes) {
  NgramPool pool{attributes.getInts("pool_int64s"), attributes.getInts("ngram_counts"),
                 attributes.getInts("ngram_indexes"), 0};
  if (pool.elements == nullptr || pool.starts == nullptr || pool.columns == nullptr ||
      pool.columns->empty()) {
    return Status(ErrorCode::kBadAttribute,
                  "TfIdfVectorizer needs 'pool_int64s', 'ngram_counts' and 'ngram_indexes'");
  }
  std::int64_t grams = 0;
  const auto size = static_cast<std::int64_t>(pool.elements->size());
  for (std::size_t n = 0; n < pool.starts->size(); ++n) {
    const std::int64_t begin = (*pool.starts)[n];
    const std::int64_t end = n + 1 < pool.starts->size() ? (*pool.starts)[n + 1] : size;
    const auto length = static_cast<std::int64_t>(n) + 1;
    if (begin < 0 || begin > end || end > size || (end - begin) % length != 0) {
      return Status(ErrorCode::kBadAttribute, "'ngram_counts' does not cut the pool into n-grams")
          .expected("ascending offsets, whole n-grams");
    }
    grams += (end - begin) / length;
  }
  if (grams != static_cast<std::int64_t>(pool.columns->size()) ||
      *std::min_element(pool.columns->begin(), pool.columns->end()) < 0) {
    return Status(ErrorCode::kBadAttribute,
                  "'ngram_indexes' must have one column for each n-gram of the pool")
        .expected(std::to_string(grams));
  }
  pool.width = *std::max_element(pool.columns->begin(), pool.columns->end()) + 1;
  return pool;
}

// Adds one to the column of every n-gram of the pool that stands at row[0], row[step], ….
void countNgrams(const NgramPool& pool, const std::int64_t* row, std::int64_t step, std::size_t n,
                 double* counts) {
  std::size_t gram = 0;
  for (std::size_t k = 0; k < pool.starts->size(); ++k) {
    const auto begin = static_cast<std::size_t>((*pool.starts)[k]);
    const std::size_t end =
        k + 1 < pool.starts->size() ? static_cast<std::size_t>((*pool.starts)[k + 1]) : pool.elements->size();
    if (k + 1 != n) {
      gram += (end - begin) / (k + 1);
      continue;
    }
    for (std::size_t at = begin; at < end; at += n, ++gram) {
      bool equal = true;
      for (std::size_t i = 0; i < n && equal; ++i)
        equal = (*pool.elements)[at + i] == row[static_cast<std::int64_t>(i) * step];
      if (equal) counts[(*pool.columns)[gram]] += 1;
    }
  }
}

Status tfIdfVectorizer(KernelContext& ctx) {
  const Attributes& attributes = ctx.attributes();
  auto pool = ngramPool(attributes);
  if (!pool) return pool.status();
  const TensorView x = ctx.input(0);
  if (x.rank() < 1 || x.rank() > 2 || !isInteger(x.dtype)) {
    return Status(ErrorCode::kShapeMismatch, "TfIdfVectorizer needs integers [C] or [N, C]")
        .found(dimsText(x.dims));
  }
  const std::int64_t length = x.dims[x.rank() - 1];
  const std::int64_t rows = x.rank() == 2 ? x.dims[0] : 1;
  const std::int64_t shortest = std::max<std::int64_t>(1, attributes.getInt("min_gram_length", 1));
  const std::int64_t longest =
      std::min(attributes.getInt("max_gram_length", 1), static_cast<std::int64_t>(pool->starts->size()));
  const std::int64_t skips = std::max<std::int64_t>(0, attributes.getInt("max_skip_count"));
  const std::string_view mode = attributes.getString("mode", "TF");
  const auto* weights = attributes.getFloats("weights");
  if ((mode != "TF" && mode != "IDF" && mode != "TFIDF") ||
      (weights != nullptr && weights->size() != pool->columns->size())) {
    return Status(ErrorCode::kBadAttribute, "'mode' or 'weights' of TfIdfVectorizer is wrong")
        .expected("TF, IDF or TFIDF, one weight for each n-gram");
  }
  auto y = x.rank() == 2 ? ctx.output(0, DimArray{rows, pool->width}) : ctx.output(0, DimArray{pool->width});
  if (!y) return y.status();
  auto counts = ctx.scratch<double>(pool->width);
  if (!counts) return counts.status();
  auto elements = ctx.scratch<std::int64_t>(length);
  if (!elements) return elements.status();
  for (std::int64_t r = 0; r < rows; ++r) {
    loadAsInt64(x, r * length, length, *elements);
    std::fill(*counts, *counts + pool->width, 0.0);
    for (std::int64_t step = 1; step <= skips + 1; ++step) {
      for (std::int64_t n = step == 1 ? shortest : std::max<std::int64_t>(2, shortest); n <= longest; ++n) {
        for (std::int64_t i = 0; i + (n - 1) * step < length; ++i)
          countNgrams(*pool, *elements + i, step, static_cast<std::size_t>(n), *counts);
      }
    }
    for (std::size_t g = 0; mode != "TF" && g < pool->columns->size(); ++g) {
      double& count = (*counts)[(*pool->columns)[g]];
      const double weight = weights == nullptr ? 1 : (*weights)[g];
      count = mode == "IDF" ? (count > 0 ? weight : 0) : count * weight;
    }
    storeBlock(*y, r * pool->width, pool->width, *counts);
  }
  return Status::ok();
}

const RegisterKernel kTfIdfVectorizer("", "TfIdfVectorizer", tfIdfVectorizer);

}  // namespace

}  // namespace rota::ref
