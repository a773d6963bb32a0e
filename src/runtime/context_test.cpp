// SPDX-License-Identifier: Apache-2.0
#include "runtime/context.h"

#include <numeric>

#include <gtest/gtest.h>

#include "ref/kernel.h"
#include "runtime/step_kernel.h"
#include "runtime/testing.h"

namespace rota::runtime {
namespace {

using testing::dimsOf;
using testing::floatsOf;
using testing::outputOf;
using testing::ProgramBuilder;
using testing::runWith;

Tensor floats(std::vector<float> values, std::vector<std::int64_t> dims) {
  return Tensor::ofFloat(std::move(values), std::move(dims));
}

/// y = (x + c) + x with x of [batch, 2].
ProgramBuilder twoAdds(Storage outputStorage = Storage::kOutput) {
  ProgramBuilder b;
  const std::uint32_t batch = b.symbol("batch", SymbolOrigin::kInputDim, {1, 64});
  const std::uint32_t two = b.number(2);
  const std::int32_t x = b.input("x", {batch, two});
  b.bindLastSymbol(x, 0);
  const std::int32_t c = b.constant("c", floats({10, 20}, {2}));
  const std::int32_t t = b.value("t", {batch, two});
  const std::int32_t y = b.value("y", {batch, two}, DType::kFloat32, outputStorage);
  b.step(0, "ref:Add", {x, c}, {t});
  b.step(0, "ref:Add", {t, x}, {y});
  b.output(y);
  return b;
}

TEST(Context, RunsAStraightLine) {
  for (Storage storage : {Storage::kOutput, Storage::kArena, Storage::kGrowing}) {
    auto context = twoAdds(storage).context();
    ASSERT_TRUE(runWith(*context, {{"x", floats({1, 2, 3, 4}, {2, 2})}}));
    EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{12, 24, 16, 28}));
    EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{2, 2}));
  }
}

TEST(Context, ShapesComeAndGo) {
  auto context = twoAdds().context();
  for (int round = 0; round < 2; ++round)
    for (std::int64_t n = 1; n <= 12; ++n) {
      std::vector<float> x(static_cast<std::size_t>(2 * n));
      std::iota(x.begin(), x.end(), 0.0F);
      ASSERT_TRUE(runWith(*context, {{"x", floats(x, {n, 2})}}));
      const auto y = floatsOf(outputOf(*context, "y"));
      for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], 2 * x[i] + (i % 2 == 0 ? 10 : 20));
    }
  EXPECT_EQ(context->implicitPrepares(),
            12u);  // without a profile every larger shape needs more room; coming back needs none
  for (std::int64_t n = 9; n <= 12; ++n)
    ASSERT_TRUE(runWith(*context, {{"x", floats(std::vector<float>(2 * n), {n, 2})}}));
  EXPECT_EQ(context->implicitPrepares(), 12u);
}

TEST(Context, PrepareMakesRunsExplicit) {
  auto context = twoAdds().context();
  const Tensor x = floats({1, 2}, {1, 2});
  ASSERT_TRUE(context->setInput("x", x.view()).isOk());
  ASSERT_TRUE(context->prepare().isOk());
  ASSERT_TRUE(context->run().isOk());
  EXPECT_EQ(context->implicitPrepares(), 0u);
}

TEST(Context, WritesToCallerMemory) {
  auto context = twoAdds().context();
  std::vector<float> y(4, -1);
  ASSERT_TRUE(context->setOutputBuffer("y", y.data(), y.size() * sizeof(float)).isOk());
  ASSERT_TRUE(runWith(*context, {{"x", floats({1, 2, 3, 4}, {2, 2})}}));
  EXPECT_EQ(y, (std::vector<float>{12, 24, 16, 28}));
  EXPECT_EQ(outputOf(*context, "y").data, y.data());

  const Tensor large = floats(std::vector<float>(6), {3, 2});
  ASSERT_TRUE(context->setInput("x", large.view()).isOk());
  const Status status = context->run();
  EXPECT_EQ(status.code(), ErrorCode::kOutputBuffer);
  EXPECT_EQ(status.detail().expected, "24 bytes");
  EXPECT_FALSE(context->output("y").isOk()) << "a failed run leaves no result";
}

