// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, which share their inference. Tested by src/ref/loss_test.cpp and the node cases of
// tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

Status inferLoss(InferContext& ctx) {
  const ir::Shape& labels = ctx.inputShape(1);
  const bool reduced = ctx.attributes().getString("reduction", "mean") != "none";
  ctx.setOutput(0, ctx.inputDtype(0), reduced ? ir::Shape::of({}) : labels);
  if (ctx.hasOutput(1)) ctx.setOutput(1, ctx.inputDtype(0), ctx.inputShape(0));
  return Status::ok();
}

std::vector<AttributeFormal> lossAttributes() {
  return {{.name = "ignore_index", .type = AttributeType::kInt},
          {.name = "reduction", .type = AttributeType::kString}};
}

const Register kRegisterNegativeLogLikelihoodLoss(Definition{
    .domain = "",
    .name = "NegativeLogLikelihoodLoss",
    .versions = {12, 13, 22},
    .doc = "Minus the log probability of each label, weighted by class, labels equal to ignore_index left "
           "out; single values, their sum or weighted mean.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T"},
               {.name = "target", .typeVariable = "Tind"},
               {.name = "weight", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "loss", .typeVariable = "T"}},
    .attributes = lossAttributes(),
    .infer = inferLoss,
});

const Register kRegisterSoftmaxCrossEntropyLoss(Definition{
    .domain = "",
    .name = "SoftmaxCrossEntropyLoss",
    .versions = {12, 13},
    .doc = "The negative log likelihood of labels under the softmax of scores along the class axis; the log "
           "probabilities are the second output.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "scores", .typeVariable = "T"},
               {.name = "labels", .typeVariable = "Tind"},
               {.name = "weights", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"},
                {.name = "log_prob", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .attributes = lossAttributes(),
    .infer = inferLoss,
});

}  // namespace
}  // namespace rota::op
