// SPDX-License-Identifier: Apache-2.0
// MeanVarianceNormalization: mean 0 and variance 1 along the given axes (0, 2 and 3 unless said otherwise).
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/expansion.h"
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

Result<std::vector<ir::Value*>> expandMeanVarianceNormalization(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  const DType dtype = node.inputs[0]->type.dtype;
  const DType sumType = Expansion::sumType(dtype);
  ir::Value* x = e.cast(node.inputs[0], sumType);
  const auto* given = node.attributes.getInts("axes");
  const std::vector<std::int64_t> axes = given != nullptr ? *given : std::vector<std::int64_t>{0, 2, 3};
  ir::Value* difference = e.add("Sub", {x, e.add("ReduceMean", {x}, {{"axes", axes}})});
  ir::Value* variance = e.add("ReduceMean", {e.add("Mul", {difference, difference})}, {{"axes", axes}});
  // The standard adds its epsilon to the deviation.
  ir::Value* deviation = e.add("Add", {e.add("Sqrt", {variance}), e.scalar(1e-9, sumType)});
  return e.finish({e.cast(e.add("Div", {difference, deviation}), dtype)});
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
    .expand = expandMeanVarianceNormalization,
});

}  // namespace
}  // namespace rota::op
