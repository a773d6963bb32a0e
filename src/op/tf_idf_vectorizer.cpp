// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer. Tested by src/ref/tf_idf_vectorizer_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "op/common.h"

namespace rota::op {
namespace {

Status inferTfIdfVectorizer(InferContext& ctx) {
  if (!isInteger(ctx.inputDtype(0))) {
    return ctx.error(ErrorCode::kUnsupportedType, "TfIdfVectorizer is supported for integers only",
                     "int32 or int64", info(ctx.inputDtype(0)).name);
  }
  const auto* columns = ctx.attributes().getInts("ngram_indexes");
  if (columns == nullptr || columns->empty()) {
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'ngram_indexes' is missing",
                     "one column for each n-gram");
  }
  ir::Shape shape = ctx.inputShape(0);
  if (shape.known) {
    if (shape.rank() < 1 || shape.rank() > 2) {
      return ctx.error(ErrorCode::kShapeMismatch, "The input must be [C] or [N, C]", "rank 1 or 2",
                       "rank " + std::to_string(shape.rank()));
    }
    shape.dims.back() = *std::max_element(columns->begin(), columns->end()) + 1;
  }
  ctx.setOutput(0, DType::kFloat32, std::move(shape));
  return Status::ok();
}

const Register kRegisterTfIdfVectorizer(Definition{
    .domain = "",
    .name = "TfIdfVectorizer",
    .versions = {9},
    .doc = "Counts the n-grams of a pool in each row, also with skipped elements between theirs; gives the "
           "counts, weights of those that occur, or their product.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X"}},
    .outputs = {{.name = "Y"}},
    .attributes = {{.name = "max_gram_length", .type = AttributeType::kInt, .required = true},
                   {.name = "max_skip_count", .type = AttributeType::kInt, .required = true},
                   {.name = "min_gram_length", .type = AttributeType::kInt, .required = true},
                   {.name = "mode", .type = AttributeType::kString, .required = true},
                   {.name = "ngram_counts", .type = AttributeType::kInts, .required = true},
                   {.name = "ngram_indexes", .type = AttributeType::kInts, .required = true},
                   {.name = "pool_int64s", .type = AttributeType::kInts},
                   {.name = "pool_strings", .type = AttributeType::kStrings},
                   {.name = "weights", .type = AttributeType::kFloats}},
    .infer = inferTfIdfVectorizer,
});

}  // namespace
}  // namespace rota::op
