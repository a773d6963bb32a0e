// SPDX-License-Identifier: Apache-2.0
// BitCast: the bytes of the input read as another type with the same number of bits.
// Tested by src/ref/pointwise_test.cpp, src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

Status inferBitCast(InferContext& ctx) {
  auto dtype = dtypeAttribute(ctx, "to", DType::kUndefined);
  if (!dtype) return dtype.status();
  if (info(*dtype).bits != info(ctx.inputDtype(0)).bits) {
    return ctx.error(ErrorCode::kTypeMismatch, "BitCast between types of different width",
                     std::to_string(info(ctx.inputDtype(0)).bits) + " bits", info(*dtype).name);
  }
  ctx.setOutput(0, *dtype, ctx.inputShape(0));
  return Status::ok();
}

const Register kRegisterBitCast(Definition{
    .domain = "",
    .name = "BitCast",
    .versions = {26},
    .doc = "The bytes of the input read as another type with the same number of bits.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T1"}},
    .outputs = {{.name = "output", .typeVariable = "T2"}},
    .attributes = {{.name = "to", .type = AttributeType::kInt, .required = true}},
    .infer = inferBitCast,
});

}  // namespace
}  // namespace rota::op
