// SPDX-License-Identifier: Apache-2.0
// BitShift: every integer of the first tensor shifted by the amount in the second, LEFT or RIGHT; they broadcast.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

Status inferBitShift(InferContext& ctx) {
  const std::string_view direction = ctx.attributes().getString("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'direction' is unknown", "LEFT or RIGHT",
                     std::string(direction));
  }
  return inferBroadcast(ctx);
}

const Register kRegisterBitShift(Definition{
    .domain = "",
    .name = "BitShift",
    .versions = {11, 28},
    .doc = "Every integer of the first tensor shifted by the amount in the second, LEFT or RIGHT; "
           "they broadcast. Right shifts of signed integers extend the sign; a negative amount, or "
           "one not below the number of bits, shifts everything out.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}, {.name = "Y", .typeVariable = "T"}},
    .outputs = {{.name = "Z", .typeVariable = "T"}},
    .attributes = {{.name = "direction", .type = AttributeType::kString, .required = true}},
    .infer = inferBitShift,
});

}  // namespace
}  // namespace rota::op
