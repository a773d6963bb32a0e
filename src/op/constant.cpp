// SPDX-License-Identifier: Apache-2.0
// Constant: a value written into the model.
// Tested by src/op/generate_test.cpp and the node cases of tests/conformance.
#include "op/movement_common.h"

namespace rota::op {
namespace {

ir::Shape shapeOfTensor(const Tensor& tensor) {
  return ir::Shape::of({tensor.dims().begin(), tensor.dims().end()});
}

Status inferConstant(InferContext& ctx) {
  const Attributes& attributes = ctx.attributes();
  const Tensor* tensor = attributes.getTensor("value");
  if (tensor == nullptr) tensor = attributes.getTensor("sparse_value");
  if (tensor != nullptr) {
    ctx.setOutput(0, tensor->dtype(), shapeOfTensor(*tensor));
    const bool counts = isInteger(tensor->dtype()) || tensor->dtype() == DType::kBool;
    if (counts && tensor->count() <= kMaxContents) {
      const auto values = intsOf(tensor->view());
      ctx.setContents(0, {values.begin(), values.end()});
    }
    return Status::ok();
  }
  if (const auto* ints = attributes.getInts("value_ints")) {
    ctx.setOutput(0, DType::kInt64, ir::Shape::of({Size(static_cast<std::int64_t>(ints->size()))}));
    if (static_cast<std::int64_t>(ints->size()) <= kMaxContents)
      ctx.setContents(0, {ints->begin(), ints->end()});
    return Status::ok();
  }
  if (const auto* floats = attributes.getFloats("value_floats")) {
    ctx.setOutput(0, DType::kFloat32, ir::Shape::of({Size(static_cast<std::int64_t>(floats->size()))}));
    return Status::ok();
  }
  if (attributes.has("value_int")) {
    ctx.setOutput(0, DType::kInt64, ir::Shape::of({}));
    ctx.setContents(0, {Size(attributes.getInt("value_int"))});
    return Status::ok();
  }
  if (attributes.has("value_float")) {
    ctx.setOutput(0, DType::kFloat32, ir::Shape::of({}));
    return Status::ok();
  }
  if (attributes.has("value_string") || attributes.has("value_strings")) {
    return ctx.error(ErrorCode::kUnsupportedType, "Strings are not computed with", "a constant of numbers",
                     "a constant of strings");
  }
  return ctx.error(ErrorCode::kBadAttribute, "A Constant without a value",
                   "one of the attributes value, value_int, value_float, ...", "none");
}

const Register kRegisterConstant(Definition{
    .name = "Constant",
    .versions = {1, 9, 11, 12, 13, 19, 21, 23, 24, 25},
    .doc = "The tensor, number or list of numbers that its one attribute holds. A sparse tensor has been "
           "made dense by the importer.",
    .kind = Kind::kMovement,
    .outputs = {{.name = "output"}},
    .attributes = {{.name = "value", .type = AttributeType::kTensor},
                   {.name = "sparse_value", .type = AttributeType::kTensor},
                   {.name = "value_int"},
                   {.name = "value_ints", .type = AttributeType::kInts},
                   {.name = "value_float", .type = AttributeType::kFloat},
                   {.name = "value_floats", .type = AttributeType::kFloats},
                   {.name = "value_string", .type = AttributeType::kString},
                   {.name = "value_strings", .type = AttributeType::kStrings}},
    .infer = inferConstant,
});

}  // namespace
}  // namespace rota::op
