// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ref/kernel.h"
#include "runtime/context.h"
#include "runtime/testing.h"

namespace rota::runtime {
namespace {

using testing::boolTensor;
using testing::dimsOf;
using testing::floatsOf;
using testing::outputOf;
using testing::ProgramBuilder;
using testing::runWith;

Tensor floats(std::vector<float> values, std::vector<std::int64_t> dims) {
  return Tensor::ofFloat(std::move(values), std::move(dims));
}
Tensor scalar(std::int64_t value) { return Tensor::ofInt64({value}, {}); }

/// Input 0 repeated once more at its end: grows by its first element each time.
Status growByOne(ref::KernelContext& context) {
  const TensorView x = context.input(0);
  const std::int64_t dims[] = {x.count() + 1};
  auto out = context.output(0, dims);
  if (!out) return out.status();
  for (std::int64_t i = 0; i < x.count(); ++i) out->as<float>()[i] = x.as<float>()[i];
  out->as<float>()[x.count()] = static_cast<float>(x.count());
  return Status::ok();
}
const ref::RegisterKernel kGrowByOne("test", "GrowByOne", growByOne);

/// Appends tensor input 1 to the sequence input 0.
Status append(ref::KernelContext& context) {
  ref::Sequence* out = context.outputSequence(0);
  out->elements = context.inputSequence(0)->elements;
  const TensorView x = context.input(1);
  out->elements.push_back(floats({x.as<float>()[0]}, {}));
  return Status::ok();
}
const ref::RegisterKernel kAppend("test", "Append", append);

// --- If (C17)

/// y = condition ? x + c : (an outer value, unchanged); branch values have the same names.
ProgramBuilder choice() {
  ProgramBuilder b;
  const std::int32_t condition = b.input("condition", {}, DType::kBool);
  const std::int32_t x = b.input("x", b.dims({2}));
  const std::int32_t outer = b.value("outer", b.dims({2}));
  b.step(0, "ref:Mul", {x, x}, {outer});
  const std::uint32_t thenBlock = b.block("then");
  const std::int32_t c = b.constant("c", floats({10, 20}, {2}));
  const std::int32_t sum = b.value("inner", b.dims({2}));
  b.step(thenBlock, "ref:Add", {x, c}, {sum});
  b.program.blocks[thenBlock].results = {sum};
  const std::uint32_t elseBlock = b.block("else");
  b.program.blocks[elseBlock].results = {outer};
  const std::int32_t y = b.value("y", b.dims({2}), DType::kFloat32, Storage::kOutput);
  b.step(0, "flow.if", {condition}, {y}).blocks = {thenBlock, elseBlock};
  b.output(y);
  return b;
}

TEST(If, TakesOneBranch) {
  auto context = choice().context();
  const Tensor x = floats({3, 4}, {2});
  ASSERT_TRUE(runWith(*context, {{"condition", boolTensor(true)}, {"x", x}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{13, 24}));
  ASSERT_TRUE(runWith(*context, {{"condition", boolTensor(false)}, {"x", x}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{9, 16}));
}

TEST(If, BranchesOfDifferentRank) {
  ProgramBuilder b;
  const std::int32_t condition = b.input("condition", {}, DType::kBool);
  const std::uint32_t thenBlock = b.block("then");
  b.program.blocks[thenBlock].results = {b.constant("two", floats({1, 2}, {2}))};
  const std::uint32_t elseBlock = b.block("else");
  b.program.blocks[elseBlock].results = {b.constant("one", floats({3}, {1, 1}))};
  const std::int32_t y = b.unranked("y");
  b.step(0, "flow.if", {condition}, {y}).blocks = {thenBlock, elseBlock};
  const std::int32_t z = b.unranked("z");
  b.step(0, "ref:Add", {y, y}, {z}).shapeRule = ShapeRule::kBroadcast;
  b.output(y);
  b.output(z);
  auto context = b.context();
  ASSERT_TRUE(runWith(*context, {{"condition", boolTensor(true)}}));
  EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(floatsOf(outputOf(*context, "z")), (std::vector<float>{2, 4}));
  ASSERT_TRUE(runWith(*context, {{"condition", boolTensor(false)}}));
  EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(floatsOf(outputOf(*context, "z")), (std::vector<float>{6}));
}

TEST(If, AnOutputThatNobodyWants) {
  ProgramBuilder b = choice();
  b.program.blocks[0].steps[1].outputs = {kNone};
  b.program.blocks[0].results.clear();
  b.program.outputNames.clear();
  auto context = b.context();
  ASSERT_TRUE(runWith(*context, {{"condition", boolTensor(true)}, {"x", floats({3, 4}, {2})}}));
}

// --- Loop (C19)

/// while sum(x) < limit: x = x + 1, n = n + 1, up to `trips`; also stacks x and the number of the turn.
ProgramBuilder countingLoop(bool givesTrips, bool givesCondition, std::int64_t limit) {
  ProgramBuilder b;
  const std::int32_t x = b.input("x", b.dims({2}));
  const std::int32_t n = b.constant("zero", Tensor::ofInt64({0}, {}));
  const std::int32_t trips = givesTrips ? b.input("trips", {}, DType::kInt64) : kNone;
  const std::int32_t go = givesCondition ? b.input("go", {}, DType::kBool) : kNone;
  const std::int32_t one = b.constant("one", floats({1}, {}));
  const std::int32_t intOne = b.constant("int_one", Tensor::ofInt64({1}, {}));
  const std::int32_t bound = b.constant("bound", floats({static_cast<float>(limit)}, {}));

  const std::uint32_t body = b.block("body");
  const std::int32_t turn = b.param(body, "turn", {}, DType::kInt64);
  b.param(body, "go_in", {}, DType::kBool);
  const std::int32_t xIn = b.param(body, "x_in", b.dims({2}));
  const std::int32_t nIn = b.param(body, "n_in", {}, DType::kInt64);
  const std::int32_t xOut = b.value("x_out", b.at(xIn).dims);
  b.step(body, "ref:Add", {xIn, one}, {xOut});
  const std::int32_t nOut = b.value("n_out", {}, DType::kInt64);
  b.step(body, "ref:Add", {nIn, intOne}, {nOut});
  const std::int32_t total = b.value("total", b.dims({}));
  b.step(body, "ref:ReduceSum", {xOut}, {total}).parameters.set("keepdims", std::int64_t{0});
  const std::int32_t goOut = b.value("go_out", {}, DType::kBool);
  b.step(body, "ref:Less", {total, bound}, {goOut});
  b.program.blocks[body].results = {goOut, xOut, nOut, xOut, turn};

  const std::uint32_t turns = b.symbol("turns", SymbolOrigin::kDataDependent);
  const std::int32_t xLast = b.value("x_last", b.dims({2}), DType::kFloat32, Storage::kOutput);
  const std::int32_t nLast = b.value("n_last", {}, DType::kInt64, Storage::kOutput);
  const std::int32_t xAll = b.value("x_all", {turns, b.number(2)}, DType::kFloat32, Storage::kGrowing);
  b.bindLastSymbol(xAll, 0);
  const std::int32_t turnAll = b.value("turn_all", {turns}, DType::kInt64, Storage::kOutput);
  b.step(0, "flow.loop", {trips, go, x, n}, {xLast, nLast, xAll, turnAll}).blocks = {body};
  for (std::int32_t v : {xLast, nLast, xAll, turnAll}) b.output(v);
  return b;
}

TEST(Loop, RunsUntilItsConditionFails) {
  auto context = countingLoop(false, false, 10).context();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(runWith(*context, {{"x", floats({2.5F, 3.5F}, {2})}}));
    EXPECT_EQ(floatsOf(outputOf(*context, "x_last")), (std::vector<float>{4.5F, 5.5F}));
    EXPECT_EQ(intsOf(outputOf(*context, "n_last")), (std::vector<std::int64_t>{2}));
    EXPECT_EQ(floatsOf(outputOf(*context, "x_all")), (std::vector<float>{3.5F, 4.5F, 4.5F, 5.5F}));
    EXPECT_EQ(dimsOf(outputOf(*context, "x_all")), (std::vector<std::int64_t>{2, 2}));
  }
  ASSERT_TRUE(runWith(*context, {{"x", floats({0, 0}, {2})}}));
  EXPECT_EQ(intsOf(outputOf(*context, "turn_all")), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(Loop, NoTurns) {
  auto context = countingLoop(true, true, 1000).context();
  const Tensor x = floats({1, 2}, {2});
  ASSERT_TRUE(runWith(*context, {{"x", x}, {"trips", scalar(0)}, {"go", boolTensor(true)}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "x_last")), (std::vector<float>{1, 2}));
  EXPECT_EQ(dimsOf(outputOf(*context, "x_all")), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(dimsOf(outputOf(*context, "turn_all")), (std::vector<std::int64_t>{0}));
  ASSERT_TRUE(runWith(*context, {{"x", x}, {"trips", scalar(3)}, {"go", boolTensor(false)}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "x_last")), (std::vector<float>{1, 2}));
  ASSERT_TRUE(runWith(*context, {{"x", x}, {"trips", scalar(4)}, {"go", boolTensor(true)}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "x_last")), (std::vector<float>{5, 6}));
  EXPECT_EQ(intsOf(outputOf(*context, "turn_all")), (std::vector<std::int64_t>{0, 1, 2, 3}));
  ASSERT_TRUE(runWith(*context, {{"x", x}, {"trips", scalar(-1)}, {"go", boolTensor(true)}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "x_last")), (std::vector<float>{1, 2}))
      << "a negative trip count is none";
}

/// Carried values (a, b) become (b, a) for `trips` turns: results that the body passes on without computing them.
ProgramBuilder swapping(bool unranked) {
  ProgramBuilder b;
  const std::int32_t trips = b.input("trips", {}, DType::kInt64);
  const std::int32_t a = b.input("a", b.dims({2}));
  const std::int32_t c = b.input("c", unranked ? b.dims({3}) : b.dims({2}));
  const std::uint32_t body = b.block("body");
  b.param(body, "turn", {}, DType::kInt64);
  const std::int32_t go = b.param(body, "go", {}, DType::kBool);
  const std::int32_t first = b.param(body, "first", b.dims({2}));
  const std::int32_t second = b.param(body, "second", b.dims({2}));
  b.program.blocks[body].results = {go, second, first};
  const std::int32_t y = b.value("y", b.dims({2}));
  const std::int32_t z = b.value("z", b.dims({2}));
  if (unranked)
    for (std::int32_t v : {first, second, y, z}) {
      b.at(v).rankKnown = false;
      b.at(v).dims.clear();
    }
  b.step(0, "flow.loop", {trips, kNone, a, c}, {y, z}).blocks = {body};
  b.output(y);
  b.output(z);
  return b;
}

TEST(Loop, SwappedCarriedValues) {
  auto context = swapping(false).context();
  for (std::int64_t trips = 0; trips < 5; ++trips) {
    ASSERT_TRUE(runWith(*context,
                        {{"trips", scalar(trips)}, {"a", floats({1, 2}, {2})}, {"c", floats({3, 4}, {2})}}));
    EXPECT_EQ(floatsOf(outputOf(*context, trips % 2 == 0 ? "y" : "z")), (std::vector<float>{1, 2}));
    EXPECT_EQ(floatsOf(outputOf(*context, trips % 2 == 0 ? "z" : "y")), (std::vector<float>{3, 4}));
  }
}

TEST(Loop, SwappedCarriedValuesOfDifferentShape) {
  auto context = swapping(true).context();
  for (std::int64_t trips = 0; trips < 5; ++trips) {
    ASSERT_TRUE(runWith(
        *context, {{"trips", scalar(trips)}, {"a", floats({1, 2}, {2})}, {"c", floats({3, 4, 5}, {3})}}));
    EXPECT_EQ(floatsOf(outputOf(*context, trips % 2 == 0 ? "y" : "z")), (std::vector<float>{1, 2}));
    EXPECT_EQ(floatsOf(outputOf(*context, trips % 2 == 0 ? "z" : "y")), (std::vector<float>{3, 4, 5}));
  }
}

/// x grows by one element a turn; with a symbol for its length inside the body.
TEST(Loop, CarriedValueThatChangesShape) {
  ProgramBuilder b;
  const std::int32_t trips = b.input("trips", {}, DType::kInt64);
  const std::int32_t x = b.input("x", b.dims({1}));
  const std::uint32_t body = b.block("body");
  b.param(body, "turn", {}, DType::kInt64);
  const std::int32_t go = b.param(body, "go", {}, DType::kBool);
  const std::uint32_t length = b.symbol("length", SymbolOrigin::kDataDependent);
  const std::int32_t in = b.param(body, "in", {length});
  b.bindLastSymbol(in, 0);
  const std::int32_t grown = b.value("grown", {b.combine(SizeContext::Op::kAdd, length, b.number(1))});
  b.step(body, "ref:test:GrowByOne", {in}, {grown});
  const std::int32_t doubled = b.value("doubled", b.at(grown).dims);
  b.step(body, "ref:Add", {grown, grown}, {doubled});
  b.program.blocks[body].results = {go, doubled};
  const std::uint32_t last = b.symbol("last", SymbolOrigin::kDataDependent);
  const std::int32_t y = b.value("y", {last}, DType::kFloat32, Storage::kOutput);
  b.bindLastSymbol(y, 0);
  b.step(0, "flow.loop", {trips, kNone, x}, {y}).blocks = {body};
  b.output(y);
  auto context = b.context();
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(runWith(*context, {{"trips", scalar(3)}, {"x", floats({5}, {1})}}));
    // [5] -> [10, 2] -> [20, 4, 4] -> [40, 8, 8, 6]
    EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{40, 8, 8, 6}));
    ASSERT_TRUE(runWith(*context, {{"trips", scalar(0)}, {"x", floats({7}, {1})}}));
    EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{7}));
  }
}

TEST(Loop, StackedShapesMayNotChange) {
  ProgramBuilder b;
  const std::int32_t trips = b.input("trips", {}, DType::kInt64);
  const std::int32_t x = b.input("x", b.dims({1}));
  const std::uint32_t body = b.block("body");
  b.param(body, "turn", {}, DType::kInt64);
  const std::int32_t go = b.param(body, "go", {}, DType::kBool);
  const std::int32_t in = b.param(body, "in", {});
  b.at(in).rankKnown = false;
  const std::int32_t grown = b.unranked("grown");
  b.step(body, "ref:test:GrowByOne", {in}, {grown});
  b.program.blocks[body].results = {go, grown, grown};
  const std::int32_t y = b.unranked("y");
  const std::int32_t all = b.unranked("all");
  b.step(0, "flow.loop", {trips, kNone, x}, {y, all}).blocks = {body};
  b.output(all);
  auto context = b.context();
  ASSERT_TRUE(runWith(*context, {{"trips", scalar(1)}, {"x", floats({5}, {1})}}));
  EXPECT_EQ(dimsOf(outputOf(*context, "all")), (std::vector<std::int64_t>{1, 2}));
  const Tensor two = scalar(2);
  const Tensor start = floats({5}, {1});
  ASSERT_TRUE(context->setInput("trips", two.view()).isOk());
  ASSERT_TRUE(context->setInput("x", start.view()).isOk());
  const Status status = context->run();
  EXPECT_EQ(status.code(), ErrorCode::kShapeMismatch);
  EXPECT_EQ(status.detail().node, "y (flow.loop)");
}

/// Loop in If in Loop: y = x * 2^(inner trips) for every outer turn whose condition holds.
TEST(Loop, NestedInIfInLoop) {
  ProgramBuilder b;
  const std::int32_t x = b.input("x", b.dims({1}));
  const std::int32_t two = b.constant("two", Tensor::ofInt64({2}, {}));
  const std::int32_t three = b.constant("three", Tensor::ofInt64({3}, {}));
  const std::uint32_t outer = b.block("outer");
  const std::int32_t turn = b.param(outer, "turn", {}, DType::kInt64);
  const std::int32_t go = b.param(outer, "go", {}, DType::kBool);
  const std::int32_t state = b.param(outer, "state", b.dims({1}));
  const std::int32_t first = b.value("first", {}, DType::kBool);
  b.step(outer, "ref:Less", {turn, two}, {first});

  const std::uint32_t thenBlock = b.block("then");
  const std::uint32_t inner = b.block("inner");
  b.param(inner, "turn", {}, DType::kInt64);
  const std::int32_t innerGo = b.param(inner, "go", {}, DType::kBool);
  const std::int32_t innerState = b.param(inner, "state", b.dims({1}));
  const std::int32_t half = b.value("half", b.at(innerState).dims);
  b.step(inner, "ref:Add", {innerState, x}, {half});
  const std::int32_t doubled = b.value("doubled", b.at(innerState).dims);
  b.step(inner, "ref:Add", {half, innerState}, {doubled});
  b.program.blocks[inner].results = {innerGo, doubled};
  const std::int32_t innerLast = b.value("inner_last", b.dims({1}));
  b.step(thenBlock, "flow.loop", {two, kNone, state}, {innerLast}).blocks = {inner};
  b.program.blocks[thenBlock].results = {innerLast};
  const std::uint32_t elseBlock = b.block("else");
  b.program.blocks[elseBlock].results = {state};
  const std::int32_t chosen = b.value("chosen", b.at(state).dims);
  b.step(outer, "flow.if", {first}, {chosen}).blocks = {thenBlock, elseBlock};
  b.program.blocks[outer].results = {go, chosen};
  const std::int32_t y = b.value("y", b.dims({1}), DType::kFloat32, Storage::kOutput);
  b.step(0, "flow.loop", {three, kNone, x}, {y}).blocks = {outer};
  b.output(y);
  auto context = b.context();
  ASSERT_TRUE(runWith(*context, {{"x", floats({1}, {1})}}));
  // s -> 2s + x, twice a turn, in the first two of three turns: 1, 3, 7, 15, 31.
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{31}));
  context->setProfiling(true);
  ASSERT_TRUE(runWith(*context, {{"x", floats({2}, {1})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{62}));
  EXPECT_EQ(context->profile().size(), 6u);
}

TEST(Loop, CarriedSequences) {
  ProgramBuilder b;
  const std::int32_t trips = b.input("trips", {}, DType::kInt64);
  const std::int32_t x = b.input("x", b.dims({1}));
  const std::int32_t empty = b.input("empty", {});
  b.at(empty).kind = ValueKind::kSequence;
  const std::uint32_t body = b.block("body");
  b.param(body, "turn", {}, DType::kInt64);
  const std::int32_t go = b.param(body, "go", {}, DType::kBool);
  const std::int32_t list = b.param(body, "list", {});
  b.at(list).kind = ValueKind::kSequence;
  const std::int32_t value = b.param(body, "value", b.dims({1}));
  const std::int32_t longer = b.value("longer", {});
  b.at(longer).kind = ValueKind::kSequence;
  b.step(body, "ref:test:Append", {list, value}, {longer});
  const std::int32_t next = b.value("next", b.at(value).dims);
  b.step(body, "ref:Add", {value, value}, {next});
  b.program.blocks[body].results = {go, longer, next};
  const std::int32_t y = b.value("y", {});
  b.at(y).kind = ValueKind::kSequence;
  b.step(0, "flow.loop", {trips, kNone, empty, x}, {y, kNone}).blocks = {body};
  b.output(y);
  auto context = b.context();
  ASSERT_TRUE(context->setInputSequence("empty", {}).isOk());
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(runWith(*context, {{"trips", scalar(3)}, {"x", floats({1}, {1})}}));
    auto elements = context->outputSequence("y");
    ASSERT_TRUE(elements.isOk());
    ASSERT_EQ(elements->size(), 3u);
    EXPECT_EQ((*elements)[2].as<float>()[0], 4);
  }
  const Tensor given = floats({9}, {});
  const TensorView views[] = {given.view()};
  ASSERT_TRUE(context->setInputSequence("empty", views).isOk());
  ASSERT_TRUE(runWith(*context, {{"trips", scalar(3)}, {"x", floats({1}, {1})}}));
  EXPECT_EQ(context->outputSequence("y")->size(), 4u);
}

