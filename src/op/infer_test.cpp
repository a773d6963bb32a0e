// SPDX-License-Identifier: Apache-2.0
// The driver of inference: schema errors word by word, symbols of computed sizes, facts inside and outside of blocks. Operators of the domain
// "rota.test" stand for whatever an operator may do.
#include <gtest/gtest.h>

#include "core/check.h"
#include "op/definition.h"
#include "op/describe.h"
#include "op/test_graph.h"

namespace rota::op {
namespace {

/// Output 0 has the dims that the elements of input 0 say.
Status inferDimsOf(InferContext& ctx) {
  const auto dims = ctx.contentsOrResolve(0, {0, 100});
  if (!dims) {
    ctx.setOutput(0, DType::kFloat32, ir::Shape::unknown());
    return Status::ok();
  }
  ctx.setOutput(0, DType::kFloat32, ir::Shape::of(*dims));
  return Status::ok();
}

/// Output 0 has as many elements as the kernel finds.
Status inferFound(InferContext& ctx) {
  ctx.setOutput(0, DType::kInt64, ir::Shape::of({ctx.dataDependent("count", {0, 50})}));
  return Status::ok();
}

/// The dims of input 0 are 4.
Status inferFour(InferContext& ctx) {
  for (Size dim : ctx.inputShape(0).dims) ROTA_RETURN_IF_ERROR(ctx.requireEqual(dim, 4, "four wants four"));
  ctx.setOutput(0, ctx.inputDtype(0), ctx.inputShape(0));
  return Status::ok();
}

Status inferBranch(InferContext& ctx) {
  for (const auto& block : ctx.node().blocks) ROTA_RETURN_IF_ERROR(ctx.inferBlock(*block));
  ctx.setOutputType(0, ctx.node().blocks[0]->outputs()[0]->type);
  return Status::ok();
}

Status inferForgetful(InferContext&) { return Status::ok(); }

Status inferNegative(InferContext& ctx) {
  ctx.setOutput(0, DType::kFloat32, ir::Shape::of({ctx.inputShape(0).dims[0] - 2000}));
  return Status::ok();
}

Status inferHuge(InferContext& ctx) {
  const Size large = std::numeric_limits<std::int64_t>::max();
  ctx.setOutput(0, DType::kFloat32, ir::Shape::of({ctx.inputShape(0).dims[0] * large * 4}));
  return Status::ok();
}

Definition testDefinition(const char* name, InferFunction infer) {
  return {.domain = "rota.test",
          .name = name,
          .versions = {1},
          .inputs = {{.name = "x"}},
          .outputs = {{.name = "y"}},
          .infer = infer};
}

const Register kRegisterDimsOf(testDefinition("DimsOf", inferDimsOf));
const Register kRegisterFound(testDefinition("Found", inferFound));
const Register kRegisterFour(testDefinition("Four", inferFour));
const Register kRegisterForgetful(testDefinition("Forgetful", inferForgetful));
const Register kRegisterNegative(testDefinition("Negative", inferNegative));
const Register kRegisterHuge(testDefinition("Huge", inferHuge));
const Register kRegisterBranch(
    {.domain = "rota.test",
     .name = "Branch",
     .versions = {1},
     .outputs = {{.name = "y"}},
     .attributes = {{.name = "then", .type = AttributeType::kGraph, .required = true},
                    {.name = "else", .type = AttributeType::kGraph}},
     .infer = inferBranch});
const Register kRegisterPicky(
    {.domain = "rota.test",
     .name = "Picky",
     .versions = {1},
     .inputs = {{.name = "a", .typeVariable = "T"},
                {.name = "b", .option = FormalOption::kOptional, .typeVariable = "T"}},
     .outputs = {{.name = "y", .typeVariable = "T"}},
     .attributes = {{.name = "axis", .type = AttributeType::kInt, .required = true},
                    {.name = "scales", .type = AttributeType::kFloats}},
     .infer = inferFour});

class InferTest : public testing::Test {
 protected:
  Size symbol(const char* name, std::int64_t lo = 1) {
    return graph_.sizes().newSymbol(name, {lo, 1024}, SymbolOrigin::kInputDim);
  }
  ir::Value* input(const char* name, std::vector<Size> dims, DType dtype = DType::kFloat32) {
    return graph_.addInput(name, {.dtype = dtype, .shape = ir::Shape::of(std::move(dims))});
  }
  ir::Node* add(const char* op, std::vector<ir::Value*> inputs, ir::Graph* graph = nullptr) {
    return (graph == nullptr ? graph_ : *graph)
        .addNode(std::string("the_") + op, "rota.test", op, 1, std::move(inputs), {"y"});
  }
  std::string typeOf(const ir::Value* value) { return describeType(value->type, graph_.sizes()); }
  std::string errorOf(ir::Node* node) {
    const Status status = inferNode(*node);
    return status.isOk() ? "ok" : status.toString();
  }

