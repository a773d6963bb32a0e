// SPDX-License-Identifier: Apache-2.0
// Weights that are not in the engine: left in place, stripped, taken from elsewhere; and what happens when they are not what they were.
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/file.h"
#include "engine/engine.h"
#include "engine/places.h"
#include "engine/reader.h"
#include "engine/writer.h"
#include "runtime/testing.h"

namespace rota::engine {
namespace {

using runtime::testing::floatsOf;
using runtime::testing::outputOf;
using runtime::testing::ProgramBuilder;
using runtime::testing::runWith;

class PlacesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "rota_places_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directory(folder_ + "/models");
    // Three tensors of 32 floats: two where an engine may map them, one not aligned for it.
    std::vector<float> values(16 + 96 + 1);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * 4);
    EXPECT_TRUE(writeFile(data(), bytes).isOk());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string data() const { return folder_ + "/models/w.bin"; }
  std::string engine() const { return folder_ + "/e.rota"; }

  /// The name of the weights file of an engine in the folder, or "".
  std::string weightsOf(const std::string& engineName) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (const std::string name = entry.path().filename();
          name.starts_with(engineName + ".") && name.ends_with(".weights"))
        return name;
    return "";
  }

  Result<WriteReport> write(WeightsPlace place, const std::string& path) {
    auto file = MappedFile::open(data());
    EXPECT_TRUE(file.isOk());
    const auto buffer = Buffer::wrap((*file)->data(), (*file)->size(), *file);
    ProgramBuilder b;
    const std::int32_t x = b.input("x", b.dims({32}));
    std::int32_t last = x;
    for (const auto& [name, offset] : {std::pair{"a", 64}, std::pair{"b", 192}, std::pair{"c", 324}}) {
      const std::int32_t c =
          b.constant(name, *Tensor::over(DType::kFloat32, {32}, buffer, static_cast<std::size_t>(offset)));
      const std::int32_t sum = b.value(std::string("sum_") + name, b.dims({32}), DType::kFloat32,
                                       name[0] == 'c' ? runtime::Storage::kOutput : runtime::Storage::kArena);
      b.step(0, "ref:Add", {last, c}, {sum});
      last = sum;
    }
    b.output(last, "y");
    WriteOptions options;
    options.weights = place;
    options.manifest = "{}";
    return writeEngine(
        path, b.program,
        [&](std::size_t i) -> Result<std::span<const std::byte>> {
          return std::span<const std::byte>(b.constants[i].data(), b.constants[i].bytes());
        },
        options);
  }
  /// The first element of the answer to zeros: 16 + 48 + 81.
  static float answerOf(const std::string& path, const LoadOptions& options = {}) {
    auto engine = Engine::load(path, options);
    EXPECT_TRUE(engine.isOk()) << engine.status().toString();
    if (!engine) return -1;
    EXPECT_EQ((*engine)->weightsBytes(), 384u);
    auto context = (*engine)->createContext(1).value();
    EXPECT_TRUE(runWith(*context, {{"x", Tensor::ofFloat(std::vector<float>(32, 0.0F), {32})}}));
    return floatsOf(outputOf(*context, "y"))[0];
  }

  std::string folder_;
};

TEST_F(PlacesTest, UnchangedBytesStayWhereTheyAre) {
  const auto report = write(WeightsPlace::kInPlace, engine());
  ASSERT_TRUE(report.isOk()) << report.status().toString();
  EXPECT_EQ(report->placedBytes, 256u);
  EXPECT_EQ(report->weightsBytes, 128u) << "what cannot be mapped where it is lies beside the engine";
  EXPECT_EQ(answerOf(engine(), {.verifyWeights = true, .nativeCode = true}), 145.0F);

  const auto read = readEngine(engine());
  ASSERT_TRUE(read.isOk());
  ASSERT_EQ((*read)->places.files.size(), 1u);
  EXPECT_EQ((*read)->places.files[0].name, "models/w.bin");
  EXPECT_TRUE((*read)->isPlaced(0));
  EXPECT_FALSE((*read)->isPlaced(2));
}

TEST_F(PlacesTest, EngineAndDataMayMove) {
  ASSERT_TRUE(write(WeightsPlace::kInPlace, engine()).isOk());
  std::filesystem::create_directory(folder_ + "/elsewhere");
  for (const std::string& name : {std::string("e.rota"), weightsOf("e.rota")})
    std::filesystem::rename(folder_ + "/" + name, folder_ + "/elsewhere/" + name);
  const std::string moved = folder_ + "/elsewhere/e.rota";
  const Status lost = Engine::load(moved).status();
  EXPECT_EQ(lost.code(), ErrorCode::kFileNotFound);
  EXPECT_NE(lost.detail().fix.find("--weights-from"), std::string::npos);
  EXPECT_EQ(answerOf(moved, {.weightsFrom = folder_ + "/models"}), 145.0F);
  std::filesystem::rename(data(), folder_ + "/elsewhere/w.bin");
  EXPECT_EQ(answerOf(moved), 145.0F) << "beside the engine";
}

