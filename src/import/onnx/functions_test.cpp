// SPDX-License-Identifier: Apache-2.0
// Model-local functions: attributes, defaults, overloads, names, nesting; recursion and growth are refused (case C29 c).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/test_model.h"

namespace rota::onnx {
namespace {

using test::function;
using test::importMessage;
using test::node;
using test::valueInfo;
using test::valueNamed;
using ::testing::AllOf;
using ::testing::HasSubstr;

test::Message call(const std::string& name, const std::vector<test::Message>& attributes = {},
                   const std::string& nodeName = "call") {
  return node(name, {"x"}, {"y"}, attributes, nodeName, "test");
}

test::Message modelOf(const std::vector<test::Message>& nodes, const std::vector<test::Message>& functions) {
  return test::model({.nodes = nodes,
                      .inputs = {valueInfo("x", 1, {2, 3})},
                      .outputs = {valueNamed("y")},
                      .initializers = {}},
                     functions);
}

test::Message softmaxFunction() {
  return function({.name = "F",
                   .inputs = {"a"},
                   .outputs = {"b"},
                   .attributes = {},
                   .defaults = {test::intAttribute("axis", 1)},
                   .nodes = {node("Relu", {"a"}, {"t"}, {}, "inner"),
                             node("Softmax", {"t"}, {"b"},
                                  {test::referenceAttribute("axis", AttributeKind::kInt, "axis")}, "soft")},
                   .overload = ""});
}

TEST(Functions, AreInlinedWithNamesAndScopes) {
  auto result = importMessage(modelOf({call("F")}, {softmaxFunction()}));
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  ir::Graph& graph = *result->graph;
  ASSERT_EQ(graph.nodes().size(), 2U);
  EXPECT_EQ(graph.nodes()[0]->name, "call/inner");
  EXPECT_EQ(graph.nodes()[0]->outputs[0]->name, "call/t");
  EXPECT_EQ(graph.nodes()[1]->outputs[0]->name, "y");  // what the model calls it
  EXPECT_EQ(graph.sources().describe(graph.nodes()[1]->provenance), "call/soft (Softmax)");
  EXPECT_EQ(graph.nodes()[1]->attributes.getInt("axis"), 1);  // the default
}

TEST(Functions, CallsGiveAttributes) {
  auto result = importMessage(modelOf({call("F", {test::intAttribute("axis", 0)})}, {softmaxFunction()}));
  ASSERT_TRUE(result->problems.empty());
  EXPECT_EQ(result->graph->nodes()[1]->attributes.getInt("axis", 9), 0);
}

TEST(Functions, AnAttributeThatNobodyGivesIsLeftOut) {
  const auto plain =
      function({.name = "F",
                .inputs = {"a"},
                .outputs = {"b"},
                .attributes = {"axis"},
                .defaults = {},
                .nodes = {node("Softmax", {"a"}, {"b"},
                               {test::referenceAttribute("axis", AttributeKind::kInt, "axis")})},
                .overload = ""});
  auto result = importMessage(modelOf({call("F")}, {plain}));
  ASSERT_TRUE(result->problems.empty());
  EXPECT_FALSE(result->graph->nodes()[0]->attributes.has("axis"));
}

TEST(Functions, AttributesPassThroughNestedCallsAndGraphs) {
  const auto branch =
      test::graph({.nodes = {node("Softmax", {"a"}, {"r"},
                                  {test::referenceAttribute("axis", AttributeKind::kInt, "ax")})},
                   .inputs = {},
                   .outputs = {valueNamed("r")},
                   .initializers = {}});
  const auto inner = function(
      {.name = "Inner",
       .inputs = {"a"},
       .outputs = {"b"},
       .attributes = {"ax"},
       .defaults = {},
       .nodes = {node("Constant", {}, {"c"},
                      {test::attribute("value", AttributeKind::kTensor)
                           .add(field::attribute::kTensor, test::rawTensor<std::uint8_t>("", 9, {}, {1}))}),
                 node("If", {"c"}, {"b"},
                      {test::graphAttribute("then_branch", branch),
                       test::graphAttribute("else_branch", branch)},
                      "if")},
       .overload = ""});
  const auto outer =
      function({.name = "Outer",
                .inputs = {"a"},
                .outputs = {"b"},
                .attributes = {"axis"},
                .defaults = {},
                .nodes = {node("Inner", {"a"}, {"b"},
                               {test::referenceAttribute("ax", AttributeKind::kInt, "axis")}, "in", "test")},
                .overload = ""});
  auto result = importMessage(modelOf({call("Outer", {test::intAttribute("axis", 0)})}, {outer, inner}));
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  const ir::Node& conditional = *result->graph->nodes()[0];
  EXPECT_EQ(conditional.name, "call/in/if");
  const ir::Node& softmax = *conditional.block("then_branch")->nodes()[0];
  EXPECT_EQ(softmax.attributes.getInt("axis", 9), 0);
  EXPECT_EQ(softmax.input(0), result->graph->inputs()[0]);
}

TEST(Functions, OverloadsAndMissingInputs) {
  const auto make = [](const char* op, const char* overload) {
    return function(
        {.name = "F",
         .inputs = {"a", "low"},
         .outputs = {"b"},
         .attributes = {},
         .defaults = {},
         .nodes = {node(op, op == std::string_view("Clip") ? test::Names{"a", "low"} : test::Names{"a"},
                        {"b"})},
         .overload = overload});
  };
  test::Message second = call("F");
  second.add(field::node::kOverload, "clip");
  auto result = importMessage(modelOf({second}, {make("Relu", ""), make("Clip", "clip")}));
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  EXPECT_EQ(result->graph->nodes()[0]->opType, "Clip");
  EXPECT_EQ(result->graph->nodes()[0]->input(1), nullptr);
}

TEST(Functions, AnInputMayBeAnOutput) {
  auto result = importMessage(modelOf({call("F")}, {function({.name = "F",
                                                              .inputs = {"a"},
                                                              .outputs = {"a"},
                                                              .attributes = {},
                                                              .defaults = {},
                                                              .nodes = {},
                                                              .overload = ""})}));
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  EXPECT_EQ(result->graph->outputs()[0], result->graph->inputs()[0]);
  EXPECT_EQ(result->graph->outputNames()[0], "y");
}

TEST(Functions, DoNotSeeTheCallersValues) {
  const auto peek = function({.name = "F",
                              .inputs = {"a"},
                              .outputs = {"b"},
                              .attributes = {},
                              .defaults = {},
                              .nodes = {node("Add", {"a", "x"}, {"b"}, {}, "add")},
                              .overload = ""});
  EXPECT_THAT(test::problemsOf(modelOf({call("F")}, {peek})),
              AllOf(HasSubstr("'x' as input 1"), HasSubstr("call/add")));
}

TEST(Functions, WrongOnesAreRefused) {
  EXPECT_THAT(
      test::problemsOf(modelOf({node("F", {"x", "x"}, {"y"}, {}, "call", "test")}, {softmaxFunction()})),
      HasSubstr("more inputs or outputs than the function"));
  EXPECT_THAT(test::problemsOf(modelOf({call("F")}, {softmaxFunction(), softmaxFunction()})),
              HasSubstr("two functions"));
  const auto empty = function({.name = "F",
                               .inputs = {"a"},
                               .outputs = {"b"},
                               .attributes = {},
                               .defaults = {},
                               .nodes = {},
                               .overload = ""});
  EXPECT_THAT(test::problemsOf(modelOf({call("F")}, {empty})), HasSubstr("never computes its output 'b'"));
}

test::Message passing(const std::string& name, const std::string& next) {
  return function({.name = name,
                   .inputs = {"a"},
                   .outputs = {"b"},
                   .attributes = {},
                   .defaults = {},
                   .nodes = {node(next, {"a"}, {"b"}, {}, "next", "test")},
                   .overload = ""});
}

TEST(Functions, RecursionIsRefused) {
  EXPECT_THAT(test::problemsOf(modelOf({call("A")}, {passing("A", "A")})),
              AllOf(HasSubstr("R1104"), HasSubstr("calls itself")));
  EXPECT_THAT(test::problemsOf(modelOf({call("A")}, {passing("A", "B"), passing("B", "A")})),
              AllOf(HasSubstr("test.A calls itself"), HasSubstr("call/next/next")));
}

TEST(Functions, RecursionThroughANestedGraphIsRefused) {
  const auto branch = test::graph({.nodes = {node("A", {"a"}, {"r"}, {}, "again", "test")},
                                   .inputs = {},
                                   .outputs = {valueNamed("r")},
                                   .initializers = {}});
  const auto a = function(
      {.name = "A",
       .inputs = {"a"},
       .outputs = {"b"},
       .attributes = {},
       .defaults = {},
       .nodes = {node("Constant", {}, {"c"},
                      {test::attribute("value", AttributeKind::kTensor)
                           .add(field::attribute::kTensor, test::rawTensor<std::uint8_t>("", 9, {}, {1}))}),
                 node("If", {"c"}, {"b"},
                      {test::graphAttribute("then_branch", branch),
                       test::graphAttribute("else_branch", branch)},
                      "if")},
       .overload = ""});
  EXPECT_THAT(test::problemsOf(modelOf({call("A")}, {a})), HasSubstr("calls itself"));
}

TEST(Functions, ChainsHaveALimit) {
  std::vector<test::Message> chain;
  for (int i = 0; i < 80; ++i) chain.push_back(passing("F" + std::to_string(i), "F" + std::to_string(i + 1)));
  EXPECT_THAT(test::problemsOf(modelOf({call("F0")}, chain)), HasSubstr("nested too deep"));
}

TEST(Functions, GrowthHasALimit) {
  // Each calls the next four times: 4^20 nodes if nobody counted.
  std::vector<test::Message> functions;
  for (int i = 0; i < 20; ++i) {
    std::vector<test::Message> nodes;
    const std::string next = i == 19 ? "Relu" : "F" + std::to_string(i + 1);
    std::string from = "a";
    for (int k = 0; k < 4; ++k) {
      const std::string to = k == 3 ? "b" : "t" + std::to_string(k);
      nodes.push_back(node(next, {from}, {to}, {}, {}, i == 19 ? "" : "test"));
      from = to;
    }
    functions.push_back(function({.name = "F" + std::to_string(i),
                                  .inputs = {"a"},
                                  .outputs = {"b"},
                                  .attributes = {},
                                  .defaults = {},
                                  .nodes = nodes,
                                  .overload = ""}));
  }
  EXPECT_THAT(test::problemsOf(modelOf({call("F0")}, functions)), HasSubstr("R1106"));
}

}  // namespace
}  // namespace rota::onnx
