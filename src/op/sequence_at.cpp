// SPDX-License-Identifier: Apache-2.0
// SequenceAt: one element of a sequence.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferSequenceAt(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireSequence(ctx, 0));
  ctx.setOutput(0, ctx.inputDtype(0), ctx.inputShape(0));
  return Status::ok();
}

const Register kRegisterSequenceAt(Definition{
    .name = "SequenceAt",
    .versions = {11},
    .doc = "The element at a position of a sequence; negative positions count from the end and one outside "
           "is an error.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input_sequence"}, {.name = "position"}},
    .outputs = {{.name = "tensor"}},
    .infer = inferSequenceAt,
});

}  // namespace
}  // namespace rota::op
