// SPDX-License-Identifier: Apache-2.0
// The text form: golden text of a graph that uses all of it, round trips, and texts that must be refused.
#include <cmath>

#include <gtest/gtest.h>

#include "ir/graph.h"

namespace rota::ir {
namespace {

constexpr const char* kGolden = R"(graph "main" {
  symbol batch [1, inf] input
  symbol "past + 1" [0, 64] host multiple 8
  symbol found [-inf, 9] data
  input %x: float32[batch, 3, "past + 1"]
  input %odd: sequence(int64[?])
  input %"a b": optional(sequence(bool[]))
  input %cache: state(float16[floordiv(batch + 1, 2)])
  constant %w: float32[3] = {1.0, -2.5, inf} recipe "initializer w" source "" "w" "Constant"
  constant %half: float16[2] = {0.0999755859, nan}
  constant %big: int64[17] = #d2c9d15b8e7a3c0011aa22bb33cc44dd recipe "initializer big"
  constant %u: uint64[1] = {18446744073709551615}
  %y: float32[batch, 3, "past + 1"], _ = Op.13(%x, _, %w) "op 1" {a = 1, b = 1.5, c = "text \"q\" \x0a", d = [1, -2], e = [1.0, nan], f = ["s"], g = ints[], h = floats[], i = tensor int64[2] {7, 8}, j = [tensor bool[] {1}]} source "scope/" "op" "Op"
  %s: int64[2] <batch, ?> = "com.vendor"::Shape.1(%y) "shape"
  %r: ? = If.16(%s) "if"
  block "then_branch" "then" {
    input %x: float32[?]
    %z: float32[?] = Add.14(%x, %^x) "add"
    _ = Print.1(%z) "print"
    output %z
  }
  block "else_branch" "else" {
    output %^y
  }
  output "result" = %r
  output "again" = %x
}
)";

TEST(GraphText, EverythingRoundTrips) {
  const auto parsed = parseGraph(kGolden);
  ASSERT_TRUE(parsed.isOk()) << parsed.status().toString();
  const Graph& graph = **parsed;
  std::string text = printGraph(graph);
  // The hash of a large constant is not kept: its elements become zeros. Everything else is.
  const auto hashAt = text.find('#');
  ASSERT_NE(hashAt, std::string::npos);
  const std::string expected = kGolden;
  text.replace(hashAt, 33, expected.substr(expected.find('#'), 33));
  EXPECT_EQ(text, expected);
  EXPECT_TRUE(verify(graph)) << verify(graph).toString();

  const Value* w = graph.findValue("w");
  EXPECT_EQ(w->recipe, "initializer w");
  EXPECT_EQ(graph.sources().describe(w->provenance), "w (Constant)");
  EXPECT_TRUE(std::isnan(realAt(graph.findValue("half")->constant.view(), 1)));
  const Node& op = *graph.nodes()[0];
  EXPECT_EQ(op.attributes.getString("c"), "text \"q\" \n");
  EXPECT_EQ(op.attributes.getFloat("b"), 1.5F);
  EXPECT_EQ(intsOf(op.attributes.getTensor("i")->view()), (std::vector<std::int64_t>{7, 8}));
  EXPECT_EQ(op.outputs[1], nullptr);
  EXPECT_EQ(graph.nodes()[1]->domain, "com.vendor");
  EXPECT_FALSE((*graph.findValue("s")->contents)[1].isValid());
  const Graph& then = *graph.nodes()[2]->block("then_branch");
  EXPECT_EQ(then.nodes()[0]->inputs[0], then.inputs()[0]);
  EXPECT_EQ(then.nodes()[0]->inputs[1], graph.inputs()[0]);
}

TEST(GraphText, BadTextsAreRefusedWithTheirLine) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "line 1"},
      {"graph \"g\" {", "line 1"},
      {"graph \"g\" {\n  input %x: float33[]\n}", "line 2"},
      {"graph \"g\" {\n  input %x: float32[n]\n}", "line 2"},
      {"graph \"g\" {\n  output %x\n}", "line 2"},
      {"graph \"g\" {\n  input %x: float32[]\n  %x: ? = A.1() \"a\"\n}", "line 3"},
      {"graph \"g\" {\n  constant %x: float32[2] = {1.0}\n}", "line 2"},
      {"graph \"g\" {\n  constant %x: float32[n] = {1.0}\n}", "line 2"},
      {"graph \"g\" {\n  symbol n [3, 2] input\n}", "line 2"},
      {"graph \"g\" {\n  symbol n [0, 2] input\n  symbol n [0, 2] input\n}", "line 3"},
      {"graph \"g\" {\n  %y: ? = A.1(%^x) \"a\"\n}", "line 2"},
      {"graph \"g\" {\n  %y: ? = A.1() \"a\" {k = }\n}", "line 2"},
      {"graph \"g\" {\n}\nmore", "line 3"},
  };
  for (const auto& [text, line] : cases) {
    const auto parsed = parseGraph(text);
    ASSERT_FALSE(parsed.isOk()) << text;
    EXPECT_EQ(parsed.status().code(), ErrorCode::kBadGraph);
    EXPECT_EQ(parsed.status().detail().node, line) << text << "\n" << parsed.status().toString();
  }
}

TEST(GraphText, NestingIsBounded) {
  std::string text = "graph \"g\" {\n";
  for (int i = 0; i < 1000; ++i) text += "%y: ? = If.1() \"a\" block \"b\" \"\" {\n";
  EXPECT_FALSE(parseGraph(text).isOk());
}

TEST(GraphText, TruncatedTextsNeverCrash) {
  const std::string text = kGolden;
  for (std::size_t length = 0; length + 2 < text.size(); length += 3)
    EXPECT_FALSE(parseGraph(text.substr(0, length)).isOk());
}

}  // namespace
}  // namespace rota::ir
