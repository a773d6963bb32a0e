// SPDX-License-Identifier: Apache-2.0
// Quantised pointwise operators, concatenation, softmax and pools of com.microsoft, and its QuantizeLinear and DequantizeLinear. Tested by src/ref/microsoft_test.cpp and tests/test_microsoft_operators.py.
#include <algorithm>
#include <utility>

#include "core/check.h"
#include "op/window_common.h"

namespace rota::op {
namespace {

// A and B are inputs 0 and 3.
Status inferQuantizedBinary(InferContext& ctx) {
  const ir::Shape& a = ctx.inputShape(0);
  const ir::Shape& b = ctx.inputShape(3);
  if (!a.known || !b.known) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  const std::vector<std::vector<Size>> shapes = {a.dims, b.dims};
  auto dims = ctx.broadcast(shapes);
  if (!dims) return dims.status();
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(*std::move(dims)));
  return Status::ok();
}

// Tensors are inputs 2, 5, 8, …, each followed by its scale and zero point.
Status inferQuantizedConcat(InferContext& ctx) {
  if (ctx.inputCount() < 5 || ctx.inputCount() % 3 != 2) {
    return ctx.error(ErrorCode::kMissingInput, "Every part comes with its scale and zero point",
                     "2 + 3 n inputs", std::to_string(ctx.inputCount()));
  }
  ir::Shape shape = ctx.inputShape(2);
  for (std::size_t i = 5; i < ctx.inputCount() && shape.known; i += 3) {
    const ir::Shape& part = ctx.inputShape(i);
    if (!part.known) shape = ir::Shape::unknown();
    if (!part.known) break;
    if (part.rank() != shape.rank()) {
      return ctx.error(ErrorCode::kShapeMismatch, "The parts have different ranks",
                       "rank " + std::to_string(shape.rank()), "rank " + std::to_string(part.rank()));
    }
    auto axis = normaliseAxis(ctx, ctx.attributes().getInt("axis"), shape.rank());
    if (!axis) return axis.status();
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      if (d != *axis)
        ROTA_RETURN_IF_ERROR(ctx.requireEqual(part.dims[d], shape.dims[d],
                                              "the parts agree but for the axis of the concatenation"));
    }
    shape.dims[*axis] = shape.dims[*axis] + part.dims[*axis];
  }
  ctx.setOutput(0, ctx.inputDtype(1), std::move(shape));
  return Status::ok();
}

Status inferQuantizedPool(InferContext& ctx) {
  ir::Shape shape = ctx.inputShape(0);
  if (shape.known) {
    if (shape.rank() < 3) {
      return ctx.error(ErrorCode::kShapeMismatch, "A pool needs at least one spatial axis", "rank 3 or more",
                       "rank " + std::to_string(shape.rank()));
    }
    const std::size_t first = ctx.attributes().getInt("channels_last") != 0 ? 1 : 2;
    const std::size_t spatial = shape.rank() - 2;
    std::vector<Size> out(spatial, Size(1));
    if (ctx.attributes().has("kernel_shape")) {
      auto kernel = windowAttribute(ctx, "kernel_shape", spatial, 1, 1);
      if (!kernel) return kernel.status();
      const std::vector<Size> sizes(kernel->begin(), kernel->end());
      auto windows = windowOutput(ctx, std::span(shape.dims).subspan(first, spatial), sizes);
      if (!windows) return windows.status();
      out = *std::move(windows);
    }
    std::copy(out.begin(), out.end(), shape.dims.begin() + static_cast<std::ptrdiff_t>(first));
  }
  ctx.setOutput(0, ctx.inputDtype(0), std::move(shape));
  return Status::ok();
}

// uint8 unless a zero point says otherwise.
Status inferMicrosoftQuantize(InferContext& ctx) {
  ctx.setOutput(0, ctx.hasInput(2) ? ctx.inputDtype(2) : DType::kUInt8, ctx.inputShape(0));
  return Status::ok();
}
Status inferMicrosoftDequantize(InferContext& ctx) {
  ctx.setOutput(0, ctx.inputDtype(1), ctx.inputShape(0));
  return Status::ok();
}

