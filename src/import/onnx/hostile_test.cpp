// SPDX-License-Identifier: Apache-2.0
// Any bytes end in an answer: models cut, with bytes changed, and random bytes. Nothing is expected of the answer but that it comes, and that
// a cut model never imports as if it were whole unless what is missing is optional. The fuzzers go further.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/test_model.h"

namespace rota::onnx {
namespace {

using test::node;
using test::valueInfo;
using test::valueNamed;

/// A model with a bit of everything: function, loop, branch, initializers of several kinds, dynamic dims.
std::string richModel() {
  const auto body = test::graph(
      {.nodes = {node("Identity", {"go"}, {"on"}), node("Add", {"s", "w"}, {"t"})},
       .inputs = {test::valueOfType("i", 7), test::valueOfType("go", 9), test::valueOfType("s", 1)},
       .outputs = {valueNamed("on"), valueNamed("t")},
       .initializers = {}});
  const auto then = test::graph({.nodes = {node("Relu", {"l"}, {"r"})},
                                 .inputs = {},
                                 .outputs = {valueNamed("r")},
                                 .initializers = {}});
  const auto f =
      test::function({.name = "F",
                      .inputs = {"a"},
                      .outputs = {"b"},
                      .attributes = {},
                      .defaults = {test::intAttribute("axis", -1)},
                      .nodes = {node("Softmax", {"a"}, {"b"},
                                     {test::referenceAttribute("axis", AttributeKind::kInt, "axis")})},
                      .overload = ""});
  const auto typed = test::Message()
                         .addPacked(field::tensor::kDims, std::vector<std::int64_t>{2})
                         .add(field::tensor::kDataType, 1)
                         .add(field::tensor::kName, "v")
                         .addPacked(field::tensor::kFloatData, std::vector<float>{1, 2});
  return std::string(
      test::model(
          {.nodes = {node("Loop", {"n", "", "x"}, {"l"}, {test::graphAttribute("body", body)}, "loop"),
                     node("If", {"c"}, {"k"},
                          {test::graphAttribute("then_branch", then),
                           test::graphAttribute("else_branch", then)},
                          "if"),
                     node("Concat", {"k", "k"}, {"d"}, {test::intAttribute("axis", 0)}, "cat"),
                     node("Add", {"d", "v"}, {"e"}, {}, "add"), node("F", {"e"}, {"y"}, {}, "f", "test")},
           .inputs = {valueInfo("x", 1, {"batch", 2}), valueInfo("c", 9, {})},
           .outputs = {valueInfo("y", 1, {"out", 2})},
           .initializers = {test::floats("w", {2}, {1, 2}), test::ints("n", {}, {3}), typed}},
          {f})
          .bytes());
}

TEST(Hostile, TheModelItselfIsFine) {
  auto result = test::importBytes(richModel());
  ASSERT_TRUE(result.isOk()) << result.status().toString();
  ASSERT_TRUE(result->problems.empty()) << result->problems[0].toString();
}

TEST(Hostile, EveryCutIsRefused) {
  const std::string bytes = richModel();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    auto result = test::importBytes(std::string_view(bytes).substr(0, size));
    const bool isRefused = !result.isOk() || !result->problems.empty();
    EXPECT_TRUE(isRefused) << "cut at " << size;
    if (!result.isOk()) {
      EXPECT_FALSE(result.status().detail().message.empty());
    }
  }
}

TEST(Hostile, ChangedBytesNeverCrash) {
  const std::string bytes = richModel();
  std::mt19937 random(7);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      static_cast<void>(test::importBytes(changed));
    }
  }
  for (int round = 0; round < 2000; ++round) {
    std::string changed = bytes;
    for (int k = 0; k < 4; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    if (round % 4 == 0) changed.erase(random() % changed.size(), 1 + random() % 8);
    if (round % 4 == 1)
      changed.insert(random() % changed.size(), changed.substr(random() % changed.size(), random() % 64));
    static_cast<void>(test::importBytes(changed));
  }
}

TEST(Hostile, RandomBytesAreNoModel) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (!bytes.empty() && round % 2 == 0) bytes[0] = '\x08';
    auto result = test::importBytes(bytes);
    EXPECT_TRUE(!result.isOk() || !result->problems.empty());
  }
}

TEST(Hostile, NamesMustBeText) {
  const auto message = test::model({.nodes = {node("Relu", {"x"}, {"\xff\xfe"})},
                                    .inputs = {valueInfo("x", 1, {2})},
                                    .outputs = {valueNamed("x")},
                                    .initializers = {}});
  EXPECT_THAT(test::problemsOf(message), ::testing::HasSubstr("not UTF-8"));
}

TEST(Hostile, LongNamesAreRefused) {
  const auto message = test::model({.nodes = {node("Relu", {"x"}, {std::string(5000, 'n')})},
                                    .inputs = {valueInfo("x", 1, {2})},
                                    .outputs = {valueNamed("x")},
                                    .initializers = {}});
  EXPECT_THAT(test::problemsOf(message), ::testing::HasSubstr("longer than 4096 bytes"));
}

TEST(Hostile, ManyProblemsStayReadable) {
  std::vector<test::Message> nodes;
  for (int i = 0; i < 3000; ++i)
    nodes.push_back(node("Op" + std::to_string(i), {"x"}, {"y" + std::to_string(i)}));
  auto result = test::importMessage(test::model({.nodes = nodes,
                                                 .inputs = {valueInfo("x", 1, {2})},
                                                 .outputs = {valueNamed("y0")},
                                                 .initializers = {}}));
  ASSERT_TRUE(result.isOk());
  EXPECT_EQ(result->problems.size(), 1001U);
  EXPECT_THAT(result->problems.back().toString(), ::testing::HasSubstr("2000 further problems"));
}

}  // namespace
}  // namespace rota::onnx
