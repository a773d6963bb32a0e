// SPDX-License-Identifier: Apache-2.0
// Softmax and normalisations by the vector kernels against the reference.
#include "backend/cpu/compile/kernel_testing.h"

namespace rota::tactic {
namespace {

using testing::expectReference;
using testing::KernelGraph;
using testing::randomTensor;
using testing::withSpecials;

std::vector<Size> sizes(const std::vector<std::int64_t>& dims) { return {dims.begin(), dims.end()}; }

TEST(Rows, SoftmaxAlongEveryAxis) {
  const std::pair<std::vector<std::int64_t>, std::int64_t> cases[] = {
      {{3, 5, 197}, -1}, {{3, 5, 197}, 1}, {{2, 70, 130}, 1}, {{9, 3}, 0},
      {{4, 1}, -1},      {{1, 2000}, 1},   {{0, 4}, 1},       {{4, 0}, 1}};
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    for (const auto& [dims, axis] : cases) {
      for (const int version : {13, 11}) {
        SCOPED_TRACE(std::string(op) + ::testing::PrintToString(dims) + std::to_string(version));
        KernelGraph g;
        ir::Node* n = g.node(op, {g.input("x", sizes(dims))}, version);
        n->attributes.set("axis", axis);
        g.output(n->outputs[0]);
        const Tensor x = randomTensor(DType::kFloat32, dims, 1, 4);
        expectReference(g, {{x}, {withSpecials(x)}},
                        {.relative = 4e-6, .absolute = 2e-6, .kernel = "cpu.softmax"});
      }
    }
  }
}

TEST(Rows, SoftmaxOfMaskedRows) {
  KernelGraph g;
  ir::Node* n = g.node("Softmax", {g.input("x", {2, 3})});
  g.output(n->outputs[0]);
  const float inf = INFINITY;
  expectReference(g,
                  {{Tensor::ofFloat({-inf, 1, 2, -inf, -inf, -inf}, {2, 3})},
                   {Tensor::ofFloat({1e30F, 3e38F, -3e38F, inf, 0, 1}, {2, 3})}},
                  {.kernel = "cpu.softmax"});
}

TEST(Rows, LayerNormWithLargeMeanAndOptionalOutputs) {
  for (const char* op : {"LayerNormalization", "RMSNormalization"}) {
    for (const std::int64_t length : {1, 7, 64, 768, 1027}) {
      SCOPED_TRACE(std::string(op) + std::to_string(length));
      KernelGraph g;
      ir::Value* x = g.input("x", {g.symbol("n"), 3, length});
      ir::Value* scale = g.constant(randomTensor(DType::kFloat32, {length}, 2));
      const bool isLayer = std::string(op) == "LayerNormalization";
      std::vector<ir::Value*> inputs = {x, scale};
      if (isLayer) inputs.push_back(g.constant(randomTensor(DType::kFloat32, {1, length}, 3)));
      ir::Node* n = g.node(op, inputs, 23, isLayer ? 3 : 1);
      for (ir::Value* out : n->outputs) g.output(out);
      std::vector<std::vector<Tensor>> runs;
      for (const std::int64_t rows : {4, 0, 50})
        runs.push_back({randomTensor(DType::kFloat32, {rows, 3, length}, 5)});
      expectReference(g, runs, {.relative = 1e-5, .absolute = 2e-5, .kernel = "cpu.layer_norm"});
    }
  }
  // The variance of 1000 +- 1 keeps its digits.
  KernelGraph g;
  ir::Node* n = g.node("LayerNormalization",
                       {g.input("x", {1, 512}), g.constant(randomTensor(DType::kFloat32, {512}, 2))}, 17, 3);
  g.output(n->outputs[2]);
  std::vector<float> values(512);
  for (std::size_t i = 0; i < 512; ++i) values[i] = 1000.0F + static_cast<float>(i % 7) * 0.25F;
  expectReference(g, {{Tensor::ofFloat(values, {1, 512})}},
                  {.relative = 1e-5, .absolute = 0, .kernel = "cpu.layer_norm"});
}

TEST(Rows, InstanceAndGroupNorm) {
  for (const int version : {18, 21}) {
    KernelGraph g;
    ir::Value* x = g.input("x", {2, 12, 5, 7});
    ir::Node* instance =
        g.node("InstanceNormalization", {x, g.constant(randomTensor(DType::kFloat32, {12}, 1)),
                                         g.constant(randomTensor(DType::kFloat32, {12}, 2))});
    g.output(instance->outputs[0]);
    const std::int64_t parameters = version < 21 ? 4 : 12;
    ir::Node* group = g.node("GroupNormalization",
                             {x, g.constant(randomTensor(DType::kFloat32, {parameters}, 3)),
                              g.constant(randomTensor(DType::kFloat32, {parameters}, 4))},
                             version);
    group->attributes.set("num_groups", std::int64_t{4});
    g.output(group->outputs[0]);
    expectReference(g, {{randomTensor(DType::kFloat32, {2, 12, 5, 7}, 5)}},
                    {.relative = 1e-5, .absolute = 1e-5, .kernel = "cpu.group_norm"});
  }
}

}  // namespace
}  // namespace rota::tactic
