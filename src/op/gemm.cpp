// SPDX-License-Identifier: Apache-2.0
// Gemm. Tested by src/op/product_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/matmul_common.h"

namespace rota::op {
namespace {

// C broadcasts to the result, never the other way round.
Status checkGemmAddend(InferContext& ctx, const std::vector<Size>& result) {
  const ir::Shape& c = ctx.inputShape(2);
  if (!c.known) return Status::ok();
  if (c.rank() > 2) {
    return ctx.error(ErrorCode::kShapeMismatch, "C has too many axes", "rank 2 or less",
                     "rank " + std::to_string(c.rank()));
  }
  for (std::size_t d = 0; d < c.rank(); ++d) {
    const Size size = c.dims[c.rank() - 1 - d];
    if (size.is(1)) continue;
    // A symbolic size could be 1 or that of the result: broadcasting against the result must leave the result as it is.
    const std::vector<std::vector<Size>> shapes = {{result[1 - d]}, {size}};
    auto both = ctx.broadcast(shapes);
    if (!both) return both.status();
    ROTA_RETURN_IF_ERROR(ctx.requireEqual((*both)[0], result[1 - d], "C broadcasts to the result"));
  }
  return Status::ok();
}

Status inferGemm(InferContext& ctx) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (ctx.inputShape(i).known && ctx.inputShape(i).rank() != 2) {
      return ctx.error(ErrorCode::kShapeMismatch, "Gemm multiplies matrices", "A and B of rank 2",
                       "rank " + std::to_string(ctx.inputShape(i).rank()));
    }
  }
  auto shape =
      matMulShape(ctx, 0, 1, ctx.attributes().getInt("transA") != 0, ctx.attributes().getInt("transB") != 0);
  if (!shape) return shape.status();
  if (ctx.hasInput(2) && shape->known) ROTA_RETURN_IF_ERROR(checkGemmAddend(ctx, shape->dims));
  ctx.setOutput(0, ctx.inputDtype(0), *std::move(shape));
  return Status::ok();
}

const Register kRegisterGemm(Definition{
    .domain = "",
    .name = "Gemm",
    .versions = {7, 9, 11, 13},
    .doc = "alpha * A' * B' + beta * C, where A' and B' are the matrices A and B, transposed when transA or "
           "transB is set, and C "
           "broadcasts to the result.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "A", .typeVariable = "T"},
               {.name = "B", .typeVariable = "T"},
               {.name = "C", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat},
                   {.name = "beta", .type = AttributeType::kFloat},
                   {.name = "transA", .type = AttributeType::kInt},
                   {.name = "transB", .type = AttributeType::kInt}},
    .infer = inferGemm,
});

}  // namespace
}  // namespace rota::op
