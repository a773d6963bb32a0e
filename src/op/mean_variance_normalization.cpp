// SPDX-License-Identifier: Apache-2.0
// MeanVarianceNormalization: mean 0 and variance 1 along the given axes (0, 2 and 3 unless said otherwise).
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/normalization_common.h"

namespace rota::op {
namespace {

Status inferMeanVarianceNormalization(InferContext& ctx) {
  if (ctx.inputShape(0).known) {
    const auto* axes = ctx.attributes().getInts("axes");
    auto normalised = normaliseAxes(ctx, axes != nullptr ? *axes : std::vector<std::int64_t>{0, 2, 3},
                                    ctx.inputShape(0).rank());
    if (!normalised) return normalised.status();
  }
  return inferSameAsFirst(ctx);
}

const Register kRegisterMeanVarianceNormalization(Definition{
    .domain = "",
    .name = "MeanVarianceNormalization",
    .versions = {9, 13},
    .doc = "Mean 0 and variance 1 along the given axes (0, 2 and 3 unless said otherwise).",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "axes", .type = AttributeType::kInts}},
    .infer = inferMeanVarianceNormalization,
});

}  // namespace
}  // namespace rota::op
