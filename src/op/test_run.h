// SPDX-License-Identifier: Apache-2.0
// For tests only: runs one operator, inference and reference kernel together, on concrete tensors.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "op/describe.h"
#include "op/evaluate.h"
#include "op/test_graph.h"
#include "ref/test_host.h"

namespace rota::op {

inline Tensor intTensor(std::vector<std::int64_t> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return Tensor::ofInt64(std::move(values), {n});
}
inline Tensor intScalar(std::int64_t value) { return Tensor::ofInt64({value}, {}); }
/// 0, 1, 2, ... as float32.
inline Tensor countingFloats(std::vector<std::int64_t> dims) {
  std::vector<double> values(static_cast<std::size_t>(elementCount(dims)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return ref::makeFloats(std::move(dims), values);
}

/// "float32[2, 2] 1 2 3 4".
inline std::string tensorText(const Tensor& tensor) {
  std::string text = std::string(info(tensor.dtype()).name) + "[";
  for (std::size_t i = 0; i < tensor.dims().size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(tensor.dims()[i]);
  text += "]";
  for (const double value : ref::valuesOf(tensor)) {
    char number[32];
    std::snprintf(number, sizeof number, " %.6g", value);
    text += number;
  }
  return text;
}

/// The outputs of one operator; an input without dtype is not given. On failure nothing, and `status` holds the error.
class OperatorRun {
 public:
  OperatorRun(std::string opType, std::vector<Tensor> inputs, Attributes attributes = {},
              std::size_t outputs = 1, int version = 21) {
    std::vector<EvaluatedValue> values;
    for (Tensor& tensor : inputs) values.push_back({.tensor = std::move(tensor), .sequence = {}});
    run(std::move(opType), std::move(values), std::move(attributes), outputs, version);
  }
  OperatorRun(std::string opType, std::vector<EvaluatedValue> inputs, Attributes attributes = {},
              std::size_t outputs = 1, int version = 21) {
    run(std::move(opType), std::move(inputs), std::move(attributes), outputs, version);
  }

  const Status& status() const { return status_; }
  const EvaluatedValue& value(std::size_t i = 0) const { return outputs_.at(i); }
  /// The output as text, or the error code: "R1406".
  std::string text(std::size_t i = 0) const {
    return status_.isOk() ? tensorText(outputs_.at(i).tensor) : errorCodeText(status_.code());
  }
  std::vector<double> values(std::size_t i = 0) const {
    return status_.isOk() ? ref::valuesOf(outputs_.at(i).tensor) : std::vector<double>();
  }

 private:
  void run(std::string opType, std::vector<EvaluatedValue> inputs, Attributes attributes, std::size_t outputs,
           int version) {
    ir::Graph graph;
    std::vector<ir::Value*> values;
    for (const EvaluatedValue& input : inputs) {
      ir::Type type;
      if (input.sequence) {
        type.kind = input.sequence->isOptional ? ir::TypeKind::kOptional : ir::TypeKind::kSequence;
        type.dtype = input.sequence->dtype;
      } else {
        type.dtype = input.tensor.dtype();
      }
      const bool given = type.dtype != DType::kUndefined;
      values.push_back(given ? graph.addInput("", type) : nullptr);
    }
    ir::Node* node = graph.addNode(opType, "", opType, version, std::move(values),
                                   std::vector<std::string>(outputs, "out"));
    node->definition = find("", opType);
    ASSERT_NE(node->definition, nullptr) << opType;
    node->attributes = std::move(attributes);
    ThreadPool threads(2);
    auto results = evaluateNode(*node, inputs, threads);
    if (results) {
      outputs_ = std::move(*results);
    } else {
      status_ = results.status();
    }
  }

  std::vector<EvaluatedValue> outputs_;
  Status status_;
};

}  // namespace rota::op
