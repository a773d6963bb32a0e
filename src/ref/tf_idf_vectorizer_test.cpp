// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Ints = std::vector<std::int64_t>;
using Values = std::vector<double>;

KernelRun vectorizerRun(const char* mode, std::int64_t shortest, std::int64_t longest, std::int64_t skips) {
  KernelRun run{.name = "TfIdfVectorizer",
                .inputs = {Tensor::ofInt64({2, 3, 2, 4, 3}, {5})},
                .outputTypes = {DType::kFloat32},
                .outputDims = {{4}}};
  run.attributes.set("pool_int64s", Ints{2, 3, /* pairs */ 2, 3, 2, 4});
  run.attributes.set("ngram_counts", Ints{0, 2});
  run.attributes.set("ngram_indexes", Ints{0, 1, 2, 3});
  run.attributes.set("weights", std::vector<float>{1, 2, 3, 4});
  run.attributes.set("mode", std::string(mode));
  run.attributes.set("min_gram_length", shortest);
  run.attributes.set("max_gram_length", longest);
  run.attributes.set("max_skip_count", skips);
  return run;
}

TEST(TfIdfVectorizer, CountsAndWeighs) {
  EXPECT_EQ(valuesOf((*runKernel(vectorizerRun("TF", 1, 2, 0)))[0]), (Values{2, 2, 1, 1}));
  EXPECT_EQ(valuesOf((*runKernel(vectorizerRun("TF", 1, 1, 3)))[0]), (Values{2, 2, 0, 0}));
  EXPECT_EQ(valuesOf((*runKernel(vectorizerRun("IDF", 2, 2, 0)))[0]), (Values{0, 0, 3, 4}));
  EXPECT_EQ(valuesOf((*runKernel(vectorizerRun("TFIDF", 1, 2, 0)))[0]), (Values{2, 4, 3, 4}));
  // One skipped element: 2 _ 3 at position 2; two: 2 _ _ 4 at position 0.
  EXPECT_EQ(valuesOf((*runKernel(vectorizerRun("TF", 2, 2, 1)))[0]), (Values{0, 0, 2, 1}));
  EXPECT_EQ(valuesOf((*runKernel(vectorizerRun("TF", 2, 2, 2)))[0]), (Values{0, 0, 2, 2}));
}

TEST(TfIdfVectorizer, PoolsThatDoNotFitAreErrors) {
  KernelRun run = vectorizerRun("TF", 1, 2, 0);
  run.attributes.set("ngram_counts", Ints{0, 3});
  EXPECT_EQ(runKernel(run).status().code(), ErrorCode::kBadAttribute);
  run.attributes.set("ngram_counts", Ints{0, 2});
  run.attributes.set("ngram_indexes", Ints{0, 1, 2});
  EXPECT_EQ(runKernel(run).status().code(), ErrorCode::kBadAttribute);
}

}  // namespace
}  // namespace rota::ref
