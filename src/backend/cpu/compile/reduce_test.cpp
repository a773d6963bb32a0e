// SPDX-License-Identifier: Apache-2.0
// Reductions by the vector kernels against the reference: every fold, axes at the front, in the middle and at the end, blocked inputs.
#include "backend/cpu/compile/kernel_testing.h"

namespace rota::tactic {
namespace {

using testing::expectReference;
using testing::KernelGraph;
using testing::randomTensor;
using testing::withSpecials;

std::vector<Size> sizes(const std::vector<std::int64_t>& dims) { return {dims.begin(), dims.end()}; }

TEST(Reduce, EveryFoldAlongEveryAxis) {
  const std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> cases[] = {
      {{3, 40, 600}, {2}},    {{3, 40, 60}, {1}},     {{37, 300}, {0}},    {{3, 4, 5, 6}, {0, 2}},
      {{3, 4, 5, 6}, {1, 3}}, {{3, 4, 5}, {0, 1, 2}}, {{3, 4, 1}, {0, 2}}, {{3, 0, 4}, {1}},
      {{0, 4}, {1}},          {{2, 3}, {-1}}};
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                         "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    for (const auto& [dims, axes] : cases) {
      SCOPED_TRACE(std::string(op) + ::testing::PrintToString(dims) + ::testing::PrintToString(axes));
      for (const std::int64_t keep : {0, 1}) {
        KernelGraph g;
        ir::Node* n = g.node(op, {g.input("x", sizes(dims)), g.ints(axes)});
        n->attributes.set("keepdims", keep);
        g.output(n->outputs[0]);
        const Tensor x = randomTensor(DType::kFloat32, dims, 3, 1);
        // The logarithm of a sum near 0 magnifies the rounding of the sum.
        const double relative = std::string(op) == "ReduceLogSum" ? 1e-3 : 4e-6;
        expectReference(g, {{x}, {withSpecials(x)}},
                        {.relative = relative, .absolute = 4e-5, .kernel = "cpu.reduce"});
      }
    }
  }
}

TEST(Reduce, NoAxesMeansAllOrNone) {
  KernelGraph g;
  ir::Value* x = g.input("x", {4, 5});
  g.output(g.add("ReduceSum", {x}));
  ir::Node* none = g.node("ReduceSumSquare", {x});
  none->attributes.set("noop_with_empty_axes", std::int64_t{1});
  g.output(none->outputs[0]);
  expectReference(g, {{randomTensor(DType::kFloat32, {4, 5}, 1)}},
                  {.absolute = 1e-5, .kernel = "cpu.reduce"});
}

TEST(Reduce, BlockedInputIsReadAsItLies) {
  KernelGraph g;
  ir::Value* a = g.add(
      "Conv", {g.input("x", {2, 16, 5, 7}), g.constant(randomTensor(DType::kFloat32, {24, 16, 1, 1}, 3))});
  g.output(g.add("GlobalAveragePool", {a}));
  g.output(g.add("ReduceMax", {a, g.ints({2, 3})}, 18));
  g.output(g.add("ReduceMean", {a, g.ints({1})}, 18));
  expectReference(g, {{randomTensor(DType::kFloat32, {2, 16, 5, 7}, 5)}},
                  {.relative = 1e-4, .absolute = 1e-4, .kernel = "cpu.reduce"});
}

}  // namespace
}  // namespace rota::tactic
