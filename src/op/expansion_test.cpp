// SPDX-License-Identifier: Apache-2.0
// Every expansion gives what the kernel of its composite gives.
#include "op/expansion.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "op/evaluate.h"
#include "op/test_run.h"
#include "ref/common.h"
#include "ref/test_host.h"

namespace rota::op {
namespace {

/// A node whose expansion is compared with its kernel. Inputs have made-up values, or those of `given` (an empty tensor: left out).
struct Composite {
  std::string name;
  int version = 21;
  Attributes attributes{};
  std::vector<std::vector<std::int64_t>> inputDims{};
  std::size_t outputs = 1;
  DType dtype = DType::kFloat32;
  std::vector<Tensor> given{};
  std::string domain{};
  std::vector<std::size_t> unwanted{};  ///< Outputs that nobody asks for.
};

/// Values that differ, are positive for odd inputs (variances), and are not centred.
Tensor operand(DType dtype, const std::vector<std::int64_t>& dims, std::size_t input) {
  std::vector<double> values(static_cast<std::size_t>(elementCount(dims)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0.25 + static_cast<double>((i * 7 + input * 3) % 11) * 0.5;
  return ref::makeTensor(dtype, dims, values);
}

/// Values between -1 and 1 that differ from tensor to tensor.
Tensor centred(std::vector<std::int64_t> dims, std::size_t salt, DType dtype = DType::kFloat32) {
  std::vector<double> values(static_cast<std::size_t>(elementCount(dims)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((i * 37 + salt * 17 + 5) % 64) / 32 - 1;
  return ref::makeTensor(dtype, std::move(dims), values);
}

void expectSame(const Tensor& found, const Tensor& wanted, const std::string& what) {
  ASSERT_EQ(found.dims(), wanted.dims()) << what;
  ASSERT_EQ(found.dtype(), wanted.dtype()) << what;
  const double tolerance = info(wanted.dtype()).bits < 32 ? 1e-2 : 1e-5;
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    const double right = realAt(wanted.view(), i);
    if (realAt(found.view(), i) == right) continue;  // infinities
    ASSERT_NEAR(realAt(found.view(), i), right, tolerance * (1 + std::fabs(right)))
        << what << " element " << i;
  }
}

void expectExpansionMatches(const Composite& composite) {
  ir::Graph graph;
  std::vector<ir::Value*> inputs;
  std::vector<EvaluatedValue> values;
  std::vector<Tensor> tensors = composite.given;
  for (std::size_t i = 0; i < composite.inputDims.size(); ++i)
    tensors.push_back(operand(composite.dtype, composite.inputDims[i], i));
  for (const Tensor& tensor : tensors) {
    inputs.push_back(nullptr);
    if (!tensor.isGiven()) continue;
    std::vector<Size> dims(tensor.dims().begin(), tensor.dims().end());
    inputs.back() = graph.addInput("x", {.dtype = tensor.dtype(), .shape = ir::Shape::of(std::move(dims))});
    values.push_back({tensor, {}});
  }
  std::vector<std::string> names(composite.outputs, "y");
  for (const std::size_t i : composite.unwanted) names[i].clear();
  ir::Node* node = graph.addNode("node", composite.domain, composite.name, composite.version, inputs, names);
  node->attributes = composite.attributes;
  const Status status = inferNode(*node);
  ASSERT_TRUE(status.isOk()) << composite.name << status.toString();
  const std::vector<ir::Value*> outputs = node->outputs;
  for (ir::Value* output : outputs) {
    if (output != nullptr) graph.addOutput(output);
  }
  ThreadPool threads(1);
  const auto wanted = evaluateGraph(graph, values, threads);
  ASSERT_TRUE(wanted.isOk()) << composite.name << wanted.status().toString();

  ASSERT_NE(node->definition->expand, nullptr) << composite.name;
  const auto replaced = node->definition->expand(graph, *node);
  ASSERT_TRUE(replaced.isOk()) << composite.name << replaced.status().toString();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != nullptr) graph.replaceUses(outputs[i], replaced.value()[i]);
  }
  graph.eraseNode(node);
  const auto found = evaluateGraph(graph, values, threads);
  ASSERT_TRUE(found.isOk()) << composite.name << found.status().toString();
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    expectSame(found.value()[i].tensor, wanted.value()[i].tensor,
               composite.name + " output " + std::to_string(i));
  }
}

std::vector<Composite> normalisations() {
  const Attributes fromOne = attributesOf({{"axis", std::int64_t{1}}});
  const Attributes twoGroups = attributesOf({{"num_groups", std::int64_t{2}}});
  const Attributes plain = attributesOf({{"epsilon", 1e-5F}});
  return {
      {.name = "LayerNormalization", .inputDims = {{2, 3, 5}, {5}, {5}}, .outputs = 3},
      {.name = "LayerNormalization", .attributes = fromOne, .inputDims = {{2, 3, 5}, {3, 5}}},
      {.name = "LayerNormalization",
       .inputDims = {{2, 3, 5}, {5}, {5}},
       .outputs = 3,
       .dtype = DType::kFloat16},
      {.name = "RMSNormalization", .version = 23, .attributes = fromOne, .inputDims = {{2, 3, 5}, {5}}},
      {.name = "InstanceNormalization", .inputDims = {{2, 3, 4, 5}, {3}, {3}}},
      {.name = "BatchNormalization", .inputDims = {{2, 3, 4, 5}, {3}, {3}, {3}, {3}}},
      {.name = "BatchNormalization", .inputDims = {{2, 3}, {3}, {3}, {3}, {3}}, .dtype = DType::kBFloat16},
      {.name = "GroupNormalization", .attributes = twoGroups, .inputDims = {{2, 4, 3, 2}, {4}, {4}}},
      {.name = "GroupNormalization",
       .version = 18,
       .attributes = twoGroups,
       .inputDims = {{2, 4, 3, 2}, {2}, {2}}},
      {.name = "GroupNormalization", .attributes = twoGroups, .inputDims = {{0, 4, 3, 2}, {4}, {4}}},
      {.name = "MeanVarianceNormalization", .inputDims = {{2, 3, 4, 5}}},
      {.name = "SimplifiedLayerNormalization",
       .attributes = plain,
       .inputDims = {{2, 3, 5}, {5}},
       .outputs = 2},
      {.name = "SkipLayerNormalization",
       .version = 1,
       .attributes = plain,
       .inputDims = {{2, 3, 5}, {2, 3, 5}, {5}, {5}, {5}},
       .outputs = 4,
       .domain = "com.microsoft"},
      {.name = "SkipLayerNormalization",
       .version = 1,
       .inputDims = {{2, 3, 5}, {3, 5}, {5}},
       .dtype = DType::kFloat16,
       .domain = "com.microsoft"},
      {.name = "SkipSimplifiedLayerNormalization",
       .version = 1,
       .attributes = plain,
       .inputDims = {{2, 3, 5}, {2, 3, 5}, {5}, {5}},
       .outputs = 4,
       .domain = "com.microsoft",
       .unwanted = {1}},
  };
}

std::vector<Composite> softmaxes() {
  const Attributes first = attributesOf({{"axis", std::int64_t{0}}});
  std::vector<Composite> cases;
  for (const char* name : {"Softmax", "LogSoftmax"}) {
    cases.push_back({.name = name, .inputDims = {{2, 3, 5}}});
    cases.push_back({.name = name, .attributes = first, .inputDims = {{2, 3, 5}}});
    cases.push_back({.name = name, .version = 11, .inputDims = {{2, 3, 5}}});
    cases.push_back({.name = name, .inputDims = {{2, 3, 5}}, .dtype = DType::kFloat16});
    cases.push_back({.name = name, .inputDims = {{}}});
  }
  return cases;
}

Tensor bools(std::vector<std::int64_t> dims, const std::vector<double>& values) {
  return ref::makeTensor(DType::kBool, std::move(dims), values);
}

std::vector<Composite> attentions() {
  const Tensor q = centred({2, 4, 3, 4}, 1), k = centred({2, 2, 5, 4}, 2), v = centred({2, 2, 5, 3}, 3);
  const Tensor none;
  const std::int64_t one = 1, two = 2;
  const Attributes packed = attributesOf({{"q_num_heads", std::int64_t{4}}, {"kv_num_heads", two}});
  std::vector<Composite> cases{
      {.name = "Attention", .version = 23, .given = {q, k, v}},
      {.name = "Attention",
       .version = 23,
       .attributes = attributesOf({{"is_causal", one}}),
       .given = {q, k, v}},
      {.name = "Attention",
       .version = 23,
       .attributes = packed,
       .given = {centred({2, 3, 16}, 1), centred({2, 5, 8}, 2), centred({2, 5, 6}, 3)}},
      {.name = "Attention",
       .version = 23,
       .attributes = attributesOf({{"softcap", 0.5F}, {"scale", 0.7F}}),
       .given = {q, k, v, centred({3, 5}, 4)}},
      // The second query may see nothing; the mask is a key too short.
      {.name = "Attention",
       .version = 24,
       .given = {q, k, v, bools({3, 4}, {1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1})}},
      {.name = "Attention",
       .version = 24,
       .attributes = attributesOf({{"is_causal", one}}),
       .outputs = 3,
       .given = {q, k, v, none, centred({2, 2, 2, 4}, 5), centred({2, 2, 2, 3}, 6)}},
      {.name = "Attention",
       .version = 24,
       .attributes = attributesOf({{"is_causal", one}}),
       .given = {q, k, v, none, none, none, intTensor({5, 3})}},
      {.name = "Attention",
       .version = 25,
       .attributes = attributesOf({{"left_window_size", one}, {"right_window_size", one}}),
       .given = {q, k, v}},
      {.name = "Attention",
       .version = 23,
       .given = {centred({1, 2, 3, 4}, 1, DType::kFloat16), centred({1, 2, 3, 4}, 2, DType::kFloat16),
                 centred({1, 2, 3, 4}, 3, DType::kFloat16)}},
  };
  for (std::int64_t mode = 0; mode < 4; ++mode) {
    cases.push_back(
        {.name = "Attention",
         .version = 23,
         .attributes = attributesOf({{"qk_matmul_output_mode", mode}, {"is_causal", one}, {"softcap", 2.0F}}),
         .outputs = 4,
         .given = {q, k, v},
         .unwanted = {1, 2}});
  }
  const Tensor cosines = centred({6, 2}, 7), sines = centred({6, 2}, 8);
  const Tensor positions = Tensor::ofInt64({0, 5, 2, 3, 1, 4}, {2, 3});
  for (const std::int64_t interleaved : {0, 1}) {
    const Attributes how = attributesOf({{"interleaved", interleaved}});
    cases.push_back({.name = "RotaryEmbedding",
                     .version = 23,
                     .attributes = how,
                     .given = {centred({2, 2, 3, 4}, 1), cosines, sines, positions}});
    cases.push_back(
        {.name = "RotaryEmbedding",
         .version = 23,
         .attributes = attributesOf(
             {{"interleaved", interleaved}, {"num_heads", two}, {"rotary_embedding_dim", std::int64_t{4}}}),
         .given = {centred({2, 3, 12}, 1), centred({2, 3, 2}, 2), centred({2, 3, 2}, 3)}});
  }
  return cases;
}

/// A layer of 3 inputs and 2 hidden elements over 4 steps and 2 entries; with `lengths` the second entry ends after two steps.
Composite recurrentCase(const std::string& name, bool lengths, bool states, Attributes attributes) {
  const std::int64_t gates = name == "RNN" ? 1 : name == "GRU" ? 3 : 4;
  const std::int64_t directions = attributes.getString("direction") == "bidirectional" ? 2 : 1;
  const bool batchFirst = attributes.getInt("layout") != 0;
  const std::vector<std::int64_t> state =
      batchFirst ? std::vector<std::int64_t>{2, directions, 2} : std::vector<std::int64_t>{directions, 2, 2};
  Composite composite{.name = name, .version = 14, .attributes = std::move(attributes)};
  composite.attributes.set("hidden_size", std::int64_t{2});
  composite.outputs = name == "LSTM" ? 3 : 2;
  composite.given = {batchFirst ? centred({2, 4, 3}, 1) : centred({4, 2, 3}, 1),
                     centred({directions, gates * 2, 3}, 2),
                     centred({directions, gates * 2, 2}, 3),
                     states ? centred({directions, 2 * gates * 2}, 4) : Tensor(),
                     lengths ? ref::makeTensor(DType::kInt32, {2}, {4, 2}) : Tensor(),
                     states ? centred(state, 5) : Tensor()};
  if (name == "LSTM") {
    composite.given.push_back(states ? centred(state, 6) : Tensor());
    composite.given.push_back(states ? centred({directions, 6}, 7) : Tensor());
  }
  return composite;
}

std::vector<Composite> recurrences() {
  std::vector<Composite> cases;
  for (const char* name : {"RNN", "GRU", "LSTM"}) {
    cases.push_back(recurrentCase(name, false, false, {}));
    cases.push_back(recurrentCase(name, false, true, attributesOf({{"direction", std::string("reverse")}})));
    cases.push_back(
        recurrentCase(name, true, true, attributesOf({{"direction", std::string("bidirectional")}})));
    cases.push_back(
        recurrentCase(name, true, false, attributesOf({{"layout", std::int64_t{1}}, {"clip", 0.4F}})));
  }
  cases.push_back(recurrentCase("GRU", true, true, attributesOf({{"linear_before_reset", std::int64_t{1}}})));
  cases.push_back(recurrentCase("LSTM", false, true, attributesOf({{"input_forget", std::int64_t{1}}})));
  for (const char* function : {"Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh", "Sigmoid",
                               "Softplus", "Softsign", "ThresholdedRelu"}) {
    cases.push_back(recurrentCase("RNN", false, true,
                                  attributesOf({{"activations", std::vector<std::string>{function}},
                                                {"activation_alpha", std::vector<float>{0.3F}},
                                                {"activation_beta", std::vector<float>{0.6F}}})));
  }
  return cases;
}

TEST(Expansion, Normalisations) {
  for (const Composite& composite : normalisations()) expectExpansionMatches(composite);
}
TEST(Expansion, Softmax) {
  for (const Composite& composite : softmaxes()) expectExpansionMatches(composite);
}
TEST(Expansion, Attention) {
  for (const Composite& composite : attentions()) expectExpansionMatches(composite);
}
TEST(Expansion, Recurrent) {
  for (const Composite& composite : recurrences()) expectExpansionMatches(composite);
}

TEST(Expansion, NoneIsUntested) {
  std::set<std::string> tested;
  for (const auto& cases : {normalisations(), softmaxes(), attentions(), recurrences()}) {
    for (const Composite& composite : cases) tested.insert(composite.domain + "." + composite.name);
  }
  for (const Definition* definition : all()) {
    if (definition->expand == nullptr) continue;
    EXPECT_TRUE(tested.contains(definition->domain + "." + definition->name)) << definition->name;
  }
}

TEST(Expansion, NeedsARank) {
  TestGraph g;
  const auto outputs = g.add("Softmax", {g.input("x", DType::kFloat32, "?")});
  ASSERT_EQ(outputs.size(), 1U);
  const auto replaced = outputs[0]->producer->definition->expand(g.graph(), *outputs[0]->producer);
  ASSERT_FALSE(replaced.isOk());
  EXPECT_EQ(replaced.status().code(), ErrorCode::kBadGraph);
}

}  // namespace
}  // namespace rota::op
