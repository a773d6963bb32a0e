// SPDX-License-Identifier: Apache-2.0
// SequenceLength: the number of elements of a sequence.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferSequenceLength(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireSequence(ctx, 0));
  ctx.setOutput(0, DType::kInt64, ir::Shape::of({}));
  return Status::ok();
}

const Register kRegisterSequenceLength(Definition{
    .name = "SequenceLength",
    .versions = {11},
    .doc = "The number of elements of a sequence as an int64 scalar.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input_sequence"}},
    .outputs = {{.name = "length"}},
    .infer = inferSequenceLength,
});

}  // namespace
}  // namespace rota::op
