// SPDX-License-Identifier: Apache-2.0
// Operators that the importer writes in simpler nodes: SequenceMap, FlexAttention with modifiers, the batched Scan of version 8.
#include "op/early_expansion.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ir/inline_graph.h"
#include "op/test_run.h"

namespace rota::op {
namespace {

ir::Type tensorOf(DType dtype, std::vector<Size> dims) {
  return {.dtype = dtype, .shape = ir::Shape::of(std::move(dims))};
}

ir::Value* addTo(ir::Graph& graph, const char* opType, std::vector<ir::Value*> inputs) {
  ir::Node* made = graph.addNode("", "", opType, 21, std::move(inputs), {"inner"});
  made->definition = find("", opType);
  return made->outputs[0];
}

struct Expanded {
  ir::Graph graph;
  ir::Node* node = nullptr;

  void add(const char* domain, const char* opType, int version, std::vector<ir::Value*> inputs,
           std::size_t outputs) {
    node = graph.addNode("node", domain, opType, version, std::move(inputs),
                         std::vector<std::string>(outputs, "result"));
    node->definition = find(domain, opType);
  }
  ir::Graph& block(const char* name) {
    node->blockNames.emplace_back(name);
    return *node->blocks.emplace_back(std::make_unique<ir::Graph>(graph));
  }
  /// Infers, expands, and says what went wrong; afterwards no such node is left.
  std::string expand() {
    for (ir::Value* output : node->outputs) graph.addOutput(output);
    const std::string opType = node->opType;
    const int version = node->version;
    if (Status status = inferGraph(graph); !status.isOk()) return status.toString();
    std::vector<ir::Type> before;
    for (const ir::Value* output : graph.outputs()) before.push_back(output->type);
    if (Status status = expandEarly(graph); !status.isOk()) return status.toString();
    if (Status status = ir::verify(graph); !status.isOk()) return status.toString();
    for (const auto& left : graph.nodes()) {
      if (left->opType == opType && left->version == version) return opType + " is still there";
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (graph.outputs()[i]->type.dtype != before[i].dtype) return "an output has changed its type";
    }
    return "";
  }
  std::vector<EvaluatedValue> run(std::vector<EvaluatedValue> inputs) {
    ThreadPool threads(1);
    auto results = evaluateGraph(graph, inputs, threads);
    EXPECT_TRUE(results.isOk()) << results.status().toString();
    return results.isOk() ? *results : std::vector<EvaluatedValue>(graph.outputs().size());
  }
};

EvaluatedValue tensorValue(Tensor tensor) { return {.tensor = std::move(tensor), .sequence = {}}; }

TEST(SequenceMap, MapsElementsWithTensorsAndCaptures) {
  Expanded e;
  ir::Value* sequence =
      e.graph.addInput("s", {.kind = ir::TypeKind::kSequence, .dtype = DType::kFloat32, .shape = {}});
  ir::Value* factor = e.graph.addInput("factor", tensorOf(DType::kFloat32, {}));
  ir::Value* offset = e.graph.addInput("offset", tensorOf(DType::kFloat32, {}));
  e.add("", "SequenceMap", 17, {sequence, factor}, 2);
  ir::Graph& body = e.block("body");
  ir::Value* element = body.addInput("element", {});
  ir::Value* scale = body.addInput("scale", {});
  ir::Value* product = addTo(body, "Mul", {element, scale});
  body.addOutput(addTo(body, "Add", {product, offset}));
  body.addOutput(addTo(body, "Shape", {product}));
  ASSERT_EQ(e.expand(), "");

  EvaluatedValue elements;
  elements.sequence.emplace();
  elements.sequence->dtype = DType::kFloat32;
  elements.sequence->elements = {countingFloats({2}), countingFloats({3})};
  const auto results =
      e.run({elements, tensorValue(ref::makeFloats({}, {10})), tensorValue(ref::makeFloats({}, {1}))});
  ASSERT_TRUE(results[0].sequence.has_value() && results[1].sequence.has_value());
  ASSERT_EQ(results[0].sequence->elements.size(), 2U);
  EXPECT_EQ(tensorText(results[0].sequence->elements[1]), "float32[3] 1 11 21");
  EXPECT_EQ(tensorText(results[1].sequence->elements[0]), "int64[1] 2");

  elements.sequence->elements.clear();
  const auto none =
      e.run({elements, tensorValue(ref::makeFloats({}, {10})), tensorValue(ref::makeFloats({}, {1}))});
  ASSERT_TRUE(none[0].sequence.has_value());
  EXPECT_TRUE(none[0].sequence->elements.empty());
}

TEST(SequenceMap, KeepsProvenanceOfTheBody) {
  Expanded e;
  ir::Value* sequence =
      e.graph.addInput("s", {.kind = ir::TypeKind::kSequence, .dtype = DType::kFloat32, .shape = {}});
  e.add("", "SequenceMap", 17, {sequence}, 1);
  e.node->provenance.sources = {e.graph.sources().add({"", "map_it", "SequenceMap"})};
  ir::Graph& body = e.block("body");
  ir::Value* element = body.addInput("element", {});
  body.addOutput(addTo(body, "Relu", {element}));
  const auto inside = e.graph.sources().add({"map_it/body/", "rectify", "Relu"});
  body.nodes()[0]->provenance.sources = {inside};
  ASSERT_EQ(e.expand(), "");
  const ir::Node& loop = *e.graph.outputs()[0]->producer;
  EXPECT_EQ(loop.opType, "Loop");
  EXPECT_EQ(describeNode(loop), "map_it (SequenceMap)");
  bool found = false;
  for (const auto& node : loop.blocks[0]->nodes())
    found = found || (node->opType == "Relu" && node->provenance.sources == std::vector{inside});
  EXPECT_TRUE(found);
}

/// A running sum over batches of sequences, with the sums as output.
struct BatchedSum : Expanded {
  explicit BatchedSum(bool withLengths, std::int64_t direction = 0) {
    ir::Value* lengths = withLengths ? graph.addInput("lengths", tensorOf(DType::kInt64, {2})) : nullptr;
    ir::Value* initial = graph.addInput("initial", tensorOf(DType::kFloat32, {2, 1}));
    ir::Value* x = graph.addInput("x", tensorOf(DType::kFloat32, {2, 3, 1}));
    add("", "Scan", 8, {lengths, initial, x}, 2);
    node->attributes.set("num_scan_inputs", std::int64_t{1});
    node->attributes.set("directions", std::vector<std::int64_t>{direction});
    ir::Graph& body = block("body");
    ir::Value* sum = body.addInput("sum", {});
    ir::Value* next = body.addInput("next", {});
    ir::Value* total = addTo(body, "Add", {sum, next});
    body.addOutput(total);
    body.addOutput(addTo(body, "Identity", {total}));
  }
  std::vector<std::string> texts(std::vector<std::int64_t> lengths) {
    std::vector<EvaluatedValue> inputs;
    if (!lengths.empty()) inputs.push_back(tensorValue(intTensor(std::move(lengths))));
    inputs.push_back(tensorValue(ref::makeFloats({2, 1}, {100, 200})));
    inputs.push_back(tensorValue(ref::makeFloats({2, 3, 1}, {1, 2, 3, 4, 5, 6})));
    const auto results = run(std::move(inputs));
    return {tensorText(results[0].tensor), tensorText(results[1].tensor)};
  }
};

TEST(BatchedScan, ScansEachEntry) {
  BatchedSum scan(false);
  ASSERT_EQ(scan.expand(), "");
  EXPECT_EQ(scan.texts({}),
            (std::vector<std::string>{"float32[2, 1] 106 215", "float32[2, 3, 1] 101 103 106 204 209 215"}));
}

TEST(BatchedScan, LengthsEndAnEntryAndTheRestIsZero) {
  BatchedSum scan(true);
  ASSERT_EQ(scan.expand(), "");
  EXPECT_EQ(scan.texts({2, 3}),
            (std::vector<std::string>{"float32[2, 1] 103 215", "float32[2, 3, 1] 101 103 0 204 209 215"}));
  EXPECT_EQ(scan.texts({0, 1}),
            (std::vector<std::string>{"float32[2, 1] 100 204", "float32[2, 3, 1] 0 0 0 204 0 0"}));
}

TEST(BatchedScan, BackwardsStartsAtTheLength) {
  BatchedSum scan(true, 1);
  ASSERT_EQ(scan.expand(), "");
  EXPECT_EQ(scan.texts({2, 3}),
            (std::vector<std::string>{"float32[2, 1] 103 215", "float32[2, 3, 1] 102 103 0 206 211 215"}));
}

/// FlexAttention whose score modifier doubles and whose probability modifier halves, of two query heads on one key head.
struct Flex : Expanded {
  explicit Flex(DType dtype, bool broken = false) {
    ir::Value* q = graph.addInput("q", tensorOf(dtype, {1, 2, 2, 1}));
    ir::Value* k = graph.addInput("k", tensorOf(dtype, {1, 1, 2, 1}));
    ir::Value* v = graph.addInput("v", tensorOf(dtype, {1, 1, 2, 1}));
    add("ai.onnx.preview", "FlexAttention", 1, {q, k, v}, 1);
    for (const auto& [name, factor] : {std::pair{"score_mod", 2.0}, std::pair{"prob_mod", 0.5}}) {
      ir::Graph& body = block(name);
      ir::Value* scores = body.addInput("scores", {});
      ir::Value* value = body.addConstant("", ref::makeFloats({}, {factor}), "test");
      ir::Value* result = addTo(body, "Mul", {scores, value});
      body.addOutput(broken ? addTo(body, "IsNaN", {result}) : result);
    }
  }
};

TEST(FlexAttention, ModifiersChangeScoresAndProbabilities) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
    Flex flex(dtype);
    ASSERT_EQ(flex.expand(), "");
    const auto results = flex.run({tensorValue(ref::makeTensor(dtype, {1, 2, 2, 1}, {1, 0, -1, 2})),
                                   tensorValue(ref::makeTensor(dtype, {1, 1, 2, 1}, {0, 1})),
                                   tensorValue(ref::makeTensor(dtype, {1, 1, 2, 1}, {0, 8}))});
    const auto found = ref::valuesOf(results[0].tensor);
    ASSERT_EQ(found.size(), 4U);
    const double queries[] = {1, 0, -1, 2};
    for (std::size_t i = 0; i < 4; ++i) {
      const double share = 1 / (1 + std::exp(-2 * queries[i]));
      EXPECT_NEAR(found[i], 0.5 * share * 8, dtype == DType::kFloat32 ? 1e-5 : 4e-3) << i;
    }
  }
}

