// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect.h"

#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/writer.h"
#include "runtime/testing.h"

namespace rota::engine {
namespace {

using runtime::testing::ProgramBuilder;

/// Two sums around an If, at a profile's optimum.
Inspection inspected() {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n", SymbolOrigin::kInputDim, {1, 100});
  const std::int32_t x = b.input("x", {n});
  b.bindLastSymbol(x, 0);
  const std::int32_t go = b.input("go", {}, DType::kBool);
  const std::int32_t c = b.constant("c", Tensor::ofFloat({1}, {1}));
  const std::int32_t t = b.value("t", {n});
  b.step(0, "ref:Add", {x, c}, {t}).tactic = "reference";
  const std::uint32_t thenBlock = b.block("then");
  const std::int32_t inner = b.value("inner", {n});
  b.step(thenBlock, "ref:Add", {t, t}, {inner});
  b.program.blocks[thenBlock].results = {inner};
  const std::uint32_t elseBlock = b.block("else");
  b.program.blocks[elseBlock].results = {t};
  const std::int32_t y = b.value("y", {n}, DType::kFloat32, runtime::Storage::kOutput);
  b.step(0, "flow.if", {go}, {y}).blocks = {thenBlock, elseBlock};
  b.output(y);
  b.program.profiles.push_back({"p", {{x, {1}, {16}, {100}}}});

  const std::string path = ::testing::TempDir() + "rota_inspect_" + std::to_string(::getpid()) + ".rota";
  WriteOptions options;
  options.manifest = "{\"model\": \"m\xff\"}";
  const auto report = writeEngine(
      path, b.program,
      [&](std::size_t i) -> Result<std::span<const std::byte>> {
        return std::span<const std::byte>(b.constants[i].data(), b.constants[i].bytes());
      },
      options);
  EXPECT_TRUE(report.isOk()) << report.status().toString();
  auto engine = readEngine(path);
  EXPECT_TRUE(engine.isOk()) << engine.status().toString();
  Inspection inspection = inspect(**engine);
  inspection.file = "e.rota";
  std::filesystem::remove(path);
  return inspection;
}

TEST(Inspect, StepsAtTheOptimumOfTheProfile) {
  const Inspection in = inspected();
  ASSERT_EQ(in.steps.size(), 3u);
  EXPECT_EQ(in.steps[0].sources, "t (Add)");
  EXPECT_EQ(in.steps[0].outputs[0].type, "float32 [16]");
  EXPECT_EQ(in.steps[0].outputs[0].bytes, 64u);
  EXPECT_EQ(in.steps[0].liveBytes, 64u);
  EXPECT_EQ(in.steps[2].depth, 1);
  EXPECT_EQ(in.steps[2].block, "then");
  EXPECT_EQ(in.steps[2].liveBytes, 128u);
  EXPECT_EQ(in.arenaBytes, 128u);
  EXPECT_EQ(in.inputs[0].type, "float32 [n]");
  EXPECT_EQ(in.profiles, (std::vector<std::string>{"p: x 1:16:100"}));
}

TEST(Inspect, Text) {
  const std::string text = inspectText(inspected());
  for (const char* line :
       {"Engine e.rota\n", "format version 1, for cpu generic\n", "  x   float32 [n]\n",
        "  0    t (Add)\n         ref:Add  tactic reference\n         -> t  float32 [16]  (arena +",
        "  2      inner (Add)  in then\n", "  arena 128 B (largest live set 128 B)",
        "  initializer c  float32 [1]  4 B at +0  "})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
}

TEST(Inspect, Json) {
  const auto json = nlohmann::json::parse(inspectJson(inspected()), nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << "names that are not UTF-8 do not break it";
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["target"]["isa"], "generic");
  EXPECT_EQ(json["steps"][0]["outputs"][0]["bytes"], 64);
  EXPECT_EQ(json["memory"]["arena_bytes"], 128);
  EXPECT_EQ(json["weights"][0]["recipe"], "initializer c");
}

}  // namespace
}  // namespace rota::engine
