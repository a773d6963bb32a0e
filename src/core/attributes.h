// SPDX-License-Identifier: Apache-2.0
// Attributes of an operator or a plan step: a small sorted map from name to value. It is what both the graph and the lean
// runtime carry, so it knows neither ONNX nor the engine schema. Subgraphs are not attributes (see ir/graph.h).
// Tested by src/core/attributes_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tensor.h"

namespace rota {

using Attribute = std::variant<std::int64_t, float, std::string, Tensor, std::vector<std::int64_t>,
                               std::vector<float>, std::vector<std::string>, std::vector<Tensor>>;

class Attributes {
 public:
  struct Entry {
    std::string name;
    Attribute value;
  };

  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Attribute* find(std::string_view name) const;
  void set(std::string name, Attribute value);
  void erase(std::string_view name);
  /// Sorted by name.
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  /// Typed access; the default when absent or of another type (the importer has checked the types against the schema).
  std::int64_t getInt(std::string_view name, std::int64_t fallback = 0) const;
  float getFloat(std::string_view name, float fallback = 0) const;
  std::string_view getString(std::string_view name, std::string_view fallback = {}) const;
  const std::vector<std::int64_t>* getInts(std::string_view name) const;
  const std::vector<float>* getFloats(std::string_view name) const;
  const std::vector<std::string>* getStrings(std::string_view name) const;
  const Tensor* getTensor(std::string_view name) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace rota
