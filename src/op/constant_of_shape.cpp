// SPDX-License-Identifier: Apache-2.0
// ConstantOfShape: a tensor of one value.
// Tested by src/op/generate_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferConstantOfShape(InferContext& ctx) {
  const Tensor* value = ctx.attributes().getTensor("value");
  if (value != nullptr && value->count() != 1) {
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'value' is one number", "one element",
                     std::to_string(value->count()));
  }
  const DType dtype = value != nullptr ? value->dtype() : DType::kFloat32;
  auto dims = ctx.contentsOrResolve(0, {});
  if (!dims) {
    ctx.setOutput(0, dtype, ir::Shape::unknown());
    return Status::ok();
  }
  for (const Size& size : *dims) {
    if (size.isConstant() && *size.constant() < 0) {
      return ctx.error(ErrorCode::kShapeMismatch, "The input is not a shape", "sizes of 0 or more",
                       shapeText(ctx, ir::Shape::of(*dims)));
    }
  }
  const ir::Shape shape = ir::Shape::of(std::move(*dims));
  ctx.setOutput(0, dtype, shape);
  const auto count = contentsCount(shape);
  if (count && (isInteger(dtype) || dtype == DType::kBool)) {
    ctx.setContents(0, std::vector<Size>(static_cast<std::size_t>(*count), Size(intAt(value->view(), 0))));
  }
  return Status::ok();
}

const Register kRegisterConstantOfShape(Definition{
    .name = "ConstantOfShape",
    .versions = {9, 20, 21, 23, 24, 25},
    .doc = "A tensor of the shape that the input holds, filled with the one element of attribute value "
           "(float32 zero by default).",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input"}},
    .outputs = {{.name = "output"}},
    .attributes = {{.name = "value", .type = AttributeType::kTensor}},
    .infer = inferConstantOfShape,
});

}  // namespace
}  // namespace rota::op
