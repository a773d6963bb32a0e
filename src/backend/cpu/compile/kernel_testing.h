// SPDX-License-Identifier: Apache-2.0
// For tests of the kernels' tactics: builds a graph, plans it, runs it, and compares every output with the reference evaluation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/element_access.h"
#include "op/definition.h"

namespace rota::tactic::testing {

struct KernelGraph {
  std::unique_ptr<ir::Graph> graph = std::make_unique<ir::Graph>();

  ir::Value* input(const char* name, std::vector<Size> dims, DType dtype = DType::kFloat32) {
    ir::Type type;
    type.dtype = dtype;
    type.shape = ir::Shape::of(std::move(dims));
    return graph->addInput(name, type);
  }
  Size symbol(const char* name, std::int64_t lo = 0) {
    return graph->sizes().newSymbol(name, {.lo = lo}, SymbolOrigin::kInputDim);
  }
  ir::Value* constant(Tensor tensor) { return graph->addConstant("", std::move(tensor), "initializer"); }
  ir::Value* ints(std::vector<std::int64_t> values) {
    const auto n = static_cast<std::int64_t>(values.size());
    return constant(Tensor::ofInt64(std::move(values), {n}));
  }
  ir::Value* scalar(float value) { return constant(Tensor::ofFloat({value}, {})); }
  /// A node; attributes are set by the caller before the graph is planned. `outputs` may hold "" for outputs that are not wanted.
  ir::Node* node(const char* op, std::vector<ir::Value*> inputs, int version = 21, std::size_t outputs = 1) {
    const std::string name = std::string(op) + std::to_string(graph->nodes().size());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outputs; ++i) names.push_back(name + ".out" + std::to_string(i));
    ir::Node* n = graph->addNode(name, "", op, version, std::move(inputs), names,
                                 {{graph->sources().add({"", name, op})}});
    n->definition = op::find("", op);
    EXPECT_NE(n->definition, nullptr) << op;
    return n;
  }
  ir::Value* add(const char* op, std::vector<ir::Value*> inputs, int version = 21) {
    return node(op, std::move(inputs), version)->outputs[0];
  }
  void output(ir::Value* v) {
    graph->addOutput(v);
    graph->outputNames().push_back("out" + std::to_string(graph->outputNames().size()));
  }
};

/// Random elements of any real type; floats are normal with some zeros of both signs.
inline Tensor randomTensor(DType dtype, std::vector<std::int64_t> dims, unsigned seed, double scale = 2.0) {
  auto tensor = Tensor::allocate(dtype, std::move(dims));
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> values(static_cast<std::size_t>(tensor->count()));
  for (double& v : values) {
    v = normal(random);
    if (random() % 17 == 0) v = random() % 2 == 0 ? 0.0 : -0.0;
    if (isInteger(dtype)) v = std::round(v * 5);
    if (info(dtype).dtypeClass == DTypeClass::kUnsigned) v = std::fabs(v);
    if (dtype == DType::kBool) v = v > 0 ? 1 : 0;
  }
  storeFromDouble(tensor->mutableView(), 0, tensor->count(), values.data());
  return *tensor;
}

/// Puts NaN and both infinities at some places.
inline Tensor withSpecials(const Tensor& tensor) {
  auto copy = Tensor::allocate(tensor.dtype(), tensor.dims());
  std::vector<double> values(static_cast<std::size_t>(tensor.count()));
  loadAsDouble(tensor.view(), 0, tensor.count(), values.data());
  const double specials[] = {std::nan(""), INFINITY, -INFINITY};
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = specials[i % 3];
  storeFromDouble(copy->mutableView(), 0, copy->count(), values.data());
  return *copy;
}

struct RunOptions {
  double relative = 2e-6;
  double absolute = 1e-6;
  std::string kernel{};  ///< A kernel that the program must contain; "" = any.
  std::string route{};   ///< Knobs.
  int threads = 2;
};

/// The kernels of the steps that the graph is planned to.
std::vector<std::string> plannedKernels(KernelGraph& g);

/// Plans the graph and compares with the reference for every set of inputs.
void expectReference(KernelGraph& g, const std::vector<std::vector<Tensor>>& runs,
                     const RunOptions& options = {});

}  // namespace rota::tactic::testing
