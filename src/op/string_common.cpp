// SPDX-License-Identifier: Apache-2.0
// The refusal of string operators; see string_common.h.
#include "op/string_common.h"

namespace rota::op {

Status inferRefusedStrings(InferContext& ctx) {
  return ctx.error(ErrorCode::kUnsupportedType,
                   "Strings are not computed with: prepare them in the application and pass numbers",
                   "tensors of numbers", ctx.node().opType + " of strings");
}

}  // namespace rota::op
