// SPDX-License-Identifier: Apache-2.0
// The evaluator on graphs in text form: plain nodes, sizes that only the data tell, If, Loop and Scan with captured values, and the errors.
#include "op/evaluate.h"

#include <gtest/gtest.h>

#include "core/check.h"
#include "op/definition.h"

namespace rota::op {
namespace {

using Values = std::vector<EvaluatedValue>;

EvaluatedValue floats(std::vector<float> values, std::vector<std::int64_t> dims) {
  return {.tensor = Tensor::ofFloat(std::move(values), std::move(dims)), .sequence = {}};
}
EvaluatedValue ints(std::vector<std::int64_t> values, std::vector<std::int64_t> dims) {
  return {.tensor = Tensor::ofInt64(std::move(values), std::move(dims)), .sequence = {}};
}
EvaluatedValue flag(bool value) {
  auto tensor = Tensor::allocate(DType::kBool, {});
  *tensor->mutableData() = static_cast<std::byte>(value ? 1 : 0);
  return {.tensor = *tensor, .sequence = {}};
}

class EvaluateTest : public testing::Test {
 protected:
  /// Runs the graph with this body.
  Result<Values> run(const std::string& body, const Values& inputs, const EvaluationObserver& observer = {}) {
    auto graph = ir::parseGraph("graph \"g\" {\n" + body + "\n}");
    if (!graph) return graph.status();
    graph_ = std::move(*graph);
    return evaluateGraph(*graph_, inputs, threads_, observer);
  }
  /// Output 0 as "[dims] values", or the error.
  std::string result(const std::string& body, const Values& inputs) {
    const auto outputs = run(body, inputs);
    return outputs.isOk() ? textOf((*outputs)[0].tensor) : outputs.status().toString();
  }
  static std::string textOf(const Tensor& tensor) {
    std::string text = "[";
    for (std::int64_t dim : tensor.dims()) text += (text.size() > 1 ? " " : "") + std::to_string(dim);
    text += "]";
    for (std::int64_t i = 0; i < tensor.count(); ++i)
      text += " " + std::to_string(static_cast<std::int64_t>(realAt(tensor.view(), i)));
    return text;
  }

  ThreadPool threads_{2};
  std::unique_ptr<ir::Graph> graph_;
};

TEST_F(EvaluateTest, NodesRunInOrder) {
  EXPECT_EQ(result(R"(symbol n [1, inf] input
    input %x: float32[n, 2]
    constant %one: float32[1] = {1.0}
    %y: ? = Add.14(%x, %one) "add"
    %z: ? = Mul.14(%y, %y) "mul"
    output %z)",
                   {floats({1, 2, 3, 4}, {2, 2})}),
            "[2 2] 4 9 16 25");
}

TEST_F(EvaluateTest, ShapesComeFromTheTensors) {
  // The target of the Reshape is computed from data; the recorded types know nothing.
  EXPECT_EQ(result(R"(input %x: float32[?]
    input %shape: int64[?]
    %s: ? = Neg.13(%shape) "neg"
    %y: ? = Reshape.13(%x, %s) "reshape"
    output %y)",
                   {floats({1, 2, 3, 4, 5, 6}, {6}), ints({-2, 1}, {2})}),
            "[2 3] 1 2 3 4 5 6");
}

TEST_F(EvaluateTest, KernelsFindDataDependentSizes) {
  EXPECT_EQ(result(R"(input %x: float32[?]
    %y: ? = NonZero.13(%x) "nonzero"
    output %y)",
                   {floats({0, 5, 0, 7}, {4})}),
            "[1 2] 1 3");
}

TEST_F(EvaluateTest, UnwantedOutputsAreNotMade) {
  const auto outputs = run(R"(input %x: float32[4]
    constant %k: int64[1] = {2}
    _, %i: ? = TopK.11(%x, %k) "topk"
    output %i)",
                           {floats({1, 9, 3, 7}, {4})});
  ASSERT_TRUE(outputs.isOk()) << outputs.status().toString();
  EXPECT_EQ(textOf((*outputs)[0].tensor), "[2] 1 3");
}

