// SPDX-License-Identifier: Apache-2.0
// ConcatFromSequence: the elements of a sequence joined.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferConcatFromSequence(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireSequence(ctx, 0));
  ir::Shape shape = ctx.inputShape(0);
  if (shape.known) {
    const bool isNew = ctx.attributes().getInt("new_axis") != 0;
    auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis"), shape.rank() + (isNew ? 1 : 0));
    if (!axis) return axis.status();
    if (isNew) shape.dims.insert(shape.dims.begin() + static_cast<std::ptrdiff_t>(*axis), Size(1));
    shape.dims[*axis] = ctx.dataDependent("length", {});
  }
  ctx.setOutput(0, ctx.inputDtype(0), std::move(shape));
  return Status::ok();
}

const Register kRegisterConcatFromSequence(Definition{
    .name = "ConcatFromSequence",
    .versions = {11},
    .doc = "Joins the elements of a sequence along an axis, or along a new one when new_axis is 1.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input_sequence"}},
    .outputs = {{.name = "concat_result"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt, .required = true}, {.name = "new_axis"}},
    .infer = inferConcatFromSequence,
});

}  // namespace
}  // namespace rota::op