TEST(FlexAttention, AModifierKeepsTheType) {
  Flex flex(DType::kFloat32, true);
  const std::string message = flex.expand();
  EXPECT_NE(message.find("score_mod"), std::string::npos) << message;
  EXPECT_NE(message.find("node"), std::string::npos) << message;
}

/// A node of com.microsoft with one output for each of `outputs`, run on these inputs.
std::vector<std::vector<double>> runFused(const char* opType, std::vector<Tensor> inputs,
                                          Attributes attributes, std::size_t outputs = 1) {
  Expanded e;
  std::vector<ir::Value*> values;
  std::vector<EvaluatedValue> operands;
  for (const Tensor& tensor : inputs) {
    std::vector<Size> dims(tensor.dims().begin(), tensor.dims().end());
    values.push_back(e.graph.addInput("x", tensorOf(tensor.dtype(), std::move(dims))));
    operands.push_back(tensorValue(tensor));
  }
  e.add("com.microsoft", opType, 1, std::move(values), outputs);
  e.node->attributes = std::move(attributes);
  EXPECT_EQ(e.expand(), "");
  std::vector<std::vector<double>> results;
  for (const EvaluatedValue& value : e.run(std::move(operands)))
    results.push_back(ref::valuesOf(value.tensor));
  return results;
}

