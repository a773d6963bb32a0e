// SPDX-License-Identifier: Apache-2.0
#include "runtime/program.h"

#include <functional>

#include <gtest/gtest.h>

#include "runtime/testing.h"

namespace rota::runtime {
namespace {

using testing::ProgramBuilder;

/// An input, a constant, an alias, an If and a Loop.
ProgramBuilder sound() {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n", SymbolOrigin::kInputDim, {1, 9});
  const std::int32_t x = b.input("x", {n});  // 0
  b.bindLastSymbol(x, 0);
  const std::int32_t go = b.input("go", {}, DType::kBool);  // 1
  b.constant("c", Tensor::ofFloat({1}, {1}));               // 2
  const std::int32_t t = b.value("t", {n});                 // 3
  b.step(0, "ref:Add", {x, 2}, {t});
  b.alias("view", t, {n});                           // 4
  const std::uint32_t thenBlock = b.block("then");   // 1
  const std::int32_t inner = b.value("inner", {n});  // 5
  b.step(thenBlock, "ref:Add", {4, x}, {inner});
  b.program.blocks[thenBlock].results = {inner};
  const std::uint32_t elseBlock = b.block("else");  // 2
  b.program.blocks[elseBlock].results = {t};
  const std::int32_t y = b.value("y", {n}, DType::kFloat32, Storage::kOutput);  // 6
  b.step(0, "flow.if", {go}, {y}).blocks = {thenBlock, elseBlock};
  const std::uint32_t body = b.block("body");              // 3
  b.param(body, "turn", {}, DType::kInt64);                // 7
  b.param(body, "go_in", {}, DType::kBool);                // 8
  const std::int32_t state = b.param(body, "state", {n});  // 9
  b.program.blocks[body].results = {8, state};
  const std::int32_t z = b.value("z", {n});  // 10
  b.step(0, "flow.loop", {kNone, go, y}, {z}).blocks = {body};
  b.output(y);
  b.program.profiles.push_back({"p", {{x, {1}, {2}, {3}}}});
  return b;
}

TEST(Validate, AcceptsASoundProgram) {
  const Status status = validate(sound().program);
  EXPECT_TRUE(status.isOk()) << status.toString();
}

struct Fault {
  const char* rule;  ///< A part of the message.
  std::function<void(Program&)> change;
};

TEST(Validate, NamesTheBrokenRule) {
  const Fault faults[] = {
      {"there is a main block", [](Program& p) { p.blocks.clear(); }},
      {"operands are earlier entries",
       [](Program& p) { p.sizes.push_back({SizeContext::Op::kAdd, 0, 99, 0}); }},
      {"its symbol exists", [](Program& p) { p.sizes[0].immediate = 7; }},
      {"its symbol exists", [](Program& p) { p.sizes[0].immediate = -1; }},
      {"its range is not empty", [](Program& p) { p.symbols[0].range = {2, 1}; }},
      {"the dim that binds it exists", [](Program& p) { p.symbols[0].position = 1; }},
      {"an input binds it", [](Program& p) { p.symbols[0].value = 3; }},
      {"its dims exist", [](Program& p) { p.values[3].dims[0] = 1000; }},
      {"its rank is at most 16", [](Program& p) { p.values[3].dims.assign(17, 0); }},
      {"a tensor has a numeric element type", [](Program& p) { p.values[3].dtype = DType::kString; }},
      {"the layout's order is a permutation", [](Program& p) { p.values[3].layout.order = {1}; }},
      {"the layout orders every dim", [](Program& p) { p.values[3].layout.order = {0, 1}; }},
      {"a layout block has an axis and a size", [](Program& p) { p.values[3].layout.blocks = {{0, 0}}; }},
      {"its constant exists", [](Program& p) { p.values[2].constant = 1; }},
      {"it has the dims of its constant", [](Program& p) { p.values[2].dims[0] = 0; }},
      {"its bytes are those of its dims", [](Program& p) { p.constants[0].bytes = 3; }},
      {"its bytes are aligned", [](Program& p) { p.constants[0].offset = 4; }},
      {"its bytes are those of its dims",
       [](Program& p) {
         p.constants[0].dims[0] = -1;
         p.values[2].dims[0] = static_cast<std::uint32_t>(p.sizes.size());
         p.sizes.push_back({SizeContext::Op::kConstant, -1});
       }},
      {"the value it aliases exists", [](Program& p) { p.values[4].aliasOf = 99; }},
      {"aliases form no cycle", [](Program& p) { p.values[4].aliasOf = 4; }},
      {"its sizes exist", [](Program& p) { p.guards.push_back({Guard::Kind::kEqual, 0, 500, "", ""}); }},
      {"every input has a name", [](Program& p) { p.inputNames.pop_back(); }},
      {"every output has a name", [](Program& p) { p.outputNames.clear(); }},
      {"its parameters are inputs", [](Program& p) { p.blocks[0].params[0] = 3; }},
      {"it gives every dim", [](Program& p) { p.profiles[0].inputs[0].max.clear(); }},
      {"minimum, optimum and maximum are in order", [](Program& p) { p.profiles[0].inputs[0].opt[0] = 4; }},
      {"its kernel has a name", [](Program& p) { p.blocks[0].steps[0].kernel.clear(); }},
      {"its device exists", [](Program& p) { p.blocks[0].steps[0].device = 1; }},
      {"its stream exists", [](Program& p) { p.blocks[0].steps[0].stream = 1; }},
      {"its events exist", [](Program& p) { p.blocks[0].steps[0].waits = {0}; }},
      {"its sources exist", [](Program& p) { p.blocks[0].steps[0].sources = {77}; }},
      {"what it uses exists", [](Program& p) { p.blocks[0].steps[0].inputs[0] = -7; }},
      {"is defined before it is used", [](Program& p) { p.blocks[0].steps[0].inputs[0] = 6; }},
      {"is defined before it is used", [](Program& p) { p.blocks[0].steps[0].inputs[0] = 4; }},
      {"is defined before it is used", [](Program& p) { p.blocks[0].results[0] = 5; }},
      {"is defined once", [](Program& p) { p.blocks[1].steps[0].outputs[0] = 3; }},
      {"it defines neither constants nor aliases", [](Program& p) { p.blocks[0].steps[0].outputs[0] = 2; }},
      {"has memory of its own", [](Program& p) { p.values[3].storage = Storage::kBlockParam; }},
      {"reference kernels see plain layouts",
       [](Program& p) {
         p.values[5].layout.blocks = {{0, 8}};
         p.blocks[1].results = {3};
       }},
      {"have the same type and layout", [](Program& p) { p.values[5].dtype = DType::kFloat16; }},
      {"an If has a condition and two branches", [](Program& p) { p.blocks[0].steps[1].blocks.pop_back(); }},
      {"an If's condition is boolean", [](Program& p) { p.blocks[0].steps[1].inputs[0] = 3; }},
      {"a branch gives every output", [](Program& p) { p.blocks[2].results.clear(); }},
      {"a block belongs to one step", [](Program& p) { p.blocks[0].steps[1].blocks[1] = 1; }},
      {"its blocks exist", [](Program& p) { p.blocks[0].steps[1].blocks[1] = 0; }},
      {"control flow, and only that, has blocks", [](Program& p) { p.blocks[0].steps[0].blocks = {3}; }},
      {"every block belongs to a step", [](Program& p) { p.blocks.emplace_back(); }},
      {"a Loop's body gives condition and outputs", [](Program& p) { p.blocks[3].results.pop_back(); }},
      {"a Loop's condition is boolean", [](Program& p) { p.blocks[3].results[0] = 9; }},
      {"counts in int64", [](Program& p) { p.values[7].dtype = DType::kInt32; }},
      {"is stored as a block parameter", [](Program& p) { p.values[9].storage = Storage::kArena; }},
      {"outputs have plain layouts",
       [](Program& p) {
         for (std::int32_t v : {3, 5, 6, 9, 10})
           p.values[static_cast<std::size_t>(v)].layout.blocks = {{0, 8}};
         for (Block& b : p.blocks)
           for (Step& s : b.steps)
             if (s.blocks.empty()) s.kernel = "cpu.add";
       }},
      {"its values exist", [](Program& p) { p.states.push_back({"s", 0, 1000}); }},
  };
  for (const Fault& fault : faults) {
    ProgramBuilder b = sound();
    fault.change(b.program);
    const Status status = validate(b.program);
    ASSERT_EQ(status.code(), ErrorCode::kEngineDamaged) << fault.rule;
    EXPECT_NE(status.detail().message.find(fault.rule), std::string::npos)
        << fault.rule << " against " << status.toString();
    EXPECT_FALSE(status.detail().node.empty());
  }
}

TEST(Validate, NestingIsBounded) {
  ProgramBuilder b;
  const std::int32_t go = b.input("go", {}, DType::kBool);
  std::uint32_t at = 0;
  for (int depth = 0; depth < 100; ++depth) {
    const std::uint32_t thenBlock = b.block("then");
    const std::uint32_t elseBlock = b.block("else");
    b.step(at, "flow.if", {go}, {}).blocks = {thenBlock, elseBlock};
    at = thenBlock;
  }
  EXPECT_NE(validate(b.program).detail().message.find("nested at most 64 deep"), std::string::npos);
}

TEST(Program, SourcesInWords) {
  Program p;
  for (const char* name : {"a", "b", "c", "d", "e"}) p.sources.push_back({"loop/", name, "Relu"});
  EXPECT_EQ(describeSources(p, {}), "");
  EXPECT_EQ(describeSources(p, {1}), "loop/b (Relu)");
  EXPECT_EQ(describeSources(p, {0, 1, 2, 3, 4}), "loop/a (Relu), loop/b (Relu), loop/c (Relu) and 2 more");
}

TEST(Program, SizesInWords) {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n");
  const std::uint32_t m = b.symbol("m");
  const std::uint32_t sum = b.combine(SizeContext::Op::kAdd, n, b.number(1));
  EXPECT_EQ(sizeText(b.program, sum), "n + 1");
  EXPECT_EQ(sizeText(b.program, b.combine(SizeContext::Op::kMul, sum, sum)), "(n + 1)*(n + 1)");
  EXPECT_EQ(sizeText(b.program, b.combine(SizeContext::Op::kFloorDiv, sum, m)), "floordiv((n + 1), m)");
}

TEST(Program, BytesOfLayouts) {
  const std::vector<std::int64_t> dims = {2, 20, 3};
  EXPECT_EQ(layoutBytes(DType::kFloat32, dims, {}), 480u);
  EXPECT_EQ(layoutBytes(DType::kFloat32, dims, {{0, 2, 1}, {}}), 480u);
  EXPECT_EQ(layoutBytes(DType::kFloat32, dims, {{}, {{1, 8}}}), 576u) << "20 channels are padded to 24";
  EXPECT_EQ(layoutBytes(DType::kFloat32, dims, {{}, {{1, 4}, {0, 16}, {1, 2}}}), 16u * 24 * 3 * 4);
  EXPECT_EQ(layoutBytes(DType::kInt4, std::vector<std::int64_t>{3}, {}), 2u);
  EXPECT_EQ(layoutBytes(DType::kFloat32, std::vector<std::int64_t>{-1}, {{}, {{0, 8}}}), std::nullopt);
  EXPECT_EQ(layoutBytes(DType::kFloat32, std::vector<std::int64_t>{INT64_MAX}, {{}, {{0, 8}}}), std::nullopt);
}

}  // namespace
}  // namespace rota::runtime
