// SPDX-License-Identifier: Apache-2.0
// SequenceConstruct: tensors as a sequence.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferSequenceConstruct(InferContext& ctx) {
  if (ctx.inputCount() == 0 || !ctx.hasInput(0))
    return ctx.error(ErrorCode::kMissingInput, "SequenceConstruct needs tensors", "at least one", "none");
  ir::Shape shape = ctx.inputShape(0);
  for (std::size_t i = 1; i < ctx.inputCount(); ++i) {
    if (!ctx.hasInput(i))
      return ctx.error(ErrorCode::kMissingInput, "An element is left out", "a tensor", "none");
    shape = commonElementShape(shape, ctx.inputShape(i));
  }
  ctx.setOutputType(0, sequenceOf(ctx.inputDtype(0), std::move(shape)));
  return Status::ok();
}

const Register kRegisterSequenceConstruct(Definition{
    .name = "SequenceConstruct",
    .versions = {11},
    .doc = "A sequence of the given tensors, which have one element type.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "inputs", .option = FormalOption::kVariadic, .typeVariable = "T"}},
    .outputs = {{.name = "output_sequence"}},
    .infer = inferSequenceConstruct,
});

}  // namespace
}  // namespace rota::op