TEST(Fused, BiasAddAndBiasSplitGelu) {
  EXPECT_EQ(runFused("BiasAdd",
                     {ref::makeFloats({1, 2, 2}, {1, 2, 3, 4}), ref::makeFloats({2}, {10, 20}),
                      ref::makeFloats({1, 2, 2}, {100, 200, 300, 400})},
                     {})[0],
            (std::vector<double>{111, 222, 313, 424}));
  const auto halves =
      runFused("BiasSplitGelu",
               {ref::makeFloats({1, 1, 4}, {1, 2, 0, 3}), ref::makeFloats({4}, {1, 0, 0, -2})}, {})[0];
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_EQ(halves[0], 0);
  EXPECT_NEAR(halves[1], 2 * 0.5 * (1 + std::erf(1 / std::sqrt(2.0))), 1e-6);
}

TEST(Fused, BiasSoftmaxOverOneAndOverSeveralAxes) {
  const Tensor data = ref::makeFloats({1, 2, 2}, {0, 1, 2, 3});
  const Tensor bias = ref::makeFloats({1, 1, 2}, {1, 0});
  const auto last =
      runFused("BiasSoftmax", {data, bias},
               attributesOf({{"axis", std::int64_t{2}}, {"is_inner_broadcast", std::int64_t{0}}}))[0];
  EXPECT_EQ(last, (std::vector<double>{0.5, 0.5, 0.5, 0.5}));
  const auto both =
      runFused("BiasSoftmax", {data, bias},
               attributesOf({{"axis", std::int64_t{1}}, {"is_inner_broadcast", std::int64_t{0}}}))[0];
  const double low = 0.5 / (1 + std::exp(2.0));
  ASSERT_EQ(both.size(), 4U);
  EXPECT_NEAR(both[0], low, 1e-6);
  EXPECT_NEAR(both[3], 0.5 - low, 1e-6);
}

