// SPDX-License-Identifier: Apache-2.0
// FlexAttention of ai.onnx.preview, without its subgraphs: those are refused by name.
// Tested by src/op/attention_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"

namespace rota::op {
namespace {

Status inferFlexAttention(InferContext& ctx) {
  if (!ctx.node().blocks.empty()) {
    return ctx.error(ErrorCode::kUnsupportedOperator,
                     "FlexAttention with a score_mod or prob_mod subgraph is not supported",
                     "FlexAttention without subgraphs");
  }
  const ir::Shape& q = ctx.inputShape(0);
  const ir::Shape& k = ctx.inputShape(1);
  const ir::Shape& v = ctx.inputShape(2);
  if (!q.known || !k.known || !v.known) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4) {
    return ctx.error(ErrorCode::kShapeMismatch, "Q, K and V must have rank 4", "[B, heads, length, size]",
                     "ranks " + std::to_string(q.rank()) + ", " + std::to_string(k.rank()) + " and " +
                         std::to_string(v.rank()));
  }
  ROTA_RETURN_IF_ERROR(ctx.requireEqual(q.dims[3], k.dims[3], "Q and K have the same head size"));
  ROTA_RETURN_IF_ERROR(ctx.requireEqual(k.dims[2], v.dims[2], "K and V have the same length"));
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of({q.dims[0], q.dims[1], q.dims[2], v.dims[3]}));
  return Status::ok();
}

const Register kRegisterFlexAttention(Definition{
    .domain = "ai.onnx.preview",
    .name = "FlexAttention",
    .versions = {1},
    .doc = "Scaled dot-product attention over heads of rank 4, with fewer key heads than query heads where "
           "wanted.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "Q", .typeVariable = "T1"},
               {.name = "K", .typeVariable = "T1"},
               {.name = "V", .typeVariable = "T1"}},
    .outputs = {{.name = "Y", .typeVariable = "T1"}},
    .attributes = {{.name = "prob_mod", .type = AttributeType::kGraph},
                   {.name = "scale", .type = AttributeType::kFloat},
                   {.name = "score_mod", .type = AttributeType::kGraph},
                   {.name = "softmax_precision", .type = AttributeType::kInt}},
    .infer = inferFlexAttention,
});

}  // namespace
}  // namespace rota::op
