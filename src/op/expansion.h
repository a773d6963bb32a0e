// SPDX-License-Identifier: Apache-2.0
// Writes the expansion of a composite operator: nodes before it, each inferred at once, with its provenance.
//
// Errors are kept and make later calls do nothing, so an expansion reads as straight-line code; `finish` reports the first one.
// Tested by src/op/expansion_test.cpp: every expansion against the kernel of its composite.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "op/definition.h"

namespace rota::op {

class Expansion {
 public:
  Expansion(ir::Graph& graph, const ir::Node& node) : graph_(graph), node_(node) {}

  /// The output of a new node; nullptr after an error.
  ir::Value* add(const char* opType, std::vector<ir::Value*> inputs,
                 std::vector<std::pair<std::string, Attribute>> attributes = {});
  /// A rank-0 constant.
  ir::Value* scalar(double value, DType dtype);
  ir::Value* ints(std::vector<std::int64_t> values);
  /// `value` itself when it has this type.
  ir::Value* cast(ir::Value* value, DType dtype);
  /// The type in which sums over `dtype` are taken: float32 for narrower floats, else the type itself.
  static DType sumType(DType dtype);
  /// Axes from `axis` (negative counts from the end) to the last dim of `value`; an error when the rank is unknown.
  std::vector<std::int64_t> axesFrom(const ir::Value* value, std::int64_t axis);

  void fail(Status status);
  /// The replacements of the node's outputs; nullptr where one is not wanted.
  Result<std::vector<ir::Value*>> finish(std::vector<ir::Value*> outputs);

 private:
  ir::Graph& graph_;
  const ir::Node& node_;
  Status status_;
};

/// (x - mean(x)) / sqrt(variance(x) + epsilon) over `axes`, with its statistics.
struct Standardised {
  ir::Value* value = nullptr;
  ir::Value* mean = nullptr;
  ir::Value* inverseDeviation = nullptr;
};
Standardised standardise(Expansion& e, ir::Value* x, const std::vector<std::int64_t>& axes, double epsilon);

}  // namespace rota::op