// --- Scan

/// Running sums of x along `axis`, with directions; stacked along `outputAxis`.
ProgramBuilder runningSum(std::int64_t axis, bool reversed, std::int64_t outputAxis, bool outputReversed) {
  ProgramBuilder b;
  const std::uint32_t length = b.symbol("length");
  const bool rows = axis == 0;
  const std::int32_t x = b.input("x", rows ? std::vector<std::uint32_t>{length, b.number(2)}
                                           : std::vector<std::uint32_t>{b.number(2), length});
  b.bindLastSymbol(x, rows ? 0 : 1);
  const std::int32_t start = b.constant("start", floats({0, 0}, {2}));
  const std::uint32_t body = b.block("body");
  const std::int32_t sum = b.param(body, "sum", b.dims({2}));
  const std::int32_t slice = b.param(body, "slice", b.dims({2}));
  const std::int32_t next = b.value("next", b.at(sum).dims);
  b.step(body, "ref:Add", {sum, slice}, {next});
  b.program.blocks[body].results = {next, next};
  const std::int32_t last = b.value("last", b.dims({2}));
  const std::int32_t all =
      b.value("all",
              outputAxis == 0 || outputAxis == -2 ? std::vector<std::uint32_t>{length, b.number(2)}
                                                  : std::vector<std::uint32_t>{b.number(2), length},
              DType::kFloat32, Storage::kOutput);
  Step& scan = b.step(0, "flow.scan", {start, x}, {last, all});
  scan.blocks = {body};
  scan.parameters.set("num_scan_inputs", std::int64_t{1});
  scan.parameters.set("scan_input_axes", std::vector<std::int64_t>{axis});
  scan.parameters.set("scan_input_directions", std::vector<std::int64_t>{reversed ? 1 : 0});
  scan.parameters.set("scan_output_axes", std::vector<std::int64_t>{outputAxis});
  scan.parameters.set("scan_output_directions", std::vector<std::int64_t>{outputReversed ? 1 : 0});
  b.output(last);
  b.output(all);
  return b;
}

