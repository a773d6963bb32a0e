// SPDX-License-Identifier: Apache-2.0
// ReduceSum: sum along axes; 0 over no elements.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/reduction_common.h"

namespace rota::op {
namespace {

Status inferReduceSum(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferReduction(ctx));
  propagateReduction(ctx, [](Size a, Size b) { return a + b; });
  return Status::ok();
}

const Register kRegisterReduceSum(Definition{
    .domain = "",
    .name = "ReduceSum",
    .versions = {1, 11, 13},
    .doc = "Sum along axes; 0 over no elements. Axes are an attribute in older operator sets and an "
           "input later; none given means all, or none with noop_with_empty_axes.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "axes", .option = FormalOption::kOptional}},
    .outputs = {{.name = "reduced", .typeVariable = "T"}},
    .attributes = {{.name = "axes", .type = AttributeType::kInts},
                   {.name = "keepdims", .type = AttributeType::kInt},
                   {.name = "noop_with_empty_axes", .type = AttributeType::kInt}},
    .infer = inferReduceSum,
});

}  // namespace
}  // namespace rota::op