constexpr const char* kIf = R"(input %c: bool[]
    input %x: float32[?]
    %three: ? = Add.14(%x, %x) "double"
    %y: ? = If.16(%c) "if"
    block "then_branch" "t" {
      %a: ? = Add.14(%^three, %^x) "triple"
      output %a
    }
    block "else_branch" "e" {
      output %^x
    }
    output %y)";

TEST_F(EvaluateTest, IfTakesOneBranchAndSeesOuterValues) {
  EXPECT_EQ(result(kIf, {flag(true), floats({1, 2}, {2})}), "[2] 3 6");
  EXPECT_EQ(result(kIf, {flag(false), floats({1, 2}, {2})}), "[2] 1 2");
}

constexpr const char* kLoop = R"(input %m: int64[]
    input %c: bool[]
    input %x: float32[?]
    input %limit: float32[]
    %last: ?, %all: ? = Loop.16(%m, %c, %x) "loop"
    block "body" "b" {
      input %i: int64[]
      input %go: bool[]
      input %v: float32[?]
      %w: ? = Add.14(%v, %v) "double"
      %sum: ? = ReduceSum.13(%w) "sum" {keepdims = 0}
      %more: ? = Less.13(%sum, %^limit) "less"
      output %more
      output %w
      output %v
    }
    output %last
    output %all)";

TEST_F(EvaluateTest, LoopCarriesAndStacks) {
  const auto byCount = run(kLoop, {ints({3}, {}), flag(true), floats({1, 2}, {2}), floats({1000}, {})});
  ASSERT_TRUE(byCount.isOk()) << byCount.status().toString();
  EXPECT_EQ(textOf((*byCount)[0].tensor), "[2] 8 16");
  EXPECT_EQ(textOf((*byCount)[1].tensor), "[3 2] 1 2 2 4 4 8");
  const auto byCondition = run(kLoop, {ints({99}, {}), flag(true), floats({1, 2}, {2}), floats({10}, {})});
  ASSERT_TRUE(byCondition.isOk()) << byCondition.status().toString();
  EXPECT_EQ(textOf((*byCondition)[1].tensor), "[2 2] 1 2 2 4");
}

TEST_F(EvaluateTest, LoopWithoutIterations) {
  for (const auto& [trips, condition] :
       {std::pair(std::int64_t{0}, true), std::pair(std::int64_t{5}, false)}) {
    const auto outputs =
        run(kLoop, {ints({trips}, {}), flag(condition), floats({1, 2}, {2}), floats({10}, {})});
    ASSERT_TRUE(outputs.isOk()) << outputs.status().toString();
    EXPECT_EQ(textOf((*outputs)[0].tensor), "[2] 1 2");
    EXPECT_EQ((*outputs)[1].tensor.count(), 0);
    EXPECT_EQ((*outputs)[1].tensor.dtype(), DType::kFloat32);
  }
}

constexpr const char* kScan = R"(input %start: float32[1]
    input %xs: float32[?]
    input %scale: float32[]
    %last: ?, %all: ? = Scan.11(%start, %xs) "scan" {num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [-1]}
    block "body" "b" {
      input %state: float32[1]
      input %x: float32[1]
      %scaled: ? = Mul.14(%x, %^scale) "scale"
      %next: ? = Add.14(%state, %scaled) "add"
      output %next
      output %next
    }
    output %last
    output %all)";

TEST_F(EvaluateTest, ScanSlicesAndStacksAlongItsAxes) {
  const auto outputs = run(kScan, {floats({100}, {1}), floats({1, 2, 3}, {1, 3}), floats({10}, {})});
  ASSERT_TRUE(outputs.isOk()) << outputs.status().toString();
  EXPECT_EQ(textOf((*outputs)[0].tensor), "[1] 160");
  EXPECT_EQ(textOf((*outputs)[1].tensor), "[1 3] 130 150 160") << "from the last slice to the first";
}

