// SPDX-License-Identifier: Apache-2.0
// FusedMatMul, FusedGemm, FusedConv, MatMulIntegerToFloat, DynamicQuantizeMatMul and MatMulNBits of com.microsoft. Tested by src/ref/microsoft_test.cpp and tests/test_microsoft_operators.py.
#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/checked.h"
#include "op/matmul_common.h"
#include "op/window_common.h"
#include "ref/recurrent.h"

namespace rota::op {
namespace {

// [rows, batch…, columns] as [batch…, rows, columns].
std::vector<Size> batchedDims(std::vector<Size> dims, bool transposed) {
  if (transposed && dims.size() > 2) std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
  return dims;
}

Status inferFusedMatMul(InferContext& ctx) {
  const Attributes& attributes = ctx.attributes();
  if (!ctx.inputShape(0).known || !ctx.inputShape(1).known) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  auto shape = matMulShapeOf(ctx, batchedDims(ctx.inputShape(0).dims, attributes.getInt("transBatchA") != 0),
                             batchedDims(ctx.inputShape(1).dims, attributes.getInt("transBatchB") != 0),
                             attributes.getInt("transA") != 0, attributes.getInt("transB") != 0);
  if (!shape) return shape.status();
  ctx.setOutput(0, ctx.inputDtype(0), *std::move(shape));
  return Status::ok();
}

/// The activation that is fused must be one that the kernels know.
Status requireKnownActivation(const InferContext& ctx) {
  const std::string_view name = ctx.attributes().getString("activation");
  if (name.empty()) return Status::ok();
  const auto function = ref::fusedActivationNamed(name);
  if (function) return Status::ok();
  const ErrorDetail& detail = function.status().detail();
  return ctx.error(detail.code, detail.message, detail.expected, std::string(name));
}

Status inferFusedGemm(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireKnownActivation(ctx));
  auto shape =
      matMulShape(ctx, 0, 1, ctx.attributes().getInt("transA") != 0, ctx.attributes().getInt("transB") != 0);
  if (!shape) return shape.status();
  ctx.setOutput(0, ctx.inputDtype(0), *std::move(shape));
  return Status::ok();
}

Status inferFusedConv(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireKnownActivation(ctx));
  auto shape = convOutputShape(ctx, 0, 1);
  if (!shape) return shape.status();
  ctx.setOutput(0, ctx.inputDtype(0), *std::move(shape));
  return Status::ok();
}

Status inferMatMulIntegerToFloat(InferContext& ctx) {
  auto shape = matMulShape(ctx, 0, 1);
  if (!shape) return shape.status();
  ctx.setOutput(0, ctx.inputDtype(2), *std::move(shape));
  return Status::ok();
}

Status inferDynamicQuantizeMatMul(InferContext& ctx) {
  auto shape = matMulShape(ctx, 0, 1);
  if (!shape) return shape.status();
  ctx.setOutput(0, ctx.inputDtype(0), *std::move(shape));
  return Status::ok();
}

/// Input `i`, when its shape is known, must have `count` elements.
Status requireElements(InferContext& ctx, std::size_t i, std::int64_t count, const char* what) {
  if (!ctx.hasInput(i) || !ctx.inputShape(i).known) return Status::ok();
  return ctx.requireEqual(product(ctx.inputShape(i).dims), Size(count), what);
}

/// Bits, blocks and the layout of the packed weights.
Status checkPackedWeights(InferContext& ctx) {
  const Attributes& attributes = ctx.attributes();
  const std::int64_t depth = attributes.getInt("K"), columns = attributes.getInt("N");
  const std::int64_t bits = attributes.getInt("bits", 4), blockSize = attributes.getInt("block_size");
  if (bits != 2 && bits != 4 && bits != 8) {
    return ctx
        .error(ErrorCode::kBadAttribute, "MatMulNBits has no weights of this number of bits", "2, 4 or 8",
               std::to_string(bits))
        .fix("quantise the model with weights of 2, 4 or 8 bits");
  }
  if (depth < 1 || columns < 1 || blockSize < 1 || blockSize * bits % 8 != 0 || blockSize > (1LL << 30)) {
    return ctx.error(ErrorCode::kBadAttribute, "The sizes of MatMulNBits do not fit each other",
                     "K, N and block_size of at least 1, and blocks of whole bytes",
                     "K " + std::to_string(depth) + ", N " + std::to_string(columns) + ", block_size " +
                         std::to_string(blockSize));
  }
  if (attributes.getInt("weight_prepacked") != 0) {
    return ctx
        .error(ErrorCode::kUnsupportedOperator, "The weights of MatMulNBits are packed for one kind of GPU",
               "weight_prepacked = 0", std::to_string(attributes.getInt("weight_prepacked")))
        .fix("export the model without prepacked weights");
  }
  if (ctx.inputDtype(1) != DType::kUInt8) {
    return ctx.error(ErrorCode::kTypeMismatch, "The packed weights of MatMulNBits are bytes", "uint8",
                     info(ctx.inputDtype(1)).name);
  }
  const std::int64_t blocks = (depth + blockSize - 1) / blockSize;
  const auto total = checkedMul(columns, blocks);
  const auto bytes = total ? checkedMul(*total, blockSize * bits / 8) : std::nullopt;
  if (!bytes) return ctx.error(ErrorCode::kModelTooLarge, "The weights of MatMulNBits are too large");
  ROTA_RETURN_IF_ERROR(requireElements(ctx, 1, *bytes, "B is [N, blocks of K, block_size * bits / 8]"));
  ROTA_RETURN_IF_ERROR(requireElements(ctx, 2, *total, "there is one scale for each block"));
  return requireElements(ctx, 5, columns, "the bias has N elements");
}

