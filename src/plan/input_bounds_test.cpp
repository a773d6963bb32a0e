// SPDX-License-Identifier: Apache-2.0
#include "plan/input_bounds.h"

#include <gtest/gtest.h>

namespace rota::plan {
namespace {

ir::Type ints(std::vector<Size> dims) {
  return {ir::TypeKind::kTensor, DType::kInt64, ir::Shape::of(std::move(dims))};
}

ir::Value* table(ir::Graph& g, const char* name, std::int64_t rows) {
  ir::Value* v = g.addConstant(
      name, Tensor::ofFloat(std::vector<float>(static_cast<std::size_t>(rows * 2)), {rows, 2}), name);
  v->type = {ir::TypeKind::kTensor, DType::kFloat32, ir::Shape::of({Size(rows), Size(2)})};
  return v;
}

TEST(InputBounds, FollowsMovedIndicesToTheSmallestTable) {
  ir::Graph g;
  ir::Value* ids = g.addInput("ids", ints({Size(4)}));
  ir::Value* mask = g.addInput("mask", ints({Size(4)}));
  ir::Node* cast = g.addNode("cast", "", "Cast", 17, {ids}, {"moved"});
  g.addNode("large", "", "Gather", 17, {table(g, "a", 90), ids}, {"x"});
  g.addNode("small", "", "Gather", 17, {table(g, "b", 30), cast->output(0)}, {"y"});
  g.addNode("computed", "", "Add", 17, {mask, mask}, {"z"});
  EXPECT_EQ(inputBounds(g), (std::map<std::string, std::int64_t>{{"ids", 30}}));
}

TEST(InputBounds, DataOfAGatherIsNoIndex) {
  ir::Graph g;
  ir::Value* data = g.addInput("data", ints({Size(4)}));
  ir::Value* at = g.addInput("at", ints({Size(1)}));
  g.addNode("gather", "", "Gather", 17, {data, at}, {"x"});
  EXPECT_EQ(inputBounds(g), (std::map<std::string, std::int64_t>{{"at", 4}}));
}

}  // namespace
}  // namespace rota::plan
