// SPDX-License-Identifier: Apache-2.0
// Movement by strided copies against the reference: every operator, element sizes, odd sizes, zero sizes, symbolic dims, blocked layouts.
#include "backend/cpu/compile/kernel_testing.h"

namespace rota::tactic {
namespace {

using testing::expectReference;
using testing::KernelGraph;
using testing::randomTensor;

testing::RunOptions byKernel() { return {.relative = 0, .absolute = 0, .kernel = "cpu.strided_copy"}; }

std::vector<Size> sizes(const std::vector<std::int64_t>& dims) { return {dims.begin(), dims.end()}; }

TEST(StridedCopy, TransposesOfManyShapes) {
  const std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> cases[] = {
      {{37, 53}, {1, 0}},
      {{2, 12, 17, 64}, {0, 2, 1, 3}},
      {{2, 12, 17, 64}, {0, 2, 3, 1}},
      {{3, 5, 7, 2}, {3, 2, 1, 0}},
      {{2, 3, 4, 5, 6}, {4, 0, 3, 1, 2}},
      {{1, 1, 9}, {2, 1, 0}},
      {{0, 3}, {1, 0}},
      {{130, 1, 70}, {2, 0, 1}},
      {{16, 16, 33}, {1, 2, 0}}};
  for (const auto& [dims, perm] : cases) {
    for (const DType dtype : {DType::kFloat32, DType::kUInt8, DType::kFloat16, DType::kInt64}) {
      SCOPED_TRACE(::testing::PrintToString(dims) + info(dtype).name);
      KernelGraph g;
      ir::Node* n = g.node("Transpose", {g.input("x", sizes(dims), dtype)});
      n->attributes.set("perm", perm);
      g.output(n->outputs[0]);
      expectReference(g, {{randomTensor(dtype, dims, 1)}}, byKernel());
    }
  }
}

TEST(StridedCopy, SlicesWithAnyStepAndBound) {
  struct Case {
    std::vector<std::int64_t> dims, starts, ends, axes, steps;
  };
  const std::int64_t far = std::numeric_limits<std::int64_t>::max();
  const Case cases[] = {{{10, 20}, {2, 3}, {8, 100}, {0, 1}, {1, 2}},
                        {{10, 20}, {-1}, {-far}, {1}, {-1}},
                        {{4, 9, 3}, {-3}, {far}, {1}, {1}},
                        {{10, 20}, {100}, {-100}, {0}, {-3}},
                        {{5, 6}, {4}, {2}, {0}, {1}},
                        {{7}, {0}, {7}, {-1}, {3}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::PrintToString(c.starts));
    KernelGraph g;
    g.output(g.add("Slice", {g.input("x", sizes(c.dims)), g.ints(c.starts), g.ints(c.ends), g.ints(c.axes),
                             g.ints(c.steps)}));
    expectReference(g, {{randomTensor(DType::kFloat32, c.dims, 2)}}, byKernel());
  }
}

TEST(StridedCopy, SymbolicDims) {
  KernelGraph g;
  const Size n = g.symbol("n", 1);
  ir::Value* x = g.input("x", {n, 6});
  ir::Value* tail = g.add("Slice", {x, g.ints({-3}), g.ints({1000}), g.ints({0})});
  g.output(g.add("Concat", {tail, x}));
  g.graph->nodes().back()->attributes.set("axis", std::int64_t{0});
  std::vector<std::vector<Tensor>> runs;
  for (const std::int64_t count : {5, 2, 40, 3})
    runs.push_back({randomTensor(DType::kFloat32, {count, 6}, 3)});
  expectReference(g, runs, byKernel());
}

TEST(StridedCopy, ConcatAndSplit) {
  for (const std::int64_t axis : {0, 1, -1}) {
    KernelGraph g;
    std::vector<ir::Value*> parts;
    std::vector<Tensor> inputs;
    for (const std::int64_t length : {3, 1, 0, 8}) {
      std::vector<std::int64_t> dims = {4, 5, 6};
      dims[static_cast<std::size_t>(axis < 0 ? axis + 3 : axis)] = length;
      parts.push_back(g.input(("x" + std::to_string(parts.size())).c_str(), sizes(dims)));
      inputs.push_back(randomTensor(DType::kFloat32, dims, static_cast<unsigned>(length)));
    }
    ir::Node* whole = g.node("Concat", parts);
    whole->attributes.set("axis", axis);
    g.output(whole->outputs[0]);
    ir::Node* split = g.node("Split", {whole->outputs[0], g.ints({5, 0, 7})}, 18, 3);
    split->attributes.set("axis", axis);
    // The second part is left out of the outputs: its step has an output that nobody needs.
    g.output(split->outputs[0]);
    g.output(split->outputs[2]);
    expectReference(g, {inputs}, byKernel());
  }
}

TEST(StridedCopy, ExpandTilePadBlocks) {
  KernelGraph g;
  ir::Value* x = g.input("x", {2, 1, 3});
  g.output(g.add("Expand", {x, g.ints({4, 2, 5, 1})}));
  g.output(g.add("Tile", {x, g.ints({2, 3, 2})}));
  g.output(g.add("Tile", {x, g.ints({1, 0, 2})}));
  g.output(g.add("Pad", {x, g.ints({1, 0, -1, 2, 3, 4}), g.scalar(2.5F)}));
  g.output(g.add("Pad", {x, g.ints({0, 0, -1, 0, 0, -2})}));
  ir::Value* image = g.input("image", {2, 12, 4, 6});
  for (const char* mode : {"DCR", "CRD"}) {
    ir::Node* n = g.node("DepthToSpace", {image});
    n->attributes.set("blocksize", std::int64_t{2});
    n->attributes.set("mode", std::string(mode));
    g.output(n->outputs[0]);
  }
  ir::Node* n = g.node("SpaceToDepth", {image});
  n->attributes.set("blocksize", std::int64_t{2});
  g.output(n->outputs[0]);
  expectReference(
      g, {{randomTensor(DType::kFloat32, {2, 1, 3}, 4), randomTensor(DType::kFloat32, {2, 12, 4, 6}, 5)}},
      byKernel());
}

TEST(StridedCopy, BlockedLayoutsAreKeptOrLeft) {
  KernelGraph g;
  ir::Value* x = g.input("x", {2, 16, 5, 7});
  ir::Value* w = g.constant(randomTensor(DType::kFloat32, {32, 16, 1, 1}, 3));
  ir::Value* a = g.add("Conv", {x, w});
  ir::Value* b = g.add("Conv", {x, g.constant(randomTensor(DType::kFloat32, {16, 16, 1, 1}, 4))});
  ir::Node* concat = g.node("Concat", {a, b});
  concat->attributes.set("axis", std::int64_t{1});
  ir::Node* split = g.node("Split", {concat->outputs[0], g.ints({24, 24})}, 18, 2);
  split->attributes.set("axis", std::int64_t{1});
  ir::Node* transpose = g.node("Transpose", {split->outputs[0]});
  transpose->attributes.set("perm", std::vector<std::int64_t>{0, 2, 3, 1});
  g.output(transpose->outputs[0]);
  g.output(
      g.add("Slice", {split->outputs[1], g.ints({8, 1}), g.ints({24, 5}), g.ints({1, 2}), g.ints({1, 2})}));
  g.output(g.add("Slice", {split->outputs[1], g.ints({3}), g.ints({20}), g.ints({1})}));
  expectReference(g, {{randomTensor(DType::kFloat32, {2, 16, 5, 7}, 5)}},
                  {.relative = 1e-4, .absolute = 1e-4, .kernel = "cpu.strided_copy"});
}

}  // namespace
}  // namespace rota::tactic