TEST_F(EvaluateTest, ValuesOfOuterGraphsLiveAsLongAsTheyAreUsed) {
  // %a is used by both blocks at different depths and by a node after them.
  EXPECT_EQ(result(R"(input %c: bool[]
    input %x: float32[1]
    %a: ? = Add.14(%x, %x) "a"
    %y: ? = If.16(%c) "outer"
    block "then_branch" "t" {
      %z: ? = If.16(%^c) "inner"
      block "then_branch" "tt" {
        %w: ? = Add.14(%^^a, %^^a) "w"
        output %w
      }
      block "else_branch" "te" {
        output %^^a
      }
      output %z
    }
    block "else_branch" "e" {
      output %^a
    }
    %r: ? = Add.14(%y, %a) "r"
    output %r)",
                   {flag(true), floats({1}, {1})}),
            "[1] 6");
}

TEST_F(EvaluateTest, ObserverSeesEveryComputedValue) {
  std::string seen;
  const auto outputs =
      run(kLoop, {ints({2}, {}), flag(true), floats({1}, {1}), floats({99}, {})},
          [&seen](const ir::Value& value, const EvaluatedValue&) { seen += value.name + " "; });
  ASSERT_TRUE(outputs.isOk());
  EXPECT_EQ(seen, "w sum more w sum more last all ");
}

TEST_F(EvaluateTest, ErrorsNameTheNode) {
  const auto codeAndNode = [&](const std::string& body, const Values& inputs) {
    const auto outputs = run(body, inputs);
    return outputs.isOk() ? "ok"
                          : errorCodeText(outputs.status().code()) + " " + outputs.status().detail().node;
  };
  EXPECT_EQ(codeAndNode(R"(input %x: float32[2]
    input %i: int64[1]
    %y: ? = Gather.13(%x, %i) "gather"
    output %y)",
                        {floats({1, 2}, {2}), ints({7}, {1})}),
            "R1406 gather (Gather)");
  EXPECT_EQ(codeAndNode(R"(input %x: float32[?]
    %y: ? = Add.14(%x, %z) "add"
    output %y)",
                        {}),
            "R1208 line 3");
  EXPECT_EQ(codeAndNode(R"(input %x: float32[2]
    %y: ? = NoSuchOperator.14(%x) "what"
    output %y)",
                        {floats({1, 2}, {2})}),
            "R1201 what (NoSuchOperator)");
  // The error of a node in a block names that node, not the If around it.
  EXPECT_EQ(codeAndNode(R"(input %c: bool[]
    input %x: float32[?]
    %y: ? = If.16(%c) "if"
    block "then_branch" "t" {
      constant %k: float32[3] = {1.0, 2.0, 3.0}
      %a: ? = Add.14(%^x, %k) "inner"
      output %a
    }
    output %y)",
                        {flag(true), floats({1, 2}, {2})}),
            "R1204 inner (Add)");
  EXPECT_EQ(codeAndNode(kIf, {ints({1}, {}), floats({1}, {1})}), "R1403 c");
  EXPECT_EQ(codeAndNode(kIf, {flag(true)}), "R1401 g");
  EXPECT_EQ(codeAndNode("input %x: float32[2, 3]\n output %x", {floats({1, 2}, {2, 1})}), "R1402 x");
  EXPECT_EQ(codeAndNode(kScan, {floats({100}, {1}), floats({1, 2, 3}, {3}), floats({10}, {})}),
            "R1206 scan (Scan)");
}

TEST_F(EvaluateTest, SingleNodes) {
  ir::Graph graph;
  ir::Value* x = graph.addInput("x", {.dtype = DType::kFloat32, .shape = ir::Shape::unknown()});
  ir::Node* node = graph.addNode("add", "", "Add", 14, {x, x}, {"y"});
  const auto outputs = evaluateNode(*node, Values{floats({1, 2}, {2}), floats({3}, {1})}, threads_);
  ASSERT_TRUE(outputs.isOk()) << outputs.status().toString();
  EXPECT_EQ(textOf((*outputs)[0].tensor), "[2] 4 5");
  const auto missing = evaluateNode(*node, Values{floats({1, 2}, {2})}, threads_);
  ASSERT_FALSE(missing.isOk());
  EXPECT_EQ(missing.status().code(), ErrorCode::kInputMissing);
}

}  // namespace
}  // namespace rota::op
