// SPDX-License-Identifier: Apache-2.0
// For tests only: a graph built node by node, each inferred when it is added, with shapes and contents as text.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "ir/graph.h"
#include "op/definition.h"
#include "op/describe.h"

namespace rota::op {

class TestGraph {
 public:
  /// `dims` as in "[N, 3]"; a name makes or finds a symbol of range [1, 1024]; "?" is an unknown rank.
  ir::Value* input(const std::string& name, DType dtype, const std::string& dims) {
    return graph_.addInput(
        name, {.dtype = dtype, .shape = dims == "?" ? ir::Shape::unknown() : ir::Shape::of(parse(dims))});
  }
  ir::Value* ints(std::vector<std::int64_t> values) {
    const auto n = static_cast<std::int64_t>(values.size());
    return graph_.addConstant("", Tensor::ofInt64(std::move(values), {n}), "test");
  }
  ir::Value* scalar(std::int64_t value) {
    return graph_.addConstant("", Tensor::ofInt64({value}, {}), "test");
  }
  ir::Value* constant(Tensor tensor) { return graph_.addConstant("", std::move(tensor), "test"); }

  /// Adds and infers a node; nothing when inference fails (see `status`).
  std::vector<ir::Value*> add(const std::string& opType, std::vector<ir::Value*> inputs,
                              Attributes attributes = {}, std::size_t outputs = 1, int version = 21) {
    ir::Node* node = graph_.addNode(opType, "", opType, version, std::move(inputs),
                                    std::vector<std::string>(outputs, opType + "_out"));
    node->attributes = std::move(attributes);
    status_ = inferNode(*node);
    return status_.isOk() ? node->outputs : std::vector<ir::Value*>();
  }
  /// "float32[N, 3]" of the one output, or the error code, "R1204".
  std::string type(const std::string& opType, std::vector<ir::Value*> inputs, Attributes attributes = {},
                   int version = 21) {
    const auto outputs = add(opType, std::move(inputs), std::move(attributes), 1, version);
    return outputs.empty() ? errorCodeText(status_.code()) : typeOf(outputs[0]);
  }
  std::string typeOf(const ir::Value* value) { return describeType(value->type, graph_.sizes()); }
  /// "{N, 3}", or "{}" when unknown.
  std::string contentsOf(const ir::Value* value) {
    std::string text = "{";
    if (value->contents) {
      for (const Size& size : *value->contents) {
        text += (text.size() > 1 ? ", " : "") + graph_.sizes().toString(graph_.sizes().resolve(size));
      }
    }
    return text + "}";
  }
  const Status& status() const { return status_; }
  ir::Graph& graph() { return graph_; }

 private:
  std::vector<Size> parse(const std::string& text) {
    std::vector<Size> dims;
    std::string word;
    for (const char c : text) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        word += c;
      } else if (!word.empty()) {
        dims.push_back(sizeOf(std::exchange(word, {})));
      }
    }
    return dims;
  }
  Size sizeOf(const std::string& word) {
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0)
      return std::strtoll(word.c_str(), nullptr, 10);
    if (const auto known = graph_.sizes().findSymbol(word)) return graph_.sizes().symbol(*known);
    return graph_.sizes().newSymbol(word, {1, 1024}, SymbolOrigin::kInputDim);
  }

  ir::Graph graph_;
  Status status_;
};

inline Attributes attributesOf(std::vector<std::pair<std::string, Attribute>> entries) {
  Attributes attributes;
  for (auto& [name, value] : entries) attributes.set(std::move(name), std::move(value));
  return attributes;
}

}  // namespace rota::op
