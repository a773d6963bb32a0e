// SPDX-License-Identifier: Apache-2.0
// SequenceErase: a sequence with one element less.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferSequenceErase(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireSequence(ctx, 0));
  ctx.setOutputType(0, ctx.inputType(0));
  return Status::ok();
}

const Register kRegisterSequenceErase(Definition{
    .name = "SequenceErase",
    .versions = {11},
    .doc = "The sequence without the element at a position, the last one by default; negative positions "
           "count from the end.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input_sequence"}, {.name = "position", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output_sequence"}},
    .infer = inferSequenceErase,
});

}  // namespace
}  // namespace rota::op
