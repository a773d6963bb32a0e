// SPDX-License-Identifier: Apache-2.0
// TopK: the largest or smallest elements along an axis.
// Tested by src/op/select_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferTopK(InferContext& ctx) {
  const ir::Shape& shape = ctx.inputShape(0);
  if (info(ctx.inputDtype(0)).compute == ComputeType::kComplex) {
    return ctx.error(ErrorCode::kUnsupportedType, "Complex numbers have no order", "a real type",
                     info(ctx.inputDtype(0)).name);
  }
  ir::Shape result = shape;
  if (shape.known) {
    auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis", -1), shape.rank());
    if (!axis) return axis.status();
    Size k = ctx.attributes().getInt("k");
    if (ctx.hasInput(1)) {
      const auto contents = ctx.contentsOrResolve(1, {0, ctx.sizes().range(shape.dims[*axis]).hi});
      k = contents && contents->size() == 1 ? contents->front() : foundSize(ctx, "k", shape.dims[*axis]);
    }
    const Size size = shape.dims[*axis];
    if (k.isConstant() && (*k.constant() < 0 || (size.isConstant() && *k.constant() > *size.constant()))) {
      return ctx.error(ErrorCode::kShapeMismatch, "K is more than the axis has",
                       "at most " + ctx.sizes().toString(size), std::to_string(*k.constant()));
    }
    result.dims[*axis] = k;
  }
  if (ctx.hasOutput(0)) ctx.setOutput(0, ctx.inputDtype(0), result);
  if (ctx.hasOutput(1)) ctx.setOutput(1, DType::kInt64, result);
  return Status::ok();
}

const Register kRegisterTopK(Definition{
    .name = "TopK",
    .versions = {1, 10, 11, 24},
    .doc = "The k largest (or smallest) elements along an axis in order, and their places; of equal elements "
           "the one at the lower place comes first. NaN "
           "counts as greater than every number. K is an attribute in version 1 and an input from version 10 "
           "on. The result is in order even when "
           "sorted is 0.",
    .kind = Kind::kSort,
    .inputs = {{.name = "X", .typeVariable = "T"}, {.name = "K", .option = FormalOption::kOptional}},
    .outputs = {{.name = "Values", .typeVariable = "T"}, {.name = "Indices"}},
    .attributes = {{.name = "axis"}, {.name = "k"}, {.name = "largest"}, {.name = "sorted"}},
    .infer = inferTopK,
});

}  // namespace
}  // namespace rota::op