  ir::Graph graph_;
};

TEST_F(InferTest, SchemaErrorsSayWhatWasExpectedAndFound) {
  ir::Value* x = input("x", {4});
  ir::Value* i = input("i", {4}, DType::kInt64);
  Attributes good;
  good.set("axis", std::int64_t{1});
  const auto picky = [&](std::vector<ir::Value*> inputs, Attributes attributes) {
    ir::Node* node = add("Picky", std::move(inputs));
    node->name = "p";
    node->attributes = std::move(attributes);
    return errorOf(node);
  };
  EXPECT_EQ(picky({x}, good), "ok");
  EXPECT_EQ(picky({x, nullptr}, good), "ok");
  const std::vector<std::pair<std::string, std::string>> cases{
      {picky({}, good),
       "R1207 at 'p (Picky)': a required input is missing; expected input 0 'a' (1 to 2 inputs in all); "
       "found 0 inputs"},
      {picky({nullptr, x}, good), "input 0 'a' (1 to 2 inputs in all); found an empty name"},
      {picky({x, x, x}, good), "too many inputs; expected 1 to 2 inputs; found 3"},
      {picky({x, i}, good),
       "expected input 1 'b' of type float32, the type of input 0 ('x'); found int64 ('i')"},
      {picky({x}, {}), "a required attribute is missing; expected 'axis', an int; found none"},
      {picky({x}, attributesOf({{"axis", 1.0F}})),
       "attribute 'axis' has another type; expected an int; found a float"},
      {picky({x}, attributesOf({{"axis", std::int64_t{1}}, {"axes", std::int64_t{1}}})),
       "the operator has no such attribute; expected axis, scales; found 'axes'"},
  };
  for (const auto& [text, part] : cases) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(InferTest, ResultsAreChecked) {
  ir::Value* x = input("x", {symbol("n")});
  EXPECT_EQ(inferNode(*add("Forgetful", {x})).code(), ErrorCode::kInternal);
  EXPECT_EQ(inferNode(*add("Negative", {x})).code(), ErrorCode::kShapeMismatch);
  EXPECT_EQ(inferNode(*add("Huge", {x})).code(), ErrorCode::kModelTooLarge);
}

TEST_F(InferTest, ContentsBecomeHostResolvedSymbolsOnce) {
  ir::Value* x = input("sizes", {2}, DType::kInt64);
  ir::Node* first = add("DimsOf", {x});
  ir::Node* second = add("DimsOf", {x});
  ASSERT_TRUE(inferNode(*first));
  ASSERT_TRUE(inferNode(*second));
  EXPECT_EQ(typeOf(first->outputs[0]), "float32[\"sizes[0]\", \"sizes[1]\"]");
  EXPECT_EQ(first->outputs[0]->type, second->outputs[0]->type) << "all users see the same symbols";
  ASSERT_EQ(x->resolvedHere.size(), 2U);
  const Symbol& symbol = graph_.sizes().symbols()[x->resolvedHere[1].second];
  EXPECT_EQ(symbol.origin, SymbolOrigin::kHostResolved);
  EXPECT_EQ(symbol.range, (SizeRange{0, 100}));
  ASSERT_TRUE(inferGraph(graph_));
  EXPECT_EQ(graph_.sizes().symbols().size(), 2U) << "inferring again makes no new symbols";
}

TEST_F(InferTest, UnknownElementsAreResolvedAndKnownOnesStay) {
  const Size n = symbol("n");
  ir::Value* x = input("sizes", {3}, DType::kInt64);
  x->contents = std::vector<Size>{n, Size::invalid(), 7};
  ir::Node* node = add("DimsOf", {x});
  ASSERT_TRUE(inferNode(*node));
  EXPECT_EQ(typeOf(node->outputs[0]), "float32[n, \"sizes[1]\", 7]");
  ASSERT_EQ(x->resolvedHere.size(), 1U);
  EXPECT_EQ(x->resolvedHere[0].first, 1U);
}

TEST_F(InferTest, UnknownOrLongInputsAreNotResolved) {
  ir::Node* unknown = add("DimsOf", {input("a", {symbol("n")}, DType::kInt64)});
  ir::Node* longOne = add("DimsOf", {input("b", {65}, DType::kInt64)});
  ir::Node* real = add("DimsOf", {input("c", {2})});
  for (ir::Node* node : {unknown, longOne, real}) {
    ASSERT_TRUE(inferNode(*node));
    EXPECT_EQ(typeOf(node->outputs[0]), "float32[?]");
  }
}

TEST_F(InferTest, FoundSizesKeepTheirSymbol) {
  ir::Node* node = add("Found", {input("x", {4})});
  ASSERT_TRUE(inferNode(*node));
  EXPECT_EQ(typeOf(node->outputs[0]), "int64[the_Found.count]");
  ASSERT_TRUE(inferNode(*node));
  EXPECT_EQ(typeOf(node->outputs[0]), "int64[the_Found.count]");
  EXPECT_EQ(graph_.sizes().symbols().size(), 1U);
  EXPECT_EQ(graph_.sizes().symbols()[0].origin, SymbolOrigin::kDataDependent);
}

TEST_F(InferTest, WhatALaterNodeRequiresHoldsForEarlierValues) {
  ir::Value* x = input("x", {symbol("n"), 4});
  ir::Node* relu = graph_.addNode("relu", "", "Relu", 14, {x}, {"r"});
  add("Four", {x});
  ASSERT_TRUE(inferGraph(graph_));
  EXPECT_EQ(typeOf(relu->outputs[0]), "float32[4, 4]");
  ASSERT_EQ(graph_.sizes().guards().size(), 1U);
  EXPECT_EQ(graph_.sizes().guards()[0].node, "the_Four (Four)");
  EXPECT_EQ(graph_.sizes().guards()[0].reason, "four wants four");
}

TEST_F(InferTest, FactsOfABlockStayInside) {
  ir::Value* x = input("x", {symbol("n"), 4});
  ir::Node* branch = add("Branch", {});
  for (const char* name : {"then", "else"}) {
    branch->blockNames.emplace_back(name);
    branch->blocks.push_back(std::make_unique<ir::Graph>(graph_));
  }
  ir::Node* inner = add("Four", {x}, branch->blocks[0].get());
  branch->blocks[0]->addOutput(inner->outputs[0]);
  ir::Node* other = branch->blocks[1]->addNode("relu", "", "Relu", 14, {x}, {"r"});
  branch->blocks[1]->addOutput(other->outputs[0]);
  ir::Node* after = graph_.addNode("after", "", "Relu", 14, {x}, {"s"});
  ASSERT_TRUE(inferGraph(graph_));
  EXPECT_EQ(typeOf(inner->outputs[0]), "float32[4, 4]");
  EXPECT_EQ(typeOf(other->outputs[0]), "float32[n, 4]");
  EXPECT_EQ(typeOf(after->outputs[0]), "float32[n, 4]");
  EXPECT_EQ(typeOf(x), "float32[n, 4]");
  ASSERT_EQ(graph_.sizes().guards().size(), 1U);
  EXPECT_EQ(graph_.sizes().guards()[0].scope, branch->blocks[0]->scope);
}

TEST_F(InferTest, BroadcastUsesRanges) {
  ir::Value* a = input("a", {symbol("n"), 1, 3});
  ir::Value* b = input("b", {symbol("m"), 1});
  ir::Node* node = graph_.addNode("sum", "", "Add", 14, {a, b}, {"s"});
  ASSERT_TRUE(inferNode(*node));
  EXPECT_EQ(typeOf(node->outputs[0]), "float32[n, m, 3]");
  ir::Value* c = input("c", {symbol("k"), 3});
  ir::Node* second = graph_.addNode("sum", "", "Add", 14, {node->outputs[0], c}, {"s"});
  ASSERT_TRUE(inferNode(*second));
  EXPECT_EQ(typeOf(second->outputs[0]), "float32[n, max(m, k), 3]");
  ir::Node* bad = graph_.addNode("bad", "", "Add", 14, {a, input("d", {4})}, {"s"});
  const Status status = inferNode(*bad);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.code(), ErrorCode::kShapeMismatch);
  EXPECT_EQ(status.detail().node, "bad (Add)");
  EXPECT_NE(status.detail().message.find("[n, 1, 3] [4]"), std::string::npos) << status.toString();
}

TEST_F(InferTest, NestingIsBounded) {
  ir::Graph* at = &graph_;
  for (int depth = 0; depth < 70; ++depth) {
    ir::Node* node = add("Branch", {}, at);
    node->blockNames = {"then"};
    node->blocks.push_back(std::make_unique<ir::Graph>(*at));
    at = node->blocks[0].get();
  }
  EXPECT_EQ(inferGraph(graph_).code(), ErrorCode::kModelTooDeep);
}

TEST(SchemaFacts, TypesThatAnOperatorIsNotDefinedForAreRefused) {
  TestGraph g;
  ir::Value* x = g.input("x", DType::kFloat32, "[2, 3]");
  EXPECT_EQ(g.type("GatherElements", {x, x}), "R1205");
  EXPECT_EQ(g.status().detail().expected, "input 1 'indices' of type int64, int32");
  EXPECT_EQ(g.type("And", {x, x}), "R1205");
  EXPECT_EQ(g.type("Sqrt", {g.ints({1})}), "R1205");
  EXPECT_EQ(g.type("Add", {x, x}), "float32[2, 3]");
}

TEST(SchemaFacts, WhatWasAnAttributeOnceMustBeGivenAsAnInput) {
  TestGraph g;
  ir::Value* x = g.input("x", DType::kFloat32, "[2, 3]");
  EXPECT_EQ(g.type("Pad", {x}), "R1207");
  EXPECT_EQ(g.type("Slice", {x, g.ints({0}), nullptr}), "R1207");
  EXPECT_EQ(g.type("Slice", {x, g.ints({0}), g.ints({1})}), "float32[1, 3]");
}

TEST(SchemaFacts, SizesBeyondAddressesAreRefused) {
  TestGraph g;
  ir::Value* x = g.input("x", DType::kFloat32, "[1, 1]");
  EXPECT_EQ(g.type("Expand", {x, g.ints({std::int64_t{1} << 40, std::int64_t{1} << 40})}), "R1106");
}

TEST(Describe, Types) {
  SizeContext sizes;
  const Size n = sizes.newSymbol("n", {1}, SymbolOrigin::kInputDim);
  ir::Type type{.dtype = DType::kFloat16, .shape = ir::Shape::of({n, 3})};
  EXPECT_EQ(describeType(type, sizes), "float16[n, 3]");
  type.kind = ir::TypeKind::kOptional;
  type.elementIsSequence = true;
  type.shape = ir::Shape::unknown();
  EXPECT_EQ(describeType(type, sizes), "optional(sequence(float16[?]))");
  EXPECT_EQ(describeType({}, sizes), "a value without a type");
}

}  // namespace
}  // namespace rota::op
