// SPDX-License-Identifier: Apache-2.0
// SequenceEmpty: a sequence without elements.
// Tested by src/op/sequence_test.cpp and the node cases of tests/conformance.
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferSequenceEmpty(InferContext& ctx) {
  auto dtype = dtypeAttribute(ctx, "dtype", DType::kFloat32);
  if (!dtype) return dtype.status();
  ctx.setOutputType(0, sequenceOf(*dtype, ir::Shape::unknown()));
  return Status::ok();
}

const Register kRegisterSequenceEmpty(Definition{
    .name = "SequenceEmpty",
    .versions = {11},
    .doc = "A sequence without elements, of the given element type (float32 by default).",
    .kind = Kind::kOpaque,
    .outputs = {{.name = "output"}},
    .attributes = {{.name = "dtype"}},
    .infer = inferSequenceEmpty,
});

}  // namespace
}  // namespace rota::op
