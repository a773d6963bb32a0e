// SPDX-License-Identifier: Apache-2.0
// Gathers by index against the reference: axes, negative indices, element sizes, bad indices.
#include "backend/cpu/compile/kernel_testing.h"

namespace rota::tactic {
namespace {

using testing::expectReference;
using testing::KernelGraph;
using testing::randomTensor;

testing::RunOptions byKernel() { return {.relative = 0, .absolute = 0, .kernel = "cpu.gather"}; }

TEST(Gather, SlicesAlongEveryAxis) {
  for (const DType dtype : {DType::kFloat32, DType::kInt64, DType::kFloat16, DType::kBool}) {
    for (const std::int64_t axis : {0, 1, -1}) {
      KernelGraph g;
      ir::Node* n = g.node("Gather", {g.input("x", {7, 5, 9}, dtype), g.input("i", {2, 3}, DType::kInt64)});
      n->attributes.set("axis", axis);
      g.output(n->outputs[0]);
      const Tensor x = randomTensor(dtype, {7, 5, 9}, 1);
      expectReference(g,
                      {{x, Tensor::ofInt64({0, 4, -1, 2, -5, 1}, {2, 3})},
                       {x, Tensor::ofInt64({0, 1, 2, 9, 0, 0}, {2, 3})},
                       {x, Tensor::ofInt64({0, 1, 2, -10, 0, 0}, {2, 3})}},
                      byKernel());
    }
  }
}

TEST(Gather, ElementsAndTuples) {
  for (const std::int64_t axis : {0, 1, -1}) {
    KernelGraph g;
    ir::Node* n = g.node("GatherElements", {g.input("x", {4, 5, 6}), g.input("i", {3, 2, 4}, DType::kInt64)});
    n->attributes.set("axis", axis);
    g.output(n->outputs[0]);
    std::vector<std::int64_t> good(24), bad(24);
    for (std::size_t i = 0; i < 24; ++i) good[i] = static_cast<std::int64_t>(i * 7 % 8) - 4;
    bad = good;
    bad[17] = 6;
    const Tensor x = randomTensor(DType::kFloat32, {4, 5, 6}, 1);
    expectReference(g, {{x, Tensor::ofInt64(good, {3, 2, 4})}, {x, Tensor::ofInt64(bad, {3, 2, 4})}},
                    byKernel());
  }
  for (const std::int64_t batch : {0, 1}) {
    KernelGraph g;
    ir::Node* n = g.node("GatherND", {g.input("x", {3, 4, 5}), g.input("i", {3, 2, 2}, DType::kInt64)});
    n->attributes.set("batch_dims", batch);
    g.output(n->outputs[0]);
    const Tensor x = randomTensor(DType::kFloat32, {3, 4, 5}, 1);
    expectReference(g,
                    {{x, Tensor::ofInt64({0, 0, 1, -1, 2, 3, -3, 2, 0, 1, 1, 2}, {3, 2, 2})},
                     {x, Tensor::ofInt64({0, 0, 1, -1, 2, 3, -3, 2, 0, 1, 5, 2}, {3, 2, 2})}},
                    byKernel());
  }
}

}  // namespace
}  // namespace rota::tactic
