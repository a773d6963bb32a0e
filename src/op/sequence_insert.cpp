// SPDX-License-Identifier: Apache-2.0
// SequenceInsert: a sequence with one more element.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferSequenceInsert(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireSequence(ctx, 0));
  if (ctx.inputDtype(0) != ctx.inputDtype(1)) {
    return ctx.error(ErrorCode::kTypeMismatch,
                     "The tensor has another type than the elements of the sequence",
                     info(ctx.inputDtype(0)).name, info(ctx.inputDtype(1)).name);
  }
  ctx.setOutputType(0,
                    sequenceOf(ctx.inputDtype(0), commonElementShape(ctx.inputShape(0), ctx.inputShape(1))));
  return Status::ok();
}

const Register kRegisterSequenceInsert(Definition{
    .name = "SequenceInsert",
    .versions = {11},
    .doc = "The sequence with a tensor inserted before a position, at the end by default; negative positions "
           "count from the end.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input_sequence"},
               {.name = "tensor"},
               {.name = "position", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output_sequence"}},
    .infer = inferSequenceInsert,
});

}  // namespace
}  // namespace rota::op
