// SPDX-License-Identifier: Apache-2.0
// Writes expansions; see expansion.h. Tested by src/op/expansion_test.cpp.
#include "op/expansion.h"

#include <algorithm>

#include "core/element_access.h"
#include "op/describe.h"

namespace rota::op {

ir::Value* Expansion::add(const char* opType, std::vector<ir::Value*> inputs,
                          std::vector<std::pair<std::string, Attribute>> attributes) {
  if (!status_.isOk()) return nullptr;
  const std::string name = node_.name + "/" + opType;
  // The version of another domain says nothing about the operators of the default one.
  constexpr int kWrittenVersion = 24;
  const int version = node_.domain.empty() ? node_.version : kWrittenVersion;
  ir::Node* node =
      graph_.addNode(name, "", opType, version, std::move(inputs), {name}, node_.provenance, &node_);
  for (auto& [key, value] : attributes) node->attributes.set(std::move(key), std::move(value));
  fail(inferNode(*node));
  return status_.isOk() ? node->outputs[0] : nullptr;
}

ir::Value* Expansion::scalar(double value, DType dtype) {
  if (!status_.isOk()) return nullptr;
  auto tensor = Tensor::allocate(dtype, {});
  if (!tensor) {
    fail(tensor.status());
    return nullptr;
  }
  storeFromDouble(tensor->mutableView(), 0, 1, &value);
  return graph_.addConstant(node_.name + "/constant", *tensor, "constant of " + node_.opType,
                            node_.provenance);
}

ir::Value* Expansion::ints(std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return graph_.addConstant(node_.name + "/constant", Tensor::ofInt64(std::move(values), {count}),
                            "constant of " + node_.opType, node_.provenance);
}

ir::Value* Expansion::cast(ir::Value* value, DType dtype) {
  if (!status_.isOk() || value->type.dtype == dtype) return value;
  return add("Cast", {value}, {{"to", static_cast<std::int64_t>(info(dtype).onnx)}});
}

DType Expansion::sumType(DType dtype) {
  return isFloat(dtype) && info(dtype).bits < 32 ? DType::kFloat32 : dtype;
}

std::vector<std::int64_t> Expansion::axesFrom(const ir::Value* value, std::int64_t axis) {
  std::vector<std::int64_t> axes;
  if (!status_.isOk()) return axes;
  if (!value->type.shape.known) {
    fail(Status(ErrorCode::kBadGraph, "A composite cannot be expanded without the rank of its input")
             .at(describeNode(node_))
             .expected("an input of known rank")
             .found("unknown rank"));
    return axes;
  }
  const auto rank = static_cast<std::int64_t>(value->type.shape.rank());
  for (std::int64_t d = std::max<std::int64_t>(0, axis < 0 ? axis + rank : axis); d < rank; ++d)
    axes.push_back(d);
  return axes;
}

void Expansion::fail(Status status) {
  if (status_.isOk()) status_ = std::move(status);
}

Result<std::vector<ir::Value*>> Expansion::finish(std::vector<ir::Value*> outputs) {
  if (!status_.isOk()) return status_;
  outputs.resize(node_.outputs.size(), nullptr);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (node_.outputs[i] == nullptr) outputs[i] = nullptr;
  }
  return outputs;
}

Standardised standardise(Expansion& e, ir::Value* x, const std::vector<std::int64_t>& axes, double epsilon) {
  Standardised result;
  const DType dtype = x == nullptr ? DType::kFloat32 : x->type.dtype;
  // Not "no axes means all": over none, every element is its own mean.
  const std::vector<std::pair<std::string, Attribute>> overAxes{{"axes", axes},
                                                                {"noop_with_empty_axes", std::int64_t{1}}};
  result.mean = e.add("ReduceMean", {x}, overAxes);
  ir::Value* difference = e.add("Sub", {x, result.mean});
  ir::Value* variance = e.add("ReduceMean", {e.add("Mul", {difference, difference})}, overAxes);
  ir::Value* shifted = e.add("Add", {variance, e.scalar(epsilon, dtype)});
  result.inverseDeviation = e.add("Reciprocal", {e.add("Sqrt", {shifted})});
  result.value = e.add("Mul", {difference, result.inverseDeviation});
  return result;
}

}  // namespace rota::op