Status inferMatMulNBits(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(checkPackedWeights(ctx));
  ir::Shape shape = ctx.inputShape(0);
  if (shape.known) {
    if (shape.rank() < 1)
      return ctx.error(ErrorCode::kShapeMismatch, "A must have at least one axis", "rank 1 or more",
                       "a scalar");
    ROTA_RETURN_IF_ERROR(
        ctx.requireEqual(shape.dims.back(), Size(ctx.attributes().getInt("K")), "'K' is the last axis of A"));
    shape.dims.back() = ctx.attributes().getInt("N");
  }
  ctx.setOutput(0, ctx.inputDtype(0), std::move(shape));
  return Status::ok();
}

const Register kRegisterMicrosoftFusedMatMul(Definition{
    .domain = "com.microsoft",
    .name = "FusedMatMul",
    .versions = {1},
    .doc = "alpha times the product of A and B, each optionally transposed in its last two axes; transBatchA "
           "and transBatchB say that the rows come before the batch.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat},
                   {.name = "transA", .type = AttributeType::kInt},
                   {.name = "transB", .type = AttributeType::kInt},
                   {.name = "transBatchA", .type = AttributeType::kInt},
                   {.name = "transBatchB", .type = AttributeType::kInt}},
    .infer = inferFusedMatMul,
});

const Register kRegisterMicrosoftFusedGemm(Definition{
    .domain = "com.microsoft",
    .name = "FusedGemm",
    .versions = {1},
    .doc = "Gemm followed by an activation function.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "A", .typeVariable = "T"},
               {.name = "B", .typeVariable = "T"},
               {.name = "C", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "activation", .type = AttributeType::kString},
                   {.name = "activation_alpha", .type = AttributeType::kFloat},
                   {.name = "activation_beta", .type = AttributeType::kFloat},
                   {.name = "activation_gamma", .type = AttributeType::kFloat},
                   {.name = "alpha", .type = AttributeType::kFloat},
                   {.name = "beta", .type = AttributeType::kFloat},
                   {.name = "transA", .type = AttributeType::kInt},
                   {.name = "transB", .type = AttributeType::kInt}},
    .infer = inferFusedGemm,
});

const Register kRegisterMicrosoftFusedConv(Definition{
    .domain = "com.microsoft",
    .name = "FusedConv",
    .versions = {1},
    .doc = "Conv, plus a tensor of the shape of the result, followed by an activation function.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "W", .typeVariable = "T"},
               {.name = "B", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "Z", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = windowAttributes({{.name = "activation", .type = AttributeType::kString},
                                    {.name = "activation_params", .type = AttributeType::kFloats},
                                    {.name = "group", .type = AttributeType::kInt}}),
    .infer = inferFusedConv,
});

const Register kRegisterMicrosoftMatMulIntegerToFloat(Definition{
    .domain = "com.microsoft",
    .name = "MatMulIntegerToFloat",
    .versions = {1},
    .doc = "The matrix product of quantised tensors in real numbers, plus a bias for each column.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "A", .typeVariable = "T1"},
               {.name = "B", .typeVariable = "T2"},
               {.name = "a_scale", .typeVariable = "T3"},
               {.name = "b_scale", .typeVariable = "T3"},
               {.name = "a_zero_point", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "b_zero_point", .option = FormalOption::kOptional, .typeVariable = "T2"},
               {.name = "bias", .option = FormalOption::kOptional, .typeVariable = "T3"}},
    .outputs = {{.name = "Y", .typeVariable = "T3"}},
    .infer = inferMatMulIntegerToFloat,
});

const Register kRegisterMicrosoftDynamicQuantizeMatMul(Definition{
    .domain = "com.microsoft",
    .name = "DynamicQuantizeMatMul",
    .versions = {1},
    .doc = "Quantises A to uint8 by its own range, multiplies by the quantised B, and gives real numbers "
           "plus a bias for each column.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "A", .typeVariable = "T1"},
               {.name = "B", .typeVariable = "T2"},
               {.name = "b_scale", .typeVariable = "T1"},
               {.name = "b_zero_point", .option = FormalOption::kOptional, .typeVariable = "T2"},
               {.name = "bias", .option = FormalOption::kOptional, .typeVariable = "T1"}},
    .outputs = {{.name = "Y", .typeVariable = "T1"}},
    .infer = inferDynamicQuantizeMatMul,
});

const Register kRegisterMicrosoftMatMulNBits(Definition{
    .domain = "com.microsoft",
    .name = "MatMulNBits",
    .versions = {1},
    .doc = "The product of A with weights of 2, 4 or 8 bits that are packed along K in blocks, each block "
           "with its scale and zero point.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "A", .typeVariable = "T1"},
               {.name = "B"},
               {.name = "scales", .typeVariable = "T1"},
               {.name = "zero_points", .option = FormalOption::kOptional},
               {.name = "g_idx", .option = FormalOption::kOptional},
               {.name = "bias", .option = FormalOption::kOptional, .typeVariable = "T1"}},
    .outputs = {{.name = "Y", .typeVariable = "T1"}},
    .attributes = {{.name = "K", .type = AttributeType::kInt, .required = true},
                   {.name = "N", .type = AttributeType::kInt, .required = true},
                   {.name = "accuracy_level", .type = AttributeType::kInt},
                   {.name = "bits", .type = AttributeType::kInt},
                   {.name = "block_size", .type = AttributeType::kInt, .required = true},
                   {.name = "weight_prepacked", .type = AttributeType::kInt}},
    .infer = inferMatMulNBits,
});

}  // namespace
}  // namespace rota::op
