// SPDX-License-Identifier: Apache-2.0
// ReduceMax: largest element along axes; a NaN wins.
// Tested by src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/reduction_common.h"

namespace rota::op {
namespace {

Status inferReduceMax(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferReduction(ctx));
  propagateReduction(ctx, [](Size a, Size b) { return max(a, b); });
  return Status::ok();
}

const Register kRegisterReduceMax(extremeDefinition(
    "ReduceMax",
    "Largest element along axes; a NaN wins. Over no elements minus infinity, or the lowest "
    "value of an integer type. Axes are an attribute in older operator sets and an input "
    "later; none given means all, or none with noop_with_empty_axes.",
    inferReduceMax));

}  // namespace
}  // namespace rota::op
