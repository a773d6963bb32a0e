// SPDX-License-Identifier: Apache-2.0
// ReduceProd: product along axes; 1 over no elements.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/reduction_common.h"

namespace rota::op {
namespace {

Status inferReduceProd(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferReduction(ctx));
  propagateReduction(ctx, [](Size a, Size b) { return a * b; });
  return Status::ok();
}

const Register kRegisterReduceProd(Definition{
    .domain = "",
    .name = "ReduceProd",
    .versions = {1, 11, 13, 18},
    .doc = "Product along axes; 1 over no elements. Axes are an attribute in older operator sets and "
           "an input later; none given means all, or none with noop_with_empty_axes.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "axes", .option = FormalOption::kOptional}},
    .outputs = {{.name = "reduced", .typeVariable = "T"}},
    .attributes = {{.name = "axes", .type = AttributeType::kInts},
                   {.name = "keepdims", .type = AttributeType::kInt},
                   {.name = "noop_with_empty_axes", .type = AttributeType::kInt}},
    .infer = inferReduceProd,
});

}  // namespace
}  // namespace rota::op
