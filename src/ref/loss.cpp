// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. Tested by src/ref/loss_test.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ref/blocks.h"
#include "ref/common.h"

namespace rota::ref {

namespace {

// Scores [batch, classes, inner] in double.
struct LossProblem {
  std::int64_t batch = 0, classes = 0, inner = 1;
  std::int64_t items() const { return batch * inner; }
  std::int64_t at(std::int64_t item, std::int64_t c) const {
    return (item / inner * classes + c) * inner + item % inner;
  }
};

Result<LossProblem> lossProblem(const KernelContext& ctx) {
  const Dims scores = ctx.input(0).dims;
  LossProblem p;
  if (scores.size() >= 2) {
    p.batch = scores[0], p.classes = scores[1], p.inner = elementCount(scores.subspan(2));
  }
  if (scores.size() < 2 || ctx.input(1).count() != p.items() ||
      (ctx.hasInput(2) && ctx.input(2).count() != p.classes)) {
    return Status(ErrorCode::kShapeMismatch, "Scores, labels and weights of the loss do not fit each other")
        .expected("[N, C, …], [N, …] and [C]");
  }
  return p;
}

// Weighted -logProbability of every label, reduced as the attribute says.
Status reduceLoss(KernelContext& ctx, const LossProblem& p, const double* logProbabilities) {
  const std::string_view reduction = ctx.attributes().getString("reduction", "mean");
  const bool hasIgnored = ctx.attributes().has("ignore_index");
  const std::int64_t ignored = ctx.attributes().getInt("ignore_index");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    return Status(ErrorCode::kBadAttribute, "'reduction' has an unknown value")
        .expected("none, sum or mean")
        .found(std::string(reduction));
  }
  auto weights = loadAll(ctx, ctx.input(2));
  if (!weights) return weights.status();
  double total = 0;
  double totalWeight = 0;
  for (std::int64_t i = 0; i < p.items(); ++i) {
    const std::int64_t label = intAt(ctx.input(1), i);
    double loss = 0;
    if (!hasIgnored || label != ignored) {
      if (label < 0 || label >= p.classes) {
        return Status(ErrorCode::kBadIndex, "A label is outside the classes")
            .expected("0 to " + std::to_string(p.classes - 1))
            .found(std::to_string(label));
      }
      const double weight = *weights == nullptr ? 1 : (*weights)[label];
      loss = -logProbabilities[p.at(i, label)] * weight;
      totalWeight += weight;
    }
    if (reduction == "none") storeBlock(ctx.output(0), i, 1, &loss);
    total += loss;
  }
  if (reduction == "none") return Status::ok();
  const double result = reduction == "sum" ? total : total / totalWeight;
  storeBlock(ctx.output(0), 0, 1, &result);
  return Status::ok();
}

Status negativeLogLikelihoodLoss(KernelContext& ctx) {
  auto problem = lossProblem(ctx);
  if (!problem) return problem.status();
  auto values = loadAll(ctx, ctx.input(0));
  if (!values) return values.status();
  return reduceLoss(ctx, *problem, *values);
}

Status softmaxCrossEntropyLoss(KernelContext& ctx) {
  auto problem = lossProblem(ctx);
  if (!problem) return problem.status();
  const LossProblem& p = *problem;
  auto values = loadAll(ctx, ctx.input(0));
  if (!values) return values.status();
  for (std::int64_t i = 0; i < p.items(); ++i) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t c = 0; c < p.classes; ++c) largest = std::max(largest, (*values)[p.at(i, c)]);
    double sum = 0;
    for (std::int64_t c = 0; c < p.classes; ++c) sum += std::exp((*values)[p.at(i, c)] - largest);
    const double shift = largest + std::log(sum);
    for (std::int64_t c = 0; c < p.classes; ++c) (*values)[p.at(i, c)] -= shift;
  }
  if (ctx.hasOutput(1)) storeBlock(ctx.output(1), 0, ctx.output(1).count(), *values);
  return reduceLoss(ctx, p, *values);
}

const RegisterKernel kNegativeLogLikelihoodLoss("", "NegativeLogLikelihoodLoss", negativeLogLikelihoodLoss);
const RegisterKernel kSoftmaxCrossEntropyLoss("", "SoftmaxCrossEntropyLoss", softmaxCrossEntropyLoss);

}  // namespace

}  // namespace rota::ref
