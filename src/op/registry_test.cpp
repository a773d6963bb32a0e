// SPDX-License-Identifier: Apache-2.0
// The registry of definitions and how a graph is attached to it.
#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

#include "op/definition.h"

namespace rota::op {
namespace {

TEST(Registry, FindsByDomainAndName) {
  const Definition* add = find("", "Add");
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->kind, Kind::kPointwise);
  EXPECT_EQ(find("ai.onnx", "Add"), add);
  EXPECT_EQ(find("com.example", "Add"), nullptr);
  EXPECT_EQ(find("", "NoSuchOperator"), nullptr);
}

TEST(Registry, DefinitionsAreSortedAndComplete) {
  const auto definitions = all();
  EXPECT_TRUE(
      std::is_sorted(definitions.begin(), definitions.end(), [](const Definition* a, const Definition* b) {
        return std::tie(a->domain, a->name) < std::tie(b->domain, b->name);
      }));
  for (const Definition* definition : definitions) {
    if (definition->domain.starts_with("rota.test")) continue;
    EXPECT_NE(definition->infer, nullptr) << definition->name;
    EXPECT_FALSE(definition->doc.empty()) << definition->name;
    EXPECT_FALSE(definition->versions.empty()) << definition->name;
    EXPECT_TRUE(std::is_sorted(definition->versions.begin(), definition->versions.end())) << definition->name;
    EXPECT_FALSE(definition->outputs.empty()) << definition->name;
  }
}

TEST(Registry, AttachingCollectsEveryProblem) {
  ir::Graph graph;
  ir::Value* x = graph.addInput("x", {.dtype = DType::kFloat32, .shape = ir::Shape::of({2})});
  const auto source = graph.sources().add({"encoder/", "mystery_7", "Mystery"});
  graph.addNode("first", "com.example", "Mystery", 3, {x}, {"a"}, ir::Provenance{{source}});
  ir::Node* add = graph.addNode("second", "", "Add", 1, {x, x}, {"b"});
  ir::Node* nested = graph.addNode("third", "", "Relu", 14, {x}, {"c"});
  nested->blockNames = {"body"};
  nested->blocks.push_back(std::make_unique<ir::Graph>(graph));
  nested->blocks[0]->addNode("fourth", "", "Mystery", 20, {x}, {"d"});
  const std::vector<Status> errors = attachDefinitions(graph);
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors[0].code(), ErrorCode::kUnsupportedOperator);
  EXPECT_EQ(errors[0].detail().node, "encoder/mystery_7 (Mystery)");
  EXPECT_EQ(errors[0].detail().found, "com.example.Mystery of operator set 3");
  EXPECT_EQ(errors[1].code(), ErrorCode::kUnsupportedVersion);
  EXPECT_EQ(errors[1].detail().found, "operator set 1");
  EXPECT_EQ(errors[2].detail().node, "fourth (Mystery)");
  EXPECT_EQ(add->definition, nullptr);
  EXPECT_EQ(nested->definition, find("", "Relu"));
}

}  // namespace
}  // namespace rota::op