TEST(Scan, Rows) {
  auto context = runningSum(0, false, 0, false).context();
  ASSERT_TRUE(runWith(*context, {{"x", floats({1, 2, 3, 4, 5, 6}, {3, 2})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "last")), (std::vector<float>{9, 12}));
  EXPECT_EQ(floatsOf(outputOf(*context, "all")), (std::vector<float>{1, 2, 4, 6, 9, 12}));
  ASSERT_TRUE(runWith(*context, {{"x", floats({}, {0, 2})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "last")), (std::vector<float>{0, 0}));
  EXPECT_EQ(dimsOf(outputOf(*context, "all")), (std::vector<std::int64_t>{0, 2}));
}

TEST(Scan, ColumnsReversed) {
  auto context = runningSum(-1, true, 1, false).context();
  ASSERT_TRUE(runWith(*context, {{"x", floats({1, 3, 5, 2, 4, 6}, {2, 3})}}));
  // Columns from the last: [5, 6], [8, 10], [9, 12].
  EXPECT_EQ(floatsOf(outputOf(*context, "last")), (std::vector<float>{9, 12}));
  EXPECT_EQ(floatsOf(outputOf(*context, "all")), (std::vector<float>{5, 8, 9, 6, 10, 12}));
}

TEST(Scan, OutputReversed) {
  auto context = runningSum(1, false, -2, true).context();
  ASSERT_TRUE(runWith(*context, {{"x", floats({1, 3, 5, 2, 4, 6}, {2, 3})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "all")), (std::vector<float>{9, 12, 4, 6, 1, 2}));
}

TEST(Scan, BadAxisIsRefused) {
  ProgramBuilder b = runningSum(0, false, 0, false);
  b.program.blocks[0].steps[0].parameters.set("scan_input_axes", std::vector<std::int64_t>{2});
  auto context = b.context();
  const Tensor x = floats({1, 2}, {1, 2});
  ASSERT_TRUE(context->setInput("x", x.view()).isOk());
  EXPECT_EQ(context->run().code(), ErrorCode::kBadAttribute);
}

}  // namespace
}  // namespace rota::runtime