TEST(Fused, GroupNormInBothLayouts) {
  // Two channels in one group: mean 2, variance 1.
  const Tensor scale = ref::makeFloats({2}, {1, 2}), shift = ref::makeFloats({2}, {0, 10});
  Attributes attributes = attributesOf({{"groups", std::int64_t{1}},
                                        {"activation", std::int64_t{0}},
                                        {"epsilon", 0.0F},
                                        {"channels_last", std::int64_t{0}}});
  EXPECT_EQ(runFused("GroupNorm", {ref::makeFloats({1, 2, 1, 2}, {1, 3, 1, 3}), scale, shift}, attributes)[0],
            (std::vector<double>{-1, 1, 8, 12}));
  attributes.set("channels_last", std::int64_t{1});
  EXPECT_EQ(runFused("GroupNorm", {ref::makeFloats({1, 1, 2, 2}, {1, 1, 3, 3}), scale, shift}, attributes)[0],
            (std::vector<double>{-1, 8, 1, 12}));
  attributes.set("activation", std::int64_t{1});
  const auto results = runFused("SkipGroupNorm",
                                {ref::makeFloats({1, 1, 2, 2}, {0, 0, 2, 2}), scale, shift,
                                 ref::makeFloats({1, 2}, {0.5, 0.75}), ref::makeFloats({2}, {0.5, 0.25})},
                                attributes, 2);
  EXPECT_EQ(results[1], (std::vector<double>{1, 1, 3, 3}));
  ASSERT_EQ(results[0].size(), 4U);
  EXPECT_NEAR(results[0][0], -1 / (1 + std::exp(1.0)), 1e-6);
  EXPECT_NEAR(results[0][3], 12 / (1 + std::exp(-12.0)), 1e-5);
}

}  // namespace
}  // namespace rota::op
