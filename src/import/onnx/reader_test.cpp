// SPDX-License-Identifier: Apache-2.0
// Import of small models: what the graph is, and what is said about wrong ones (cases C17, C19, C27 and C29 of the reference cases).
#include "import/onnx/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/file.h"
#include "import/onnx/test_model.h"

namespace rota::onnx {
namespace {

using test::importMessage;
using test::node;
using test::problemsOf;
using test::valueInfo;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const ir::Value* output(const ImportResult& result, std::size_t i = 0) {
  return result.graph->outputs().at(i);
}

TEST(Reader, ReadsAModelWithMetadata) {
  test::Message message = test::model({.nodes = {node("Relu", {"x"}, {"y"}, {}, "act")},
                                       .inputs = {valueInfo("x", 1, {"batch", 3})},
                                       .outputs = {valueInfo("y", 1, {"batch", 3})},
                                       .initializers = {}});
  message.add(field::model::kMetadataProps,
              test::Message().add(field::entry::kKey, "author").add(field::entry::kValue, "me"));
  auto result = importMessage(message);
  ASSERT_TRUE(result.isOk());
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  const ir::Graph& graph = *result->graph;
  EXPECT_EQ(graph.name, "g");
  ASSERT_EQ(graph.nodes().size(), 1U);
  EXPECT_EQ(graph.nodes()[0]->name, "act");
  EXPECT_EQ(graph.nodes()[0]->version, 17);
  EXPECT_EQ(graph.inputs().at(0)->name, "x");
  EXPECT_EQ(graph.outputNames(), (std::vector<std::string>{"y"}));
  EXPECT_EQ(output(*result)->type, graph.inputs()[0]->type);
  EXPECT_EQ(result->graph->sources().describe(graph.nodes()[0]->provenance), "act (Relu)");
  EXPECT_EQ(result->metadata.irVersion, 8);
  EXPECT_EQ(result->metadata.producerName, "rota test");
  EXPECT_EQ(result->metadata.opsets.at(""), 17);
  EXPECT_EQ(result->metadata.properties.at("author"), "me");
}

TEST(Reader, NodesWithoutNamesAreNamedAfterTheirOutput) {
  auto result = importMessage(test::model({.nodes = {node("Relu", {"x"}, {"y"})},
                                           .inputs = {valueInfo("x", 1, {2})},
                                           .outputs = {valueInfo("y", 1, {2})},
                                           .initializers = {}}));
  ASSERT_TRUE(result->problems.empty());
  EXPECT_EQ(result->graph->nodes()[0]->name, "Relu(y)");
}

TEST(Reader, DegenerateModelsAreFine) {
  // An input wired to an output; an initializer as output; both at once with one Identity.
  auto wire = importMessage(test::model({.nodes = {},
                                         .inputs = {valueInfo("x", 1, {2})},
                                         .outputs = {valueInfo("x", 1, {2})},
                                         .initializers = {}}));
  ASSERT_TRUE(wire->problems.empty());
  EXPECT_EQ(output(*wire), wire->graph->inputs()[0]);
  auto constant = importMessage(test::model({.nodes = {},
                                             .inputs = {},
                                             .outputs = {valueInfo("w", 1, {1})},
                                             .initializers = {test::floats("w", {1}, {3})}}));
  ASSERT_TRUE(constant->problems.empty());
  EXPECT_TRUE(output(*constant)->isConstant());
  EXPECT_EQ(output(*constant)->recipe, "initializer w");
  auto identity = importMessage(test::model({.nodes = {node("Identity", {"x"}, {"y"})},
                                             .inputs = {valueInfo("x", 1, {2})},
                                             .outputs = {valueInfo("y", 1, {2})},
                                             .initializers = {}}));
  EXPECT_TRUE(identity->problems.empty());
}

TEST(Reader, NodesInAnyOrderAreSorted) {
  auto result = importMessage(test::model(
      {.nodes = {node("Neg", {"b"}, {"y"}), node("Abs", {"a"}, {"b"}), node("Relu", {"x"}, {"a"})},
       .inputs = {valueInfo("x", 1, {2})},
       .outputs = {valueInfo("y", 1, {2})},
       .initializers = {}}));
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  EXPECT_EQ(result->graph->nodes()[0]->opType, "Relu");
  EXPECT_EQ(result->graph->nodes()[2]->opType, "Neg");
}

TEST(Reader, InitializersThatAreInputsAreConstants) {
  for (const std::int64_t version : {3, 8}) {
    auto result = importMessage(test::model({.nodes = {node("Add", {"x", "w"}, {"y"})},
                                             .inputs = {valueInfo("x", 1, {1}), valueInfo("w", 1, {1})},
                                             .outputs = {valueInfo("y", 1, {1})},
                                             .initializers = {test::floats("w", {1}, {3})}},
                                            {}, version));
    ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
    EXPECT_EQ(result->graph->inputs().size(), 1U);
    EXPECT_TRUE(result->graph->nodes()[0]->input(1)->isConstant());
    EXPECT_EQ(result->notes.size(), version < 4 ? 0U : 1U);
  }
}

TEST(Reader, ConstantsOfEveryForm) {
  const auto constant = [](const test::Message& attribute) {
    return importMessage(test::model({.nodes = {node("Constant", {}, {"y"}, {attribute}, "c")},
                                      .inputs = {},
                                      .outputs = {test::valueNamed("y")},
                                      .initializers = {}}));
  };
  auto tensor = constant(test::attribute("value", AttributeKind::kTensor)
                             .add(field::attribute::kTensor, test::floats("", {2}, {1, 2})));
  ASSERT_TRUE(tensor->problems.empty());
  EXPECT_EQ(output(*tensor)->constant.dims(), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(output(*tensor)->name, "y");
  auto number = constant(test::intAttribute("value_int", -4));
  EXPECT_EQ(intsOf(output(*number)->constant.view()), (std::vector<std::int64_t>{-4}));
  EXPECT_TRUE(output(*number)->constant.dims().empty());
  auto list = constant(test::intsAttribute("value_ints", {4, 5}));
  EXPECT_EQ(intsOf(output(*list)->constant.view()), (std::vector<std::int64_t>{4, 5}));
  EXPECT_THAT(constant(test::intAttribute("other", 1))->problems.at(0).toString(),
              HasSubstr("a Constant needs one value"));
  EXPECT_THAT(
      constant(test::attribute("value_string", AttributeKind::kString).add(field::attribute::kString, "a"))
          ->problems.at(0)
          .toString(),
      HasSubstr("string tensors are not supported"));
}

// --- Sizes of inputs.

test::Message twoInputs() {
  return test::model({.nodes = {node("Relu", {"a"}, {"c"}), node("Relu", {"b"}, {"d"})},
                      .inputs = {valueInfo("a", 1, {"batch", "seq"}), valueInfo("b", 1, {"batch", "", 8})},
                      .outputs = {test::valueNamed("c"), test::valueNamed("d")},
                      .initializers = {}});
}

TEST(InputDims, EqualNamesAreOneSymbol) {
  auto result = importMessage(twoInputs());
  ASSERT_TRUE(result->problems.empty());
  const auto& a = result->graph->inputs()[0]->type.shape.dims;
  const auto& b = result->graph->inputs()[1]->type.shape.dims;
  EXPECT_EQ(a[0], b[0]);
  EXPECT_FALSE(a[1] == b[1]);
  EXPECT_EQ(result->graph->sizes().toString(a[0]), "batch");
  EXPECT_EQ(result->graph->sizes().range(a[0]).lo, 1);
  EXPECT_TRUE(b[2].is(8));
}

TEST(InputDims, OptionsFixAndBoundThem) {
  ImportOptions options;
  options.symbols["seq"] = {1, 128, 512};
  options.inputDims["b"] = {{4, 4, 4}, {0, 2, 3}, {8, 8, 8}};
  auto result = importMessage(twoInputs(), options);
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  const auto& a = result->graph->inputs()[0]->type.shape.dims;
  const auto& b = result->graph->inputs()[1]->type.shape.dims;
  EXPECT_TRUE(a[0].is(4));  // named like the dim of b
  EXPECT_EQ(result->graph->sizes().range(a[1]).hi, 512);
  EXPECT_EQ(result->graph->sizes().range(b[1]).lo, 0);
  EXPECT_EQ(result->graph->sizes().range(b[1]).hi, 3);
}

TEST(InputDims, WrongOptionsAreProblems) {
  const auto problems = [](const ImportOptions& options) { return problemsOf(twoInputs(), options); };
  EXPECT_THAT(problems({.symbols = {{"sequence", {1, 1, 1}}}}),
              AllOf(HasSubstr("R1004"), HasSubstr("one of batch, seq")));
  EXPECT_THAT(problems({.inputDims = {{"z", {{1, 1, 1}}}}}),
              AllOf(HasSubstr("R1004"), HasSubstr("one of a, b")));
  EXPECT_THAT(problems({.inputDims = {{"a", {{1, 1, 1}}}}}), HasSubstr("expected 2 dims; found 1"));
  EXPECT_THAT(problems({.inputDims = {{"b", {{1, 1, 1}, {1, 1, 1}, {9, 9, 9}}}}}),
              HasSubstr("fixed by the model"));
  EXPECT_THAT(
      problems({.inputDims = {{"a", {{1, 1, 1}, {1, 1, 1}}}, {"b", {{2, 2, 2}, {1, 1, 1}, {8, 8, 8}}}}}),
      HasSubstr("two values"));
  EXPECT_THAT(problems({.symbols = {{"seq", {5, 4, 9}}}}), HasSubstr("0 <= min <= opt <= max"));
}

TEST(InputDims, SizesThatGoThroughFloatsAreKnown) {
  // Exporters round sizes in floats: Reshape to [ceil(5 / 2), -1].
  auto result = importMessage(
      test::model({.nodes = {node("Constant", {}, {"five"}, {test::floatAttribute("value_float", 5)}),
                             node("Constant", {}, {"two"}, {test::floatAttribute("value_float", 2)}),
                             node("Div", {"five", "two"}, {"half"}), node("Ceil", {"half"}, {"up"}),
                             node("Cast", {"up"}, {"n"}, {test::intAttribute("to", 7)}),
                             node("Unsqueeze", {"n", "zero"}, {"rows"}),
                             node("Concat", {"rows", "rest"}, {"shape"}, {test::intAttribute("axis", 0)}),
                             node("Reshape", {"x", "shape"}, {"y"})},
                   .inputs = {valueInfo("x", 1, {6, "n"})},
                   .outputs = {test::valueNamed("y")},
                   .initializers = {test::ints("zero", {1}, {0}), test::ints("rest", {1}, {-1})}}));
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  const auto& dims = output(*result)->type.shape.dims;
  ASSERT_EQ(dims.size(), 2U);
  EXPECT_TRUE(dims[0].is(3));
  EXPECT_EQ(result->graph->sizes().toString(dims[1]), "2*n");
}

// --- Nested graphs.

test::Message condition() { return valueInfo("cond", 9, {}); }

TEST(Blocks, InnerNamesShadowAndNeedNotDiffer) {
  const auto branch = [](const char* op) {
    return test::graph(
        {.nodes = {node(op, {"x"}, {"t"}, {}, "same"), node("Identity", {"t"}, {"r"}, {}, "other")},
         .inputs = {},
         .outputs = {test::valueNamed("r")},
         .initializers = {}});
  };
  auto result =
      importMessage(test::model({.nodes = {node("If", {"cond"}, {"y"},
                                                {test::graphAttribute("then_branch", branch("Relu")),
                                                 test::graphAttribute("else_branch", branch("Neg"))},
                                                "if1")},
                                 .inputs = {condition(), valueInfo("x", 1, {2})},
                                 .outputs = {test::valueNamed("y")},
                                 .initializers = {}}));
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  ir::Node& node = *result->graph->nodes()[0];
  ASSERT_EQ(node.blocks.size(), 2U);
  const ir::Graph& then = *node.block("then_branch");
  EXPECT_EQ(then.nodes()[0]->opType, "Relu");
  EXPECT_EQ(then.nodes()[0]->input(0), result->graph->inputs()[1]);
  EXPECT_EQ(result->graph->sources().describe(node.block("else_branch")->nodes()[0]->provenance),
            "if1/else_branch/same (Neg)");
}

TEST(Blocks, ABranchMayReturnAnOuterValue) {
  const test::Message outer =
      test::graph({.nodes = {}, .inputs = {}, .outputs = {test::valueNamed("a")}, .initializers = {}});
  // The node that computes the captured value comes after the If: captures count for the order.
  auto result = importMessage(test::model({.nodes = {node("If", {"cond"}, {"y"},
                                                          {test::graphAttribute("then_branch", outer),
                                                           test::graphAttribute("else_branch", outer)}),
                                                     node("Relu", {"x"}, {"a"})},
                                           .inputs = {condition(), valueInfo("x", 1, {2})},
                                           .outputs = {test::valueNamed("y")},
                                           .initializers = {}}));
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  EXPECT_EQ(result->graph->nodes()[0]->opType, "Relu");
  EXPECT_EQ(result->graph->nodes()[1]->blocks[0]->outputs()[0], result->graph->nodes()[0]->outputs[0]);
}

test::Message loopModel(const test::Message& body) {
  return test::model(
      {.nodes = {node("Loop", {"trips", "", "x"}, {"y"}, {test::graphAttribute("body", body)}, "loop1")},
       .inputs = {valueInfo("trips", 7, {}), valueInfo("x", 1, {2})},
       .outputs = {test::valueNamed("y")},
       .initializers = {}});
}

TEST(Blocks, ABodyInputHidesTheOuterValueOfItsName) {
  const test::Message body = test::graph(
      {.nodes = {node("Identity", {"go"}, {"on"}), node("Neg", {"x"}, {"z"})},
       .inputs = {test::valueOfType("i", 7), test::valueOfType("go", 9), test::valueOfType("x", 1)},
       .outputs = {test::valueNamed("on"), test::valueNamed("z")},
       .initializers = {}});
  auto result = importMessage(loopModel(body));
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
  const ir::Graph& graph = *result->graph->nodes()[0]->blocks[0];
  EXPECT_EQ(graph.nodes()[1]->input(0), graph.inputs()[2]);
}

TEST(Blocks, ABodyInputThatIsAnInitializerIsRefused) {
  const test::Message body = test::graph(
      {.nodes = {node("Identity", {"go"}, {"on"}), node("Neg", {"x"}, {"z"})},
       .inputs = {test::valueOfType("i", 7), test::valueOfType("go", 9), test::valueOfType("x", 1)},
       .outputs = {test::valueNamed("on"), test::valueNamed("z")},
       .initializers = {test::floats("x", {2}, {1, 2})}});
  EXPECT_THAT(problemsOf(loopModel(body)),
              AllOf(HasSubstr("also an initializer"), HasSubstr("loop1/body/x")));
}

TEST(Blocks, NestingHasALimit) {
  test::Message inner = test::graph({.nodes = {node("Relu", {"x"}, {"r"})},
                                     .inputs = {},
                                     .outputs = {test::valueNamed("r")},
                                     .initializers = {}});
  for (int i = 0; i < 70; ++i) {
    inner = test::Message(
        test::graph({.nodes = {node("If", {"cond"}, {"r"}, {test::graphAttribute("then_branch", inner)})},
                     .inputs = {},
                     .outputs = {test::valueNamed("r")},
                     .initializers = {}}));
  }
  EXPECT_THAT(problemsOf(test::model(inner)), HasSubstr("R1104"));
}

// --- Wrong models.

TEST(WrongModels, AllProblemsAreFoundAtOnce) {
  const std::string problems = problemsOf(test::model(
      {.nodes = {node("NoSuchOp", {"x"}, {"a"}, {}, "first"), node("NoSuchOp", {"x"}, {"b"}, {}, "second"),
                 node("Add", {"x"}, {"c"}, {}, "add"), node("Relu", {"ghost"}, {"d"}, {}, "relu"),
                 node("Concat", {"x", "x"}, {"e"}, {test::floatAttribute("axis", 1)}, "concat"),
                 node("Softmax", {"x"}, {"f"}, {test::intAttribute("axes", 1)}, "softmax"),
                 node("Relu", {"a"}, {"g"}, {}, "behind"), node("MatMul", {"x", "w"}, {"h"}, {}, "mm")},
       .inputs = {valueInfo("x", 1, {2, 3})},
       .outputs = {test::valueNamed("g"), test::valueNamed("nothing")},
       .initializers = {test::floats("w", {2, 2}, {1, 2, 3, 4})}}));
  EXPECT_THAT(problems, AllOf(HasSubstr("R1201"), HasSubstr("first (NoSuchOp), second (NoSuchOp)"),
                              HasSubstr("(2 times)")));
  EXPECT_THAT(problems, AllOf(HasSubstr("R1207"), HasSubstr("Add lacks its input")));
  EXPECT_THAT(problems, HasSubstr("'ghost' as input 0"));
  EXPECT_THAT(problems, HasSubstr("attribute 'axis' of Concat has the wrong type"));
  EXPECT_THAT(problems, HasSubstr("Softmax has no attribute 'axes'"));
  EXPECT_THAT(problems, HasSubstr("no value 'nothing'"));
  EXPECT_THAT(problems, HasSubstr("mm"));  // found by inference although others are broken
  EXPECT_THAT(problems, Not(HasSubstr("behind")));
}

TEST(WrongModels, CyclesNameTheirNodes) {
  const std::string problems = problemsOf(
      test::model({.nodes = {node("Add", {"x", "b"}, {"a"}, {}, "one"), node("Relu", {"a"}, {"b"}, {}, "two"),
                             node("Neg", {"b"}, {"y"}, {}, "three")},
                   .inputs = {valueInfo("x", 1, {2})},
                   .outputs = {test::valueNamed("y")},
                   .initializers = {}}));
  EXPECT_THAT(problems,
              AllOf(HasSubstr("in a cycle"), HasSubstr("one"), HasSubstr("two"), Not(HasSubstr("three"))));
}

TEST(WrongModels, DuplicateNamesAreRefused) {
  EXPECT_THAT(problemsOf(test::model({.nodes = {node("Relu", {"x"}, {"y"}), node("Neg", {"x"}, {"y"})},
                                      .inputs = {valueInfo("x", 1, {2})},
                                      .outputs = {test::valueNamed("y")},
                                      .initializers = {}})),
              HasSubstr("'y' is defined twice"));
  EXPECT_THAT(problemsOf(test::model({.nodes = {node("Relu", {"x"}, {"x"})},
                                      .inputs = {valueInfo("x", 1, {2})},
                                      .outputs = {test::valueNamed("x")},
                                      .initializers = {}})),
              HasSubstr("R1208"));
  EXPECT_THAT(
      problemsOf(test::model({.nodes = {node("Softmax", {"x"}, {"y"},
                                             {test::intAttribute("axis", 0), test::intAttribute("axis", 1)})},
                              .inputs = {valueInfo("x", 1, {2})},
                              .outputs = {test::valueNamed("y")},
                              .initializers = {}})),
      HasSubstr("'axis' is given twice"));
  EXPECT_THAT(problemsOf(test::model({.nodes = {node("Relu", {"x"}, {"y"})},
                                      .inputs = {valueInfo("x", 1, {2})},
                                      .outputs = {test::valueNamed("y"), test::valueNamed("y")},
                                      .initializers = {}})),
              HasSubstr("two outputs of the model have the same name"));
}

TEST(WrongModels, OperatorsFindWhatDoesNotFit) {
  const auto check = [](const test::Message& one, const std::vector<test::Dim>& a,
                        const std::vector<test::Dim>& b) {
    return problemsOf(test::model({.nodes = {one},
                                   .inputs = {valueInfo("a", 1, a), valueInfo("b", 1, b)},
                                   .outputs = {test::valueNamed("y")},
                                   .initializers = {}}));
  };
  EXPECT_THAT(check(node("Conv", {"a", "b"}, {"y"}, {}, "conv"), {1, 3, 8, 8}, {4, 3, 3, 3, 3}),
              AllOf(HasSubstr("conv"), HasSubstr("R12")));
  EXPECT_THAT(
      check(node("Transpose", {"a"}, {"y"}, {test::intsAttribute("perm", {0, 0})}, "tr"), {2, 3}, {1}),
      AllOf(HasSubstr("tr"), HasSubstr("R12")));
  EXPECT_THAT(check(node("MatMul", {"a", "b"}, {"y"}, {}, "mm"), {2, 3}, {4, 5}),
              AllOf(HasSubstr("mm"), HasSubstr("R1204")));
  EXPECT_THAT(check(node("Relu", {"a", "b"}, {"y"}, {}, "relu"), {2}, {2}), HasSubstr("too many inputs"));
}

TEST(WrongModels, DeclaredOutputTypesMustBeTrue) {
  EXPECT_THAT(problemsOf(test::model({.nodes = {node("Relu", {"x"}, {"y"})},
                                      .inputs = {valueInfo("x", 1, {2})},
                                      .outputs = {valueInfo("y", 7, {2})},
                                      .initializers = {}})),
              AllOf(HasSubstr("R1205"), HasSubstr("expected int64; found float32")));
  // A wrong declared shape is only a hint.
  EXPECT_EQ(problemsOf(test::model({.nodes = {node("Relu", {"x"}, {"y"})},
                                    .inputs = {valueInfo("x", 1, {2})},
                                    .outputs = {valueInfo("y", 1, {7, 7})},
                                    .initializers = {}})),
            "");
}

TEST(WrongModels, InputTypes) {
  const auto check = [](const test::Message& input) {
    return problemsOf(test::model({.nodes = {node("Identity", {"x"}, {"y"})},
                                   .inputs = {input},
                                   .outputs = {test::valueNamed("y")},
                                   .initializers = {}}));
  };
  EXPECT_THAT(check(valueInfo("x", 8, {1})), AllOf(HasSubstr("string tensors"), HasSubstr("'x'")));
  EXPECT_THAT(check(valueInfo("x", 77, {1})), HasSubstr("data type 77"));
  EXPECT_THAT(check(valueInfo("x", 1, {-5})), HasSubstr("negative dim"));
  EXPECT_THAT(check(test::valueNamed("x")), HasSubstr("no type"));
  EXPECT_EQ(check(valueInfo("x", 1, {-1})), "");  // how old converters write a dynamic dim
}

TEST(WrongModels, Versions) {
  const auto versions = [](std::int64_t ir, const std::vector<test::Message>& imports) {
    test::Message message;
    message.add(field::model::kIrVersion, ir)
        .add(field::model::kGraph, test::graph({.nodes = {node("Relu", {"x"}, {"y"})},
                                                .inputs = {valueInfo("x", 1, {2})},
                                                .outputs = {test::valueNamed("y")},
                                                .initializers = {}}));
    for (const test::Message& import : imports) message.add(field::model::kOpsetImport, import);
    return problemsOf(message);
  };
  EXPECT_EQ(versions(8, {test::opset("", 17)}), "");
  EXPECT_EQ(versions(8, {test::opset("ai.onnx", 17)}), "");
  EXPECT_EQ(versions(8, {test::opset("", 17), test::opset("ai.onnx", 17)}), "");
  EXPECT_THAT(versions(0, {test::opset("", 17)}), HasSubstr("no valid IR version"));
  EXPECT_THAT(versions(99, {test::opset("", 17)}), HasSubstr("R1202"));
  EXPECT_THAT(versions(8, {test::opset("", 0)}), HasSubstr("no valid version"));
  EXPECT_THAT(versions(8, {test::opset("", -3)}), HasSubstr("no valid version"));
  EXPECT_THAT(versions(8, {test::opset("", 10000)}), AllOf(HasSubstr("R1202"), HasSubstr("too new")));
  EXPECT_THAT(versions(8, {test::opset("", 17), test::opset("ai.onnx", 18)}), HasSubstr("17 and 18"));
  EXPECT_THAT(versions(8, {}), HasSubstr("imports no operator set"));
  EXPECT_THAT(versions(8, {test::opset("other", 1)}), HasSubstr("import of 'ai.onnx'"));
}

TEST(NotModels, AreRecognised) {
  const auto error = [](std::string_view bytes) { return test::importBytes(bytes).status().toString(); };
  EXPECT_THAT(error("dummy"), AllOf(HasSubstr("R1101"), HasSubstr("a text file")));
  EXPECT_THAT(error(""), AllOf(HasSubstr("R1101"), HasSubstr("an empty file")));
  EXPECT_THAT(error(std::string_view("PK\x03\x04\x14\0\0\0", 8)), HasSubstr("ZIP"));
  EXPECT_THAT(error("version https://git-lfs.github.com/spec/v1\noid sha256:00"), HasSubstr("Git LFS"));
  EXPECT_THAT(error(std::string_view("\0\0\0\0", 4)), HasSubstr("R1101"));
  auto absent = importOnnx("/no/such/file.onnx", {});
  EXPECT_EQ(absent.status().code(), ErrorCode::kFileNotFound);
}

}  // namespace
}  // namespace rota::onnx
