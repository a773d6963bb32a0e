// SPDX-License-Identifier: Apache-2.0
#include "engine/writer.h"

#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/cpu_info.h"
#include "core/file.h"
#include "engine/engine.h"
#include "engine/plan_read.h"
#include "engine/reader.h"
#include "engine/writer_plan.h"
#include "runtime/testing.h"

namespace rota::engine {
namespace {

using runtime::ShapeRule;
using runtime::Storage;
using runtime::testing::floatsOf;
using runtime::testing::outputOf;
using runtime::testing::ProgramBuilder;
using runtime::testing::runWith;

/// A folder of this test, removed at its end.
class Folder {
 public:
  Folder() {
    std::string pattern = ::testing::TempDir() + "rota_writer_XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Tensor floats(std::vector<float> values, std::vector<std::int64_t> dims) {
  return Tensor::ofFloat(std::move(values), std::move(dims));
}

/// y = x + c, z = x + d where c and d have equal contents.
ProgramBuilder sums() {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n", SymbolOrigin::kInputDim, {1, 100});
  const std::int32_t x = b.input("x", {n, b.number(2)});
  b.bindLastSymbol(x, 0);
  const std::int32_t c = b.constant("c", floats({1, 2}, {2}));
  const std::int32_t d = b.constant("d", floats({1, 2}, {2}));
  const std::int32_t e = b.constant("e", floats({1, 2, 3}, {3}));
  const std::int32_t y = b.value("y", {n, b.number(2)}, DType::kFloat32, Storage::kOutput);
  const std::int32_t z = b.value("z", {n, b.number(2)}, DType::kFloat32, Storage::kOutput);
  b.step(0, "ref:Add", {x, c}, {y});
  b.step(0, "ref:Add", {x, d}, {z});
  b.output(y);
  b.output(z);
  b.output(e);
  return b;
}

ConstantBytes bytesOf(const ProgramBuilder& b) {
  return [&b](std::size_t i) -> Result<std::span<const std::byte>> {
    return std::span<const std::byte>(b.constants[i].data(), b.constants[i].bytes());
  };
}

WriteOptions options() {
  WriteOptions o;
  o.manifest = R"({"model": "sums"})";
  return o;
}

std::string contentOf(const std::string& path) {
  auto text = readTextFile(path);
  EXPECT_TRUE(text.isOk()) << text.status().toString();
  return text.isOk() ? *text : std::string();
}

/// A program that uses every field of the schema.
ProgramBuilder everything() {
  ProgramBuilder b = sums();
  runtime::Program& p = b.program;
  p.profiles.push_back({"only", {{p.blocks[0].params[0], {1, 2}, {8, 2}, {50, 2}}}});
  p.streams = 2;
  p.events = 1;
  p.devices = {"cpu", "other"};
  p.guards.push_back({runtime::Guard::Kind::kBroadcast, 0, 1, "node", "reason"});
  const std::int32_t blocked = b.value("blocked", b.dims({1, 20, 3, 3}));
  b.at(blocked).layout = {{0, 2, 3, 1}, {{1, 8}}};
  b.at(blocked).space = runtime::MemorySpace::kPinned;
  b.at(blocked).device = 1;
  const std::int32_t sequence = b.value("sequence", {}, DType::kInt64);
  b.at(sequence).kind = runtime::ValueKind::kSequence;
  const std::int32_t any = b.unranked("any");
  runtime::Step& s = b.step(0, "cpu.everything", {blocked, runtime::kNone}, {sequence, any});
  s.inputs[0] = p.blocks[0].params[0];
  s.parameters.set("int", std::int64_t{-5});
  s.parameters.set("float", 0.5F);
  s.parameters.set("string", std::string("a\0b", 3));
  s.parameters.set("tensor", Tensor::ofInt64({1, 2, 3}, {3, 1}));
  s.parameters.set("ints", std::vector<std::int64_t>{1, -2});
  s.parameters.set("no_ints", std::vector<std::int64_t>{});
  s.parameters.set("floats", std::vector<float>{1.5F});
  s.parameters.set("strings", std::vector<std::string>{"", "x"});
  s.parameters.set("tensors", std::vector<Tensor>{floats({}, {0}), floats({2}, {})});
  s.library = "onednn";
  s.shapeRule = ShapeRule::kBroadcast;
  s.device = 1;
  s.stream = 1;
  s.waits = {0};
  s.signals = {0};
  s.opaque = std::string("\x00\xff", 2);
  s.tactic = "winograd";
  s.predictedUs = 12.5;
  p.sources.push_back({"loop1/body/", "n", "Op"});
  p.states.push_back({"cache", 0, 1});
  b.step(0, "ref:Shape", {p.blocks[0].params[0]}, {blocked});
  b.at(blocked).layout = {};
  const std::uint32_t rows = b.symbol("rows", SymbolOrigin::kDataDependent, {0, 7});
  b.bindLastSymbol(any, 0);
  static_cast<void>(rows);
  return b;
}

TEST(Writer, PlansComeBackWhole) {
  const ProgramBuilder b = everything();
  Target target;
  target.isa = "x86-64-v3";
  target.rotaVersion = "9.9";
  target.libraries = {{"onednn", "3.0.0"}};
  auto plan = packPlan(b.program, target);
  ASSERT_TRUE(plan.isOk());
  const std::string recipes = packRecipes(b.program);
  const auto span = [](const std::string& s) { return std::as_bytes(std::span(s)); };
  // FlatBuffers want aligned bytes, as sections are.
  auto aligned = Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(plan->size())});
  std::memcpy(aligned->mutableData(), plan->data(), plan->size());
  auto read = readPlan({aligned->data(), plan->size()}, span(recipes), "test");
  ASSERT_TRUE(read.isOk()) << read.status().toString();
  const runtime::Program& p = *read->program;
  EXPECT_EQ(read->target.libraries[0].version, "3.0.0");
  EXPECT_EQ(p.constants[2].recipe, "initializer e");
  const runtime::Step& s = p.blocks[0].steps[2];
  EXPECT_EQ(s.parameters.getString("string"), std::string_view("a\0b", 3));
  EXPECT_EQ(intsOf(s.parameters.getTensor("tensor")->view()), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_TRUE(s.parameters.has("no_ints"));
  EXPECT_EQ(s.opaque, std::string("\x00\xff", 2));
  // Whatever was lost would be missing when it is written again.
  auto again = packPlan(p, read->target);
  ASSERT_TRUE(again.isOk());
  EXPECT_EQ(*again, *plan);
  EXPECT_EQ(packRecipes(p), recipes);
  // And nothing stands at its default above: an emptied field must change the bytes.
  runtime::Program other = p;
  other.blocks[0].steps[2].predictedUs = 0;
  EXPECT_NE(*packPlan(other, read->target), *plan);
}

TEST(Writer, EnginesRunAfterARoundTrip) {
  const Folder folder;
  const ProgramBuilder b = sums();
  for (WeightsPlace place : {WeightsPlace::kInside, WeightsPlace::kExternal}) {
    WriteOptions o = options();
    o.weights = place;
    auto report = writeEngine(folder / "sums.rota", b.program, bytesOf(b), o);
    ASSERT_TRUE(report.isOk()) << report.status().toString();
    EXPECT_EQ(report->weightsBytes, 76u) << "equal constants are stored once, aligned";
    EXPECT_EQ(report->fileBytes, std::filesystem::file_size(folder / "sums.rota"));
    std::size_t weightsFiles = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      weightsFiles += entry.path().extension() == ".weights" ? 1 : 0;
    EXPECT_EQ(weightsFiles, place == WeightsPlace::kExternal ? 1u : 0u);

    auto engine = Engine::load(folder / "sums.rota", {.verifyWeights = true, .nativeCode = true});
    ASSERT_TRUE(engine.isOk()) << engine.status().toString();
    EXPECT_EQ((*engine)->manifest(), R"({"model": "sums"})");
    EXPECT_EQ((*engine)->weightsBytes(), 76u);
    ASSERT_EQ((*engine)->inputs().size(), 1u);
    EXPECT_EQ((*engine)->inputs()[0].dimNames[0], "n");
    EXPECT_EQ((*engine)->outputs()[2].dims, (std::vector<std::int64_t>{3}));
    auto context = (*engine)->createContext(1);
    ASSERT_TRUE(context.isOk());
    ASSERT_TRUE(runWith(**context, {{"x", floats({10, 20, 30, 40}, {2, 2})}}));
    EXPECT_EQ(floatsOf(outputOf(**context, "y")), (std::vector<float>{11, 22, 31, 42}));
    EXPECT_EQ(floatsOf(outputOf(**context, "z")), (std::vector<float>{11, 22, 31, 42}));
    EXPECT_EQ(floatsOf(outputOf(**context, "e")), (std::vector<float>{1, 2, 3}));
  }
}

TEST(Writer, WithoutNativeCodeOnlyKernelsOfRotaRun) {
  const Folder folder;
  const ProgramBuilder b = sums();
  ASSERT_TRUE(writeEngine(folder / "e.rota", b.program, bytesOf(b), options()).isOk());
  EXPECT_TRUE(Engine::load(folder / "e.rota", {.verifyWeights = false, .nativeCode = false}).isOk());

  ProgramBuilder library = sums();
  library.program.blocks[0].steps[1].library = "onednn";
  ASSERT_TRUE(writeEngine(folder / "e.rota", library.program, bytesOf(library), options()).isOk());
  const Status refused =
      Engine::load(folder / "e.rota", {.verifyWeights = false, .nativeCode = false}).status();
  EXPECT_EQ(refused.code(), ErrorCode::kEngineTarget);
  EXPECT_EQ(refused.detail().node, "z (Add)");
  EXPECT_NE(refused.detail().found.find("library 'onednn'"), std::string::npos);
}

TEST(Writer, KernelsThatDoNotExistAreNoticedAtLoad) {
  const Folder folder;
  for (const char* kernel : {"ref:Nothing", "ref:com.example:Add", "cpu.nothing", ":", "ref:"}) {
    ProgramBuilder b = sums();
    b.program.blocks[0].steps[0].kernel = kernel;
    ASSERT_TRUE(writeEngine(folder / "e.rota", b.program, bytesOf(b), options()).isOk());
    const Status status = Engine::load(folder / "e.rota").status();
    EXPECT_FALSE(status.isOk()) << kernel;
    EXPECT_EQ(status.detail().node, "y (Add)") << status.toString();
  }
}

TEST(Writer, ContextsShareAnEngineAndOutliveIt) {
  const ProgramBuilder b = sums();
  auto engine = makeEngine(std::make_shared<const runtime::Program>(b.program), b.constants, "{}");
  ASSERT_TRUE(engine.isOk()) << engine.status().toString();
  auto first = (*engine)->createContext(1).value();
  auto second = (*engine)->createContext(1).value();
  *engine = nullptr;
  ASSERT_TRUE(runWith(*first, {{"x", floats({1, 1}, {1, 2})}}));
  ASSERT_TRUE(runWith(*second, {{"x", floats({2, 2}, {1, 2})}}));
  EXPECT_EQ(floatsOf(outputOf(*first, "y")), (std::vector<float>{2, 3}));
  EXPECT_EQ(floatsOf(outputOf(*second, "y")), (std::vector<float>{3, 4}));
}

TEST(Writer, MisalignedConstantsInMemory) {
  const ProgramBuilder b = sums();
  auto raw = Buffer::allocate(256);
  std::vector<Tensor> constants;
  std::size_t at = 4;
  for (const Tensor& t : b.constants) {
    std::memcpy((*raw)->mutableData() + at, t.data(), t.bytes());
    constants.push_back(*Tensor::over(t.dtype(), t.dims(), *raw, at));
    at += t.bytes() + 4;
  }
  auto engine = makeEngine(std::make_shared<const runtime::Program>(b.program), constants, "");
  ASSERT_TRUE(engine.isOk()) << engine.status().toString();
  auto context = (*engine)->createContext(1).value();
  ASSERT_TRUE(runWith(*context, {{"x", floats({0, 0}, {1, 2})}}));
  EXPECT_EQ(floatsOf(outputOf(*context, "y")), (std::vector<float>{1, 2}));
}

TEST(Writer, SameInputSameBytes) {
  const Folder folder;
  const ProgramBuilder b = sums();
  ASSERT_TRUE(writeEngine(folder / "a.rota", b.program, bytesOf(b), options()).isOk());
  ASSERT_TRUE(writeEngine(folder / "b.rota", sums().program, bytesOf(b), options()).isOk());
  EXPECT_EQ(contentOf(folder / "a.rota"), contentOf(folder / "b.rota"));
}

TEST(Writer, LargeConstantsAreCutIntoChunks) {
  const Folder folder;
  ProgramBuilder b;
  std::vector<float> values(700000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  b.output(b.constant("first", floats(values, {700000})));
  std::reverse(values.begin(), values.end());
  b.output(b.constant("second", floats(values, {700000})));
  auto report = writeEngine(folder / "large.rota", b.program, bytesOf(b), options());
  ASSERT_TRUE(report.isOk());
  auto read = readEngine(folder / "large.rota", {.verifyWeights = true, .checkTarget = true});
  ASSERT_TRUE(read.isOk()) << read.status().toString();
  EXPECT_EQ(std::memcmp((*read)->constantData(1), values.data(), values.size() * 4), 0);

  // One flipped bit in the second constant: found on demand only, and named.
  std::string bytes = contentOf(folder / "large.rota");
  bytes[kWeightsAlignment + 5000000] = static_cast<char>(bytes[kWeightsAlignment + 5000000] ^ 1);
  ASSERT_TRUE(writeFile(folder / "large.rota", bytes).isOk());
  EXPECT_TRUE(readEngine(folder / "large.rota").isOk());
  const Status status =
      readEngine(folder / "large.rota", {.verifyWeights = true, .checkTarget = true}).status();
  EXPECT_EQ(status.code(), ErrorCode::kEngineDamaged);
  EXPECT_NE(status.toString().find("'initializer second'"), std::string::npos) << status.toString();
}

TEST(Writer, FailureLeavesTheOldFile) {
  const Folder folder;
  const ProgramBuilder b = sums();
  ASSERT_TRUE(writeEngine(folder / "e.rota", b.program, bytesOf(b), options()).isOk());
  const std::string before = contentOf(folder / "e.rota");
  const auto fails = [](std::size_t i) -> Result<std::span<const std::byte>> {
    if (i == 1) return Status(ErrorCode::kFileRead, "no more");
    static const std::array<std::byte, 8> bytes{};
    return std::span<const std::byte>(bytes);
  };
  EXPECT_EQ(writeEngine(folder / "e.rota", b.program, fails, options()).status().code(),
            ErrorCode::kFileRead);
  EXPECT_EQ(contentOf(folder / "e.rota"), before);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    files += entry.exists() ? 1 : 0;
  EXPECT_EQ(files, 1u) << "nothing temporary is left";

  ProgramBuilder broken = sums();
  broken.program.blocks[0].steps[0].inputs[0] = 99;
  EXPECT_EQ(writeEngine(folder / "e.rota", broken.program, bytesOf(broken), options()).status().code(),
            ErrorCode::kEngineDamaged);
  EXPECT_EQ(contentOf(folder / "e.rota"), before);
}

TEST(Writer, EnginesOfOtherMachinesAreRefused) {
  const Folder folder;
  const ProgramBuilder b = sums();
  WriteOptions o = options();
  o.target.isa = "aarch64-sve2";
  ASSERT_TRUE(writeEngine(folder / "e.rota", b.program, bytesOf(b), o).isOk());
  const Status isa = Engine::load(folder / "e.rota").status();
  EXPECT_EQ(isa.code(), ErrorCode::kEngineTarget);
  EXPECT_EQ(isa.detail().expected, "a processor with aarch64-sve2");
  EXPECT_TRUE(readEngine(folder / "e.rota", {.verifyWeights = false, .checkTarget = false}).isOk())
      << "it can be inspected";

  o.target.isa = std::string(isaLevelName(cpuInfo().level));
  ASSERT_TRUE(writeEngine(folder / "e.rota", b.program, bytesOf(b), o).isOk());
  EXPECT_TRUE(Engine::load(folder / "e.rota").isOk());

  o.target.device = "cuda";
  ASSERT_TRUE(writeEngine(folder / "e.rota", b.program, bytesOf(b), o).isOk());
  EXPECT_EQ(Engine::load(folder / "e.rota").status().code(), ErrorCode::kEngineTarget);

  o.target.device = "cpu";
  o.target.libraries = {{"nowhere", "1.0"}};
  ASSERT_TRUE(writeEngine(folder / "e.rota", b.program, bytesOf(b), o).isOk());
  EXPECT_EQ(Engine::load(folder / "e.rota").status().code(), ErrorCode::kLibraryMissing);
}

}  // namespace
}  // namespace rota::engine
