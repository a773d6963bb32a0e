// SPDX-License-Identifier: Apache-2.0
// Multinomial: draws sample_size classes for each row of unnormalised log-probabilities.
// Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

Status inferMultinomial(InferContext& ctx) {
  auto dtype = dtypeAttribute(ctx, "dtype", DType::kInt32);
  if (!dtype) return dtype.status();
  const std::int64_t samples = ctx.attributes().getInt("sample_size", 1);
  if (samples < 0)
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'sample_size' is negative", "0 or more",
                     std::to_string(samples));
  const ir::Shape& shape = ctx.inputShape(0);
  if (!shape.known) {
    ctx.setOutput(0, *dtype, ir::Shape::unknown());
    return Status::ok();
  }
  if (shape.rank() != 2) {
    return ctx.error(ErrorCode::kShapeMismatch, "The input is not a matrix", "[batch, classes]",
                     "rank " + std::to_string(shape.rank()));
  }
  ctx.setOutput(0, *dtype, ir::Shape::of({shape.dims[0], samples}));
  return Status::ok();
}

const Register kRegisterMultinomial(Definition{
    .domain = "",
    .name = "Multinomial",
    .versions = {7, 22},
    .doc = "Draws sample_size classes for each row of unnormalised log-probabilities. The same seed "
           "gives the same numbers; without one they differ from call to call.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T1"}},
    .outputs = {{.name = "output", .typeVariable = "T2"}},
    .attributes = {{.name = "dtype", .type = AttributeType::kInt},
                   {.name = "sample_size", .type = AttributeType::kInt},
                   {.name = "seed", .type = AttributeType::kFloat}},
    .infer = inferMultinomial,
    .isPure = false,
});

}  // namespace
}  // namespace rota::op
