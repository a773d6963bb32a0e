// SPDX-License-Identifier: Apache-2.0
// Every expansion gives what the kernel of its composite gives.
#include "op/expansion.h"

#include <cmath>

#include <gtest/gtest.h>

#include "op/evaluate.h"
#include "op/test_graph.h"
#include "ref/common.h"
#include "ref/test_host.h"

namespace rota::op {
namespace {

struct Composite {
  std::string name;
  int version = 21;
  Attributes attributes{};
  std::vector<std::vector<std::int64_t>> inputDims{};
  std::size_t outputs = 1;
  DType dtype = DType::kFloat32;
};

/// Values that differ, are positive for odd inputs (variances), and are not centred.
Tensor operand(const Composite& composite, std::size_t input) {
  const Dims dims = composite.inputDims[input];
  std::vector<double> values(static_cast<std::size_t>(elementCount(dims)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0.25 + static_cast<double>((i * 7 + input * 3) % 11) * 0.5;
  return ref::makeTensor(composite.dtype, composite.inputDims[input], values);
}

void expectSame(const Tensor& found, const Tensor& wanted, const std::string& what) {
  ASSERT_EQ(found.dims(), wanted.dims()) << what;
  ASSERT_EQ(found.dtype(), wanted.dtype()) << what;
  const double tolerance = info(wanted.dtype()).bits < 32 ? 1e-2 : 1e-5;
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    const double right = realAt(wanted.view(), i);
    ASSERT_NEAR(realAt(found.view(), i), right, tolerance * (1 + std::fabs(right)))
        << what << " element " << i;
  }
}

void expectExpansionMatches(const Composite& composite) {
  TestGraph g;
  std::vector<ir::Value*> inputs;
  std::vector<EvaluatedValue> values;
  for (std::size_t i = 0; i < composite.inputDims.size(); ++i) {
    inputs.push_back(
        g.input("x" + std::to_string(i), composite.dtype, ref::dimsText(composite.inputDims[i])));
    values.push_back({operand(composite, i), {}});
  }
  const auto outputs =
      g.add(composite.name, inputs, composite.attributes, composite.outputs, composite.version);
  ASSERT_EQ(outputs.size(), composite.outputs) << composite.name << g.status().toString();
  for (ir::Value* output : outputs) g.graph().addOutput(output);
  ThreadPool threads(1);
  const auto wanted = evaluateGraph(g.graph(), values, threads);
  ASSERT_TRUE(wanted.isOk()) << composite.name << wanted.status().toString();

  ir::Node* node = outputs[0]->producer;
  ASSERT_NE(node->definition->expand, nullptr) << composite.name;
  const auto replaced = node->definition->expand(g.graph(), *node);
  ASSERT_TRUE(replaced.isOk()) << composite.name << replaced.status().toString();
  for (std::size_t i = 0; i < outputs.size(); ++i) g.graph().replaceUses(outputs[i], replaced.value()[i]);
  g.graph().eraseNode(node);
  const auto found = evaluateGraph(g.graph(), values, threads);
  ASSERT_TRUE(found.isOk()) << composite.name << found.status().toString();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    expectSame(found.value()[i].tensor, wanted.value()[i].tensor,
               composite.name + " output " + std::to_string(i));
  }
}

TEST(Expansion, Normalisations) {
  const Attributes fromOne = attributesOf({{"axis", std::int64_t{1}}});
  const Attributes twoGroups = attributesOf({{"num_groups", std::int64_t{2}}});
  expectExpansionMatches({.name = "LayerNormalization", .inputDims = {{2, 3, 5}, {5}, {5}}, .outputs = 3});
  expectExpansionMatches(
      {.name = "LayerNormalization", .attributes = fromOne, .inputDims = {{2, 3, 5}, {3, 5}}});
  expectExpansionMatches({.name = "LayerNormalization",
                          .inputDims = {{2, 3, 5}, {5}, {5}},
                          .outputs = 3,
                          .dtype = DType::kFloat16});
  expectExpansionMatches(
      {.name = "RMSNormalization", .version = 23, .attributes = fromOne, .inputDims = {{2, 3, 5}, {5}}});
  expectExpansionMatches({.name = "InstanceNormalization", .inputDims = {{2, 3, 4, 5}, {3}, {3}}});
  expectExpansionMatches({.name = "BatchNormalization", .inputDims = {{2, 3, 4, 5}, {3}, {3}, {3}, {3}}});
  expectExpansionMatches(
      {.name = "BatchNormalization", .inputDims = {{2, 3}, {3}, {3}, {3}, {3}}, .dtype = DType::kBFloat16});
  expectExpansionMatches(
      {.name = "GroupNormalization", .attributes = twoGroups, .inputDims = {{2, 4, 3, 2}, {4}, {4}}});
  expectExpansionMatches({.name = "GroupNormalization",
                          .version = 18,
                          .attributes = twoGroups,
                          .inputDims = {{2, 4, 3, 2}, {2}, {2}}});
  expectExpansionMatches(
      {.name = "GroupNormalization", .attributes = twoGroups, .inputDims = {{0, 4, 3, 2}, {4}, {4}}});
  expectExpansionMatches({.name = "MeanVarianceNormalization", .inputDims = {{2, 3, 4, 5}}});
}

TEST(Expansion, Softmax) {
  const Attributes first = attributesOf({{"axis", std::int64_t{0}}});
  for (const char* name : {"Softmax", "LogSoftmax"}) {
    expectExpansionMatches({.name = name, .inputDims = {{2, 3, 5}}});
    expectExpansionMatches({.name = name, .attributes = first, .inputDims = {{2, 3, 5}}});
    expectExpansionMatches({.name = name, .version = 11, .inputDims = {{2, 3, 5}}});
    expectExpansionMatches({.name = name, .inputDims = {{2, 3, 5}}, .dtype = DType::kFloat16});
    expectExpansionMatches({.name = name, .inputDims = {{}}});
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