TEST_F(PlacesTest, OtherBytesAreRefused) {
  ASSERT_TRUE(write(WeightsPlace::kInPlace, engine()).isOk());
  std::string bytes = *readTextFile(data());
  bytes[64 + 5] = static_cast<char>(bytes[64 + 5] ^ 1);
  ASSERT_TRUE(writeFile(data(), bytes).isOk());
  const Status changed = Engine::load(engine()).status();
  EXPECT_EQ(changed.code(), ErrorCode::kEngineDamaged);
  EXPECT_NE(changed.detail().expected.find("initializer a"), std::string::npos) << changed.toString();
  bytes.resize(100);
  ASSERT_TRUE(writeFile(data(), bytes).isOk());
  EXPECT_EQ(Engine::load(engine()).status().code(), ErrorCode::kEngineDamaged);
  EXPECT_TRUE(readEngine(engine(), {.attachWeights = false}).isOk())
      << "it can be inspected without its weights";
}

TEST_F(PlacesTest, StrippedEnginesTakeTheirWeightsFromElsewhere) {
  const auto report = write(WeightsPlace::kStripped, engine());
  ASSERT_TRUE(report.isOk());
  EXPECT_LT(report->fileBytes, 4096u);
  EXPECT_EQ(weightsOf("e.rota"), "");
  EXPECT_TRUE(readEngine(engine(), {.attachWeights = false}).isOk());
  const Status none = Engine::load(engine()).status();
  EXPECT_EQ(none.code(), ErrorCode::kUsage);
  EXPECT_NE(none.detail().fix.find("--weights-from"), std::string::npos);

  ASSERT_TRUE(write(WeightsPlace::kInside, folder_ + "/whole.rota").isOk());
  ASSERT_TRUE(write(WeightsPlace::kExternal, folder_ + "/split.rota").isOk());
  for (const std::string& donor :
       {std::string("/whole.rota"), std::string("/split.rota"), "/" + weightsOf("split.rota")})
    EXPECT_EQ(answerOf(engine(), {.verifyWeights = true, .weightsFrom = folder_ + donor}), 145.0F) << donor;
  EXPECT_FALSE(Engine::load(engine(), {.weightsFrom = data()}).isOk());

  // An engine of the same shape with another weight.
  std::string bytes = *readTextFile(data());
  bytes[64 + 5] = static_cast<char>(bytes[64 + 5] ^ 1);
  ASSERT_TRUE(writeFile(data(), bytes).isOk());
  ASSERT_TRUE(write(WeightsPlace::kInside, folder_ + "/other.rota").isOk());
  ASSERT_TRUE(write(WeightsPlace::kExternal, folder_ + "/other_split.rota").isOk());
  const Status other = Engine::load(engine(), {.weightsFrom = folder_ + "/other.rota"}).status();
  EXPECT_EQ(other.code(), ErrorCode::kEngineDamaged);
  EXPECT_NE(other.detail().expected.find("initializer a"), std::string::npos);
  EXPECT_EQ(
      Engine::load(engine(), {.weightsFrom = folder_ + "/" + weightsOf("other_split.rota")}).status().code(),
      ErrorCode::kEngineDamaged);
}

TEST_F(PlacesTest, AnOldEngineKeepsItsWeightsUntilTheNewOneIsThere) {
  ASSERT_TRUE(write(WeightsPlace::kExternal, engine()).isOk());
  const std::string old = weightsOf("e.rota");
  std::string bytes = *readTextFile(data());
  bytes[64 + 5] = static_cast<char>(bytes[64 + 5] ^ 1);
  ASSERT_TRUE(writeFile(data(), bytes).isOk());
  // As if the build had been killed between its two files: the weights are there, the engine is the old one.
  const std::string before = *readTextFile(engine());
  const std::string oldBytes = *readTextFile(folder_ + "/" + old);
  ASSERT_TRUE(write(WeightsPlace::kExternal, engine()).isOk());
  EXPECT_NE(weightsOf("e.rota"), old) << "the old weights go when the new engine has come";
  ASSERT_TRUE(writeFile(engine(), before).isOk());
  ASSERT_TRUE(writeFile(folder_ + "/" + old, oldBytes).isOk());
  EXPECT_EQ(answerOf(engine()), 145.0F);
}

TEST_F(PlacesTest, HostilePlacesAreRefused) {
  runtime::Program program;
  program.constants.resize(2);
  program.constants[0].bytes = 64;
  program.constants[1].bytes = 64;
  const auto read = [&](const Places& places) {
    const std::string bytes = packPlaces(places);
    return readPlaces(std::as_bytes(std::span(bytes)), program, "e").status();
  };
  const Places good{{{"w.bin", 256}}, {{0, 0, 64}, {1, 0, 192}}};
  EXPECT_TRUE(read(good).isOk());
  for (const Place& bad : {Place{2, 0, 0}, Place{1, 1, 0}, Place{1, 0, 256}, Place{1, 0, 65}, Place{0, 0, 64},
                           Place{1, 0, ~std::uint64_t{63}}}) {
    Places places = good;
    places.constants[1] = bad;
    EXPECT_EQ(read(places).code(), ErrorCode::kEngineDamaged) << bad.constant << " " << bad.offset;
  }
  for (const std::string& name :
       {std::string(), std::string("/etc/passwd"), std::string("a\0b", 3), std::string(5000, 'x')}) {
    Places places = good;
    places.files[0].name = name;
    EXPECT_EQ(read(places).code(), ErrorCode::kEngineDamaged);
  }
  std::string bytes = packPlaces(good);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int change : {0x01, 0x80, 0xff}) {
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      static_cast<void>(readPlaces(std::as_bytes(std::span(bytes)), program, "e"));
      bytes[i] = static_cast<char>(bytes[i] ^ change);
    }
}

}  // namespace
}  // namespace rota::engine
