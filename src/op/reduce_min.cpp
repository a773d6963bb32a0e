// SPDX-License-Identifier: Apache-2.0
// ReduceMin: smallest element along axes; a NaN wins.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/reduction_common.h"

namespace rota::op {
namespace {

Status inferReduceMin(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferReduction(ctx));
  propagateReduction(ctx, [](Size a, Size b) { return min(a, b); });
  return Status::ok();
}

const Register kRegisterReduceMin(extremeDefinition(
    "ReduceMin",
    "Smallest element along axes; a NaN wins. Over no elements infinity, or the highest value "
    "of an integer type. Axes are an attribute in older operator sets and an input later; none "
    "given means all, or none with noop_with_empty_axes.",
    inferReduceMin));

}  // namespace
}  // namespace rota::op