TEST(Context, UnalignedCallerMemory) {
  auto context = twoAdds().context();
  std::vector<std::byte> in(17);
  std::vector<std::byte> out(17);
  const std::vector<float> x = {1, 2, 3, 4};
  std::memcpy(in.data() + 1, x.data(), 16);
  const std::vector<std::int64_t> dims = {2, 2};
  ASSERT_TRUE(context->setInput("x", TensorView{DType::kFloat32, dims, in.data() + 1}).isOk());
  ASSERT_TRUE(context->setOutputBuffer("y", out.data() + 1, 16).isOk());
  ASSERT_TRUE(context->run().isOk());
  std::vector<float> y(4);
  std::memcpy(y.data(), out.data() + 1, 16);
  EXPECT_EQ(y, (std::vector<float>{12, 24, 16, 28}));
}

TEST(Context, InputsAndConstantsAsOutputs) {
  ProgramBuilder b;
  const std::int32_t x = b.input("x", b.dims({3}));
  const std::int32_t c = b.constant("c", floats({7, 8}, {2}));
  b.output(x, "same");
  b.output(c, "fixed");
  b.output(b.alias("middle", x, b.dims({1}), 4), "middle");
  auto context = b.context();
  Tensor input = floats({1, 2, 3}, {3});
  ASSERT_TRUE(runWith(*context, {{"x", input}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "same")), (std::vector<float>{1, 2, 3}));
  EXPECT_NE(outputOf(*context, "same").data, input.data()) << "the caller may free its input after run";
  EXPECT_EQ(floatsOf(outputOf(*context, "fixed")), (std::vector<float>{7, 8}));
  EXPECT_EQ(floatsOf(outputOf(*context, "middle")), (std::vector<float>{2}));
}