const Register kRegisterMicrosoftQLinearAdd(Definition{
    .domain = "com.microsoft",
    .name = "QLinearAdd",
    .versions = {1},
    .doc = "The sum of two quantised tensors, quantised again.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "A", .typeVariable = "T"},
               {.name = "A_scale"},
               {.name = "A_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "B", .typeVariable = "T"},
               {.name = "B_scale"},
               {.name = "B_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "C_scale"},
               {.name = "C_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T"}},
    .infer = inferQuantizedBinary,
});

const Register kRegisterMicrosoftQLinearMul(Definition{
    .domain = "com.microsoft",
    .name = "QLinearMul",
    .versions = {1},
    .doc = "The product of two quantised tensors, quantised again.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "A", .typeVariable = "T"},
               {.name = "A_scale"},
               {.name = "A_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "B", .typeVariable = "T"},
               {.name = "B_scale"},
               {.name = "B_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "C_scale"},
               {.name = "C_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T"}},
    .infer = inferQuantizedBinary,
});

const Register kRegisterMicrosoftQLinearSigmoid(Definition{
    .domain = "com.microsoft",
    .name = "QLinearSigmoid",
    .versions = {1},
    .doc = "Sigmoid of a quantised tensor, quantised again.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "X_scale"},
               {.name = "X_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "Y_scale"},
               {.name = "Y_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
});

const Register kRegisterMicrosoftQLinearLeakyRelu(Definition{
    .domain = "com.microsoft",
    .name = "QLinearLeakyRelu",
    .versions = {1},
    .doc = "LeakyRelu of a quantised tensor, quantised again.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "X_scale"},
               {.name = "X_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "Y_scale"},
               {.name = "Y_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
});

const Register kRegisterMicrosoftQLinearSoftmax(Definition{
    .domain = "com.microsoft",
    .name = "QLinearSoftmax",
    .versions = {1},
    .doc = "Softmax of a quantised tensor, quantised again. Below operator set 13 all axes from the given "
           "one on are one.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "X_scale"},
               {.name = "x_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "y_scale"},
               {.name = "y_zero_point", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt},
                   {.name = "opset", .type = AttributeType::kInt, .required = true}},
    .infer = inferSameAsFirst,
});

const Register kRegisterMicrosoftQLinearConcat(Definition{
    .domain = "com.microsoft",
    .name = "QLinearConcat",
    .versions = {1},
    .doc = "Joins quantised tensors along an axis, each brought to the scale and zero point of the result.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "Y_scale"},
               {.name = "Y_zero_point"},
               {.name = "inputs", .option = FormalOption::kVariadic}},
    .outputs = {{.name = "Y"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt, .required = true}},
    .infer = inferQuantizedConcat,
});

const Register kRegisterMicrosoftQLinearAveragePool(Definition{
    .domain = "com.microsoft",
    .name = "QLinearAveragePool",
    .versions = {1},
    .doc = "AveragePool of a quantised tensor, quantised again, channels before or after the spatial axes.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "x_scale"},
               {.name = "x_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "y_scale"},
               {.name = "y_zero_point", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = windowAttributes({{.name = "ceil_mode", .type = AttributeType::kInt},
                                    {.name = "channels_last", .type = AttributeType::kInt},
                                    {.name = "count_include_pad", .type = AttributeType::kInt}}),
    .infer = inferQuantizedPool,
});

const Register kRegisterMicrosoftQLinearGlobalAveragePool(Definition{
    .domain = "com.microsoft",
    .name = "QLinearGlobalAveragePool",
    .versions = {1},
    .doc = "The mean of every channel of a quantised tensor, quantised again.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "x_scale"},
               {.name = "x_zero_point", .typeVariable = "T"},
               {.name = "y_scale"},
               {.name = "y_zero_point", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "channels_last", .type = AttributeType::kInt}},
    .infer = inferQuantizedPool,
});

const Register kRegisterMicrosoftQuantizeLinear(Definition{
    .domain = "com.microsoft",
    .name = "QuantizeLinear",
    .versions = {1},
    .doc = "Real numbers divided by the scale, rounded to even, plus the zero point, cut to the range of the "
           "type; per tensor or along an axis.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "x"},
               {.name = "y_scale"},
               {.name = "y_zero_point", .option = FormalOption::kOptional}},
    .outputs = {{.name = "y"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt}},
    .infer = inferMicrosoftQuantize,
});

const Register kRegisterMicrosoftDequantizeLinear(Definition{
    .domain = "com.microsoft",
    .name = "DequantizeLinear",
    .versions = {1},
    .doc = "Quantised numbers minus the zero point, times the scale; per tensor or along an axis.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "x"},
               {.name = "x_scale"},
               {.name = "x_zero_point", .option = FormalOption::kOptional}},
    .outputs = {{.name = "y"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt}},
    .infer = inferMicrosoftDequantize,
});

}  // namespace
}  // namespace rota::op