TEST(Context, OneValueUnderTwoNames) {
  ProgramBuilder b = twoAdds();
  b.output(b.program.blocks[0].results[0], "again");
  auto context = b.context();
  std::vector<float> again(2);
  ASSERT_TRUE(context->setOutputBuffer("again", again.data(), 8).isOk());
  ASSERT_TRUE(runWith(*context, {{"x", floats({1, 2}, {1, 2})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{12, 24}));
  EXPECT_EQ(again, (std::vector<float>{12, 24}));
}

TEST(Context, RefusesWrongInputs) {
  auto context = twoAdds().context();
  EXPECT_EQ(context->run().code(), ErrorCode::kInputMissing);

  const Tensor ints = Tensor::ofInt64({1, 2}, {1, 2});
  const Status type = context->setInput("x", ints.view());
  EXPECT_EQ(type.code(), ErrorCode::kInputType);
  EXPECT_EQ(type.detail().expected, "float32");
  EXPECT_EQ(type.detail().found, "int64");

  const Status name = context->setInput("z", ints.view());
  EXPECT_EQ(name.code(), ErrorCode::kUnknownName);
  EXPECT_EQ(name.detail().expected, "'x'");

  const Tensor flat = floats({1, 2}, {2});
  ASSERT_TRUE(context->setInput("x", flat.view()).isOk());
  const Status rank = context->run();
  EXPECT_EQ(rank.code(), ErrorCode::kInputShape);
  EXPECT_EQ(rank.detail().expected, "[batch, 2]");
  EXPECT_EQ(rank.detail().found, "[2]");

  const Tensor wide = floats({1, 2, 3}, {1, 3});
  ASSERT_TRUE(context->setInput("x", wide.view()).isOk());
  const Status dim = context->run();
  EXPECT_EQ(dim.code(), ErrorCode::kInputShape);
  EXPECT_EQ(dim.detail().node, "dim 1 of input 'x'");
  EXPECT_EQ(dim.detail().expected, "2");
  EXPECT_EQ(dim.detail().found, "3");

  const Tensor tall = floats(std::vector<float>(130), {65, 2});
  ASSERT_TRUE(context->setInput("x", tall.view()).isOk());
  const Status range = context->prepare();
  EXPECT_EQ(range.code(), ErrorCode::kInputShape);
  EXPECT_EQ(range.detail().node, "dim 0 of input 'x' ('batch')");
  EXPECT_EQ(range.detail().expected, "1 to 64");
  EXPECT_EQ(range.detail().found, "65");

  ASSERT_TRUE(runWith(*context, {{"x", floats({1, 2}, {1, 2})}})) << "a context survives refused inputs";
}

TEST(Context, RefusesShapesOutsideEveryProfile) {
  ProgramBuilder b = twoAdds();
  b.program.profiles.push_back({"small", {{b.program.blocks[0].params[0], {1, 2}, {2, 2}, {4, 2}}}});
  b.program.profiles.push_back({"large", {{b.program.blocks[0].params[0], {16, 2}, {16, 2}, {32, 2}}}});
  auto context = b.context();
  ASSERT_TRUE(runWith(*context, {{"x", floats(std::vector<float>(34), {17, 2})}}));
  const Tensor between = floats(std::vector<float>(16), {8, 2});
  ASSERT_TRUE(context->setInput("x", between.view()).isOk());
  const Status status = context->run();
  EXPECT_EQ(status.code(), ErrorCode::kOutOfProfile);
  EXPECT_EQ(status.detail().node, "dim 0 of input 'x' ('batch')");
  EXPECT_EQ(status.detail().expected, "1 to 4 (profile 'small')");
  EXPECT_EQ(status.detail().found, "8");
  EXPECT_EQ(inputInfo(b.program)[0].optDims, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(inputInfo(b.program)[0].dims, (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(inputInfo(b.program)[0].dimNames, (std::vector<std::string>{"batch", ""}));
}

TEST(Context, GuardsNameInputsValuesAndNode) {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n");
  const std::int32_t x = b.input("x", {n});
  b.bindLastSymbol(x, 0);
  const std::uint32_t m = b.symbol("m");
  const std::int32_t z = b.input("z", {m});
  b.bindLastSymbol(z, 0);
  const std::int32_t y = b.value("y", {n}, DType::kFloat32, Storage::kOutput);
  b.step(0, "ref:Add", {x, z}, {y});
  b.output(y);
  b.program.guards.push_back(
      {Guard::Kind::kEqual, n, m, "y (Add)", "the operands of a sum have the same dims"});
  auto context = b.context();
  ASSERT_TRUE(runWith(*context, {{"x", floats({1, 2}, {2})}, {"z", floats({3, 4}, {2})}}));
  const Tensor three = floats({1, 2, 3}, {3});
  ASSERT_TRUE(context->setInput("z", three.view()).isOk());
  const Status status = context->run();
  EXPECT_EQ(status.code(), ErrorCode::kShapeGuard);
  EXPECT_EQ(status.detail().node, "y (Add)");
  EXPECT_EQ(status.detail().expected, "'n' = 'm' (the operands of a sum have the same dims)");
  EXPECT_EQ(status.detail().found, "2 and 3, where 'n' is dim 0 of input 'x'; 'm' is dim 0 of input 'z'");
}

TEST(Context, AliasesFollowTheirRoots) {
  // y = reshape(x + x) viewed as its second row, plus the input viewed from an offset.
  ProgramBuilder b;
  const std::int32_t x = b.input("x", b.dims({4}));
  const std::int32_t t = b.value("t", b.dims({4}));
  b.step(0, "ref:Add", {x, x}, {t});
  const std::int32_t square = b.alias("square", t, b.dims({2, 2}));
  const std::int32_t row = b.alias("row", square, b.dims({2}), 8);
  const std::int32_t tail = b.alias("tail", x, b.dims({2}), 8);
  const std::int32_t y = b.value("y", b.dims({2}), DType::kFloat32, Storage::kOutput);
  b.step(0, "ref:Add", {row, tail}, {y});
  b.output(y);
  auto context = b.context();
  ASSERT_TRUE(runWith(*context, {{"x", floats({1, 2, 3, 4}, {4})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{9, 12}));
  ASSERT_TRUE(runWith(*context, {{"x", floats({5, 6, 7, 8}, {4})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{21, 24}));
}

/// Indices of the elements of input 0 that are not zero, as [1, count]; with a second input its elements there, as [count].
Status nonZeroElements(ref::KernelContext& context) {
  const TensorView x = context.input(0);
  const bool takes = context.hasInput(1);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < x.count(); ++i) count += realAt(x, i) != 0 ? 1 : 0;
  const std::vector<std::int64_t> dims =
      takes ? std::vector<std::int64_t>{count} : std::vector<std::int64_t>{1, count};
  auto out = context.output(0, dims);
  if (!out) return out.status();
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    if (realAt(x, i) == 0) continue;
    if (takes)
      out->as<float>()[at++] = context.input(1).as<float>()[i];
    else
      out->as<std::int64_t>()[at++] = i;
  }
  return Status::ok();
}
const ref::RegisterKernel kNonZeroElements("test", "NonZero", nonZeroElements);

/// NonZero of x [4], a view of it, and a sum behind that.
ProgramBuilder nonZero(Storage outputStorage, SizeRange range) {
  ProgramBuilder b;
  const std::int32_t x = b.input("x", b.dims({4}));
  const std::uint32_t count = b.symbol("count", SymbolOrigin::kDataDependent, range);
  const std::int32_t where = b.value("where", {b.number(1), count}, DType::kInt64, Storage::kArena);
  b.bindLastSymbol(where, 1);
  b.step(0, "ref:test:NonZero", {x}, {where});
  const std::int32_t flat = b.alias("flat", where, {count});
  const std::int32_t doubled = b.value("doubled", {count}, DType::kInt64, outputStorage);
  b.step(0, "ref:Add", {flat, flat}, {doubled});
  b.output(doubled);
  return b;
}

TEST(Context, SizesFoundWhileRunning) {
  for (Storage storage : {Storage::kOutput, Storage::kArena}) {
    auto context = nonZero(storage, {0, 4}).context();
    ASSERT_TRUE(runWith(*context, {{"x", floats({0, 2, 0, 4}, {4})}}));
    EXPECT_EQ(intsOf(outputOf(*context, "doubled")), (std::vector<std::int64_t>{2, 6}));
    ASSERT_TRUE(runWith(*context, {{"x", floats({0, 0, 0, 0}, {4})}}));
    EXPECT_EQ(dimsOf(outputOf(*context, "doubled")), (std::vector<std::int64_t>{0}));
    ASSERT_TRUE(runWith(*context, {{"x", floats({1, 1, 1, 1}, {4})}}));
    EXPECT_EQ(intsOf(outputOf(*context, "doubled")), (std::vector<std::int64_t>{0, 2, 4, 6}));
  }
}

TEST(Context, FoundSizesOutsideTheirRangeNameTheNode) {
  auto context = nonZero(Storage::kOutput, {0, 2}).context();
  const Tensor x = floats({1, 1, 1, 0}, {4});
  ASSERT_TRUE(context->setInput("x", x.view()).isOk());
  const Status status = context->run();
  EXPECT_EQ(status.code(), ErrorCode::kShapeGuard);
  EXPECT_EQ(status.detail().node, "where (NonZero)");
  EXPECT_EQ(status.detail().expected, "0 to 2 for 'count' of value 'where' of where (NonZero)");
  EXPECT_EQ(status.detail().found, "3");
}

TEST(Context, SizesReadFromTensors) {
  // y = reshape(x + x, shape) where shape is an input's data: a sync point and a view.
  ProgramBuilder b;
  const std::int32_t x = b.input("x", b.dims({6}));
  const std::int32_t shape = b.input("shape", b.dims({2}), DType::kInt64);
  const std::uint32_t rows = b.symbol("rows", SymbolOrigin::kHostResolved);
  b.bindLastSymbol(shape, 0);
  const std::uint32_t columns = b.symbol("columns", SymbolOrigin::kHostResolved);
  b.bindLastSymbol(shape, 1);
  b.program.guards.push_back({Guard::Kind::kEqual, b.combine(SizeContext::Op::kMul, rows, columns),
                              b.number(6), "reshape (Reshape)", "a Reshape keeps the number of elements"});
  b.step(0, "host.read_sizes", {shape}, {});
  const std::int32_t t = b.value("t", b.dims({6}));
  b.step(0, "ref:Add", {x, x}, {t});
  const std::int32_t view = b.alias("view", t, {rows, columns});
  const std::int32_t y = b.value("y", {columns, rows});
  b.step(0, "ref:Transpose", {view}, {y});
  b.output(y);
  auto context = b.context();
  const Tensor data = floats({1, 2, 3, 4, 5, 6}, {6});
  ASSERT_TRUE(runWith(*context, {{"x", data}, {"shape", Tensor::ofInt64({2, 3}, {2})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{2, 8, 4, 10, 6, 12}));
  EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{3, 2}));
  ASSERT_TRUE(runWith(*context, {{"shape", Tensor::ofInt64({6, 1}, {2})}}));
  EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{1, 6}));
  const Tensor bad = Tensor::ofInt64({2, 2}, {2});
  ASSERT_TRUE(context->setInput("shape", bad.view()).isOk());
  const Status status = context->run();
  EXPECT_EQ(status.code(), ErrorCode::kShapeGuard);
  EXPECT_EQ(status.detail().node, "reshape (Reshape)");
}

TEST(Context, UnknownRankThroughBroadcastRule) {
  ProgramBuilder b;
  const std::int32_t x = b.unranked("x", DType::kFloat32, Storage::kInput);
  b.program.blocks[0].params.push_back(x);
  b.program.inputNames.push_back("x");
  const std::int32_t c = b.constant("c", floats({1, 2}, {2}));
  const std::int32_t y = b.unranked("y");
  b.step(0, "ref:Add", {x, c}, {y}).shapeRule = ShapeRule::kBroadcast;
  b.output(y);
  auto context = b.context();
  ASSERT_TRUE(runWith(*context, {{"x", floats({1, 2, 3, 4}, {2, 1, 2})}}));
  EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{2, 1, 2}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{2, 4, 4, 6}));
  ASSERT_TRUE(runWith(*context, {{"x", floats({5}, {1})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{6, 7}));
  const Tensor three = floats({1, 2, 3}, {3});
  ASSERT_TRUE(context->setInput("x", three.view()).isOk());
  EXPECT_EQ(context->run().code(), ErrorCode::kShapeMismatch);
}

/// Counts its preparations, fills its workspace, and adds them to its input.
class CountingKernel final : public StepKernel {
 public:
  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    ++prepared_;
    workspaceBytes = static_cast<std::size_t>(binding.inputs[0].view.count()) * sizeof(float);
    return Status::ok();
  }
  Status run(const StepBinding& binding) override {
    const Operand& in = binding.inputs[0];
    if (in.view.count() > 0 && in.view.as<float>()[0] < 0)
      return Status(ErrorCode::kBadIndex, "An index lies outside of its table").found("-1");
    auto* work = static_cast<float*>(binding.workspace);
    for (std::int64_t i = 0; i < in.view.count(); ++i) work[i] = in.view.as<float>()[i];
    for (std::int64_t i = 0; i < in.view.count(); ++i)
      static_cast<float*>(binding.outputs[0].mutableData)[i] = work[i] + static_cast<float>(prepared_);
    return Status::ok();
  }

 private:
  int prepared_ = 0;
};
const RegisterStepKernel kCounting("test.counting",
                                   [](const StepKernelSpec&) -> Result<std::unique_ptr<StepKernel>> {
                                     return std::unique_ptr<StepKernel>(std::make_unique<CountingKernel>());
                                   });

ProgramBuilder counting() {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n");
  const std::int32_t x = b.input("x", {n});
  b.bindLastSymbol(x, 0);
  const std::int32_t t = b.value("t", {n});
  const std::int32_t y = b.value("y", {n}, DType::kFloat32, Storage::kOutput);
  b.step(0, "test.counting", {x}, {t});
  b.step(0, "test.counting", {t}, {y}).tactic = "counting, second";
  b.output(y);
  return b;
}

TEST(Context, KernelsArePreparedOncePerShape) {
  auto context = counting().context();
  const auto prepareFor = [&](const Tensor& x) {
    return context->setInput("x", x.view()).isOk() && context->prepare().isOk();
  };
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(prepareFor(floats({1, 2, 3}, {3})));
    ASSERT_TRUE(runWith(*context, {{"x", floats({1, 2, 3}, {3})}}));
    EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{3, 4, 5}));
  }
  ASSERT_TRUE(prepareFor(floats(std::vector<float>(1000, 1), {1000})));
  ASSERT_TRUE(runWith(*context, {{"x", floats(std::vector<float>(1000, 1), {1000})}}));
  ASSERT_TRUE(runWith(*context, {{"x", floats({1, 2, 3}, {3})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{3, 4, 5}))
      << "the arena has moved in between";
}

TEST(Context, ShapesThatNobodyPreparesShareTheirKernels) {
  auto context = counting().context();
  for (int i = 1; i <= 3; ++i) {
    // Another shape each time: the one object of each step gets ready again.
    std::vector<float> x(static_cast<std::size_t>(4 - i), 1);
    ASSERT_TRUE(runWith(*context, {{"x", floats(x, {4 - i})}}));
    EXPECT_EQ(floatsOf(outputOf(*context, "y")).front(), 1 + 2 * static_cast<float>(i));
  }
  EXPECT_EQ(context->implicitPrepares(), 1u);
}

TEST(Context, KernelsBehindFoundSizesArePreparedAgain) {
  ProgramBuilder b;
  const std::int32_t x = b.input("x", b.dims({4}));
  const std::uint32_t count = b.symbol("count", SymbolOrigin::kDataDependent);
  const std::int32_t kept = b.value("kept", {count});
  b.bindLastSymbol(kept, 0);
  const std::int32_t mask = b.input("mask", b.dims({4}), DType::kBool);
  b.step(0, "ref:test:NonZero", {mask, x}, {kept});
  const std::int32_t y = b.value("y", {count});
  b.step(0, "test.counting", {kept}, {y});
  b.output(y);
  auto context = b.context();
  const auto mask4 = [](std::vector<std::uint8_t> bits) {
    Tensor t = *Tensor::allocate(DType::kBool, {4});
    std::memcpy(t.mutableData(), bits.data(), 4);
    return t;
  };
  const Tensor data = floats({1, 2, 3, 4}, {4});
  ASSERT_TRUE(runWith(*context, {{"x", data}, {"mask", mask4({1, 0, 1, 0})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{2, 4}));
  ASSERT_TRUE(runWith(*context, {{"mask", mask4({0, 1, 1, 0})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{3, 4})) << "same dims: not prepared again";
  ASSERT_TRUE(runWith(*context, {{"mask", mask4({1, 1, 1, 0})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{3, 4, 5}));
}

TEST(Context, ErrorsNameTheSourceNode) {
  auto context = counting().context();
  const Tensor x = floats({-1}, {1});
  ASSERT_TRUE(context->setInput("x", x.view()).isOk());
  const Status status = context->run();
  EXPECT_EQ(status.code(), ErrorCode::kBadIndex);
  EXPECT_EQ(status.detail().node, "t (test.counting)");
}

TEST(Context, ProfilesByStep) {
  auto context = counting().context();
  EXPECT_TRUE(context->profile().empty());
  context->setProfiling(true);
  ASSERT_TRUE(runWith(*context, {{"x", floats(std::vector<float>(10000), {10000})}}));
  const auto times = context->profile();
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].sources, "t (test.counting)");
  EXPECT_EQ(times[0].tactic, "test.counting");
  EXPECT_EQ(times[1].tactic, "counting, second");
  EXPECT_GT(times[0].us, 0);
}

TEST(Context, MissingKernelsAreNamed) {
  ProgramBuilder b = counting();
  b.program.blocks[0].steps[0].kernel = "test.nowhere";
  auto loaded = b.load();
  ASSERT_FALSE(loaded.isOk());
  EXPECT_EQ(loaded.status().code(), ErrorCode::kLibraryMissing);
  EXPECT_EQ(loaded.status().detail().node, "t (test.counting)");

  b.program.blocks[0].steps[0].library = "nowhere";
  loaded = b.load();
  ASSERT_FALSE(loaded.isOk());
  EXPECT_EQ(loaded.status().code(), ErrorCode::kLibraryMissing);
  EXPECT_NE(loaded.status().detail().expected.find("librota_nowhere.so"), std::string::npos);
}

TEST(Context, ZeroSizedTensors) {
  auto context = counting().context();
  ASSERT_TRUE(runWith(*context, {{"x", floats({}, {0})}}));
  EXPECT_EQ(dimsOf(outputOf(*context, "y")), (std::vector<std::int64_t>{0}));
}

}  // namespace
}  // namespace rota::runtime
