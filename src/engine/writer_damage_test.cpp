// SPDX-License-Identifier: Apache-2.0
// Broken, foreign and other engine files: always an error with words, never a signal.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/file.h"
#include "engine/container.h"
#include "engine/plan_read.h"
#include "engine/reader.h"
#include "engine/writer.h"
#include "runtime/testing.h"

namespace rota::engine {
namespace {

using runtime::testing::ProgramBuilder;

class DamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "rota_damage_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/e.rota";
    good_ = engineBytes(WeightsPlace::kInside);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string engineBytes(WeightsPlace place) {
    ProgramBuilder b;
    const std::uint32_t n = b.symbol("n", SymbolOrigin::kInputDim, {1, 100});
    const std::int32_t x = b.input("x", {n});
    b.bindLastSymbol(x, 0);
    const std::int32_t c = b.constant("c", Tensor::ofFloat({1, 2, 3, 4, 5}, {5, 1}));
    const std::int32_t y = b.value("y", {b.number(5), n}, DType::kFloat32, runtime::Storage::kOutput);
    b.step(0, "ref:Mul", {c, x}, {y}).parameters.set("alpha", Tensor::ofInt64({1, 2}, {2}));
    b.output(y);
    b.program.profiles.push_back({"p", {{x, {1}, {8}, {100}}}});
    WriteOptions options;
    options.manifest = R"({"model": "damage"})";
    options.weights = place;
    auto report = writeEngine(
        path_, b.program,
        [&](std::size_t i) -> Result<std::span<const std::byte>> {
          return std::span<const std::byte>(b.constants[i].data(), b.constants[i].bytes());
        },
        options);
    EXPECT_TRUE(report.isOk()) << report.status().toString();
    return *readTextFile(path_);
  }

  Status open(const std::string& bytes, bool verifyWeights = false) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    return readEngine(path_, {.verifyWeights = verifyWeights, .checkTarget = true}).status();
  }
  std::string weightsPath() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (entry.path().extension() == ".weights") return entry.path().string();
    return folder_ + "/none";
  }
  static Header headerOf(const std::string& bytes) {
    Header header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    return header;
  }
  /// `bytes` with a changed header whose hash is right again.
  static std::string withHeader(std::string bytes, const std::function<void(Header&)>& change) {
    Header header = headerOf(bytes);
    change(header);
    header.headerHash = hashBytes(&header, offsetof(Header, headerHash));
    std::memcpy(bytes.data(), &header, sizeof(header));
    return bytes;
  }
  /// `bytes` with a changed section table whose hashes are right again.
  static std::string withSections(std::string bytes,
                                  const std::function<void(std::vector<Section>&)>& change) {
    const Header header = headerOf(bytes);
    std::vector<Section> sections(header.sectionCount);
    std::memcpy(sections.data(), bytes.data() + header.tableOffset, sections.size() * sizeof(Section));
    change(sections);
    std::memcpy(bytes.data() + header.tableOffset, sections.data(), sections.size() * sizeof(Section));
    return withHeader(std::move(bytes), [&](Header& h) {
      h.tableHash = hashBytes(sections.data(), sections.size() * sizeof(Section));
    });
  }
  static Section& sectionOf(std::vector<Section>& sections, SectionKind kind) {
    for (Section& s : sections)
      if (s.kind == static_cast<std::uint32_t>(kind)) return s;
    ADD_FAILURE();
    return sections[0];
  }
  static bool isClear(const Status& status) {
    return (status.code() == ErrorCode::kEngineDamaged || status.code() == ErrorCode::kNotAnEngine ||
            status.code() == ErrorCode::kEngineVersion) &&
           !status.detail().message.empty() && !status.detail().fix.empty() && !status.detail().node.empty();
  }

  std::string folder_;
  std::string path_;
  std::string good_;
};

TEST_F(DamageTest, TheUndamagedFileOpens) { EXPECT_TRUE(open(good_, true).isOk()); }

TEST_F(DamageTest, CutAtTwoHundredPlaces) {
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t length = i * good_.size() / 200;
    const Status status = open(good_.substr(0, length));
    ASSERT_TRUE(isClear(status)) << "cut to " << length << " bytes: " << status.toString();
  }
  EXPECT_NE(open(good_.substr(0, good_.size() - 1)).detail().message.find("cut off"), std::string::npos);
  EXPECT_NE(open(good_ + "x").detail().message.find("added"), std::string::npos);
}

TEST_F(DamageTest, EveryFlippedByteOutsideOfTheWeightsIsNoticed) {
  // The mapping is of a file, so flip in memory and open the container and plan through one file per byte: every byte once, bits in turn.
  const Header header = headerOf(good_);
  ASSERT_EQ(header.fileBytes, good_.size());
  std::vector<Section> sections(header.sectionCount);
  std::memcpy(sections.data(), good_.data() + header.tableOffset, sections.size() * sizeof(Section));
  const Section weights = sectionOf(sections, SectionKind::kWeights);
  auto aligned = Buffer::allocate(good_.size());
  ASSERT_TRUE(aligned.isOk());
  for (std::size_t at = 0; at < good_.size(); ++at) {
    const bool inWeights = at >= weights.offset && at < weights.offset + weights.size;
    for (int bit = 0; bit < 8; ++bit) {
      std::memcpy((*aligned)->mutableData(), good_.data(), good_.size());
      (*aligned)->mutableData()[at] ^= static_cast<std::byte>(1 << bit);
      auto container = openContainer({(*aligned)->data(), good_.size()}, "flipped");
      if (inWeights) {
        ASSERT_TRUE(container.isOk()) << "weights are checked on demand only";
        continue;
      }
      ASSERT_FALSE(container.isOk()) << "byte " << at << " bit " << bit;
      ASSERT_TRUE(isClear(container.status())) << container.status().toString();
    }
  }
  std::string flipped = good_;
  flipped[weights.offset] = static_cast<char>(flipped[weights.offset] ^ 1);
  EXPECT_TRUE(open(flipped).isOk());
  EXPECT_TRUE(isClear(open(flipped, true)));
}

TEST_F(DamageTest, PlansDamagedBehindCorrectHashesNeverCrash) {
  // As a hostile writer would: every byte of the plan and of the recipes changed where no hash stands in the way.
  std::vector<Section> sections(headerOf(good_).sectionCount);
  std::memcpy(sections.data(), good_.data() + headerOf(good_).tableOffset, sections.size() * sizeof(Section));
  const Section plan = sectionOf(sections, SectionKind::kPlan);
  const Section recipes = sectionOf(sections, SectionKind::kRecipes);
  auto bytes = Buffer::allocate(good_.size());
  ASSERT_TRUE(bytes.isOk());
  std::byte* data = (*bytes)->mutableData();
  std::memcpy(data, good_.data(), good_.size());
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (const Section& section : {plan, recipes})
    for (std::size_t at = section.offset; at < section.offset + section.size; ++at)
      for (const int change : {0x01, 0x80, 0xff}) {
        data[at] ^= static_cast<std::byte>(change);
        auto read =
            readPlan({data + plan.offset, plan.size}, {data + recipes.offset, recipes.size}, "hostile");
        const Status status = read.isOk() ? runtime::validate(*read->program) : read.status();
        data[at] ^= static_cast<std::byte>(change);
        ++tried;
        refused += status.isOk() ? 0 : 1;
        ASSERT_TRUE(status.isOk() || status.code() == ErrorCode::kEngineDamaged) << status.toString();
      }
  EXPECT_GT(refused, tried / 4);
}

TEST_F(DamageTest, AManifestWithoutEndIsRefused) {
  ProgramBuilder b;
  b.output(b.constant("c", Tensor::ofFloat({1}, {1})));
  WriteOptions options;
  options.manifest = std::string(100000, '[');
  ASSERT_TRUE(writeEngine(
                  path_, b.program,
                  [&](std::size_t i) -> Result<std::span<const std::byte>> {
                    return std::span<const std::byte>(b.constants[i].data(), b.constants[i].bytes());
                  },
                  options)
                  .isOk());
  EXPECT_TRUE(isClear(readEngine(path_).status()));
}

TEST_F(DamageTest, OtherFormatVersions) {
  const auto as = [&](std::uint32_t version, const char* writer) {
    return open(withHeader(good_, [&](Header& h) {
      h.formatVersion = version;
      h.writer = {};
      std::strncpy(h.writer.data(), writer, h.writer.size() - 1);
    }));
  };
  const Status newer = as(2, "Rota 7.1");
  EXPECT_EQ(newer.code(), ErrorCode::kEngineVersion);
  EXPECT_EQ(newer.detail().expected, "format version 1, which " + writerName() + " reads");
  EXPECT_EQ(newer.detail().found, "format version 2, built with Rota 7.1");
  EXPECT_NE(newer.detail().fix.find("build the engine again"), std::string::npos);
  EXPECT_EQ(as(0, "Rota 0.0").code(), ErrorCode::kEngineVersion);
  // A newer format may have a longer header with a hash that we cannot check.
  std::string longer = good_;
  Header header = headerOf(good_);
  header.formatVersion = 3;
  header.headerBytes = 192;
  std::memcpy(longer.data(), &header, sizeof(header));
  EXPECT_EQ(open(longer).code(), ErrorCode::kEngineVersion);
}

TEST_F(DamageTest, ForeignFilesAreRecognised) {
  const auto found = [&](const std::string& bytes) {
    const Status status = open(bytes);
    EXPECT_EQ(status.code(), ErrorCode::kNotAnEngine) << status.toString();
    return status.isOk() ? std::string() : status.detail().found;
  };
  EXPECT_EQ(found(""), "an empty file");
  EXPECT_EQ(found("dummy"), "text");
  EXPECT_EQ(found("{\"a\": 1}"), "JSON text");
  EXPECT_EQ(found(std::string("PK\x03\x04") + std::string(100, '\x01')),
            "a zip archive (a PyTorch or Keras file, perhaps)");
  EXPECT_EQ(found(std::string("\x08\x08\x12\x07pytorch", 11) + std::string(100, '\x02')),
            "an ONNX model, it seems");
  EXPECT_EQ(found(std::string("\x7f"
                              "ELF\x02\x01",
                              6)),
            "a program or library");
  EXPECT_EQ(found(std::string("\x01\x02\x03", 3)), "unknown bytes 01 02 03");
  EXPECT_EQ(readEngine(folder_ + "/nothing").status().code(), ErrorCode::kFileNotFound);
}

TEST_F(DamageTest, SectionsOutOfBoundsOrOverlapping) {
  const auto with = [&](const std::function<void(std::vector<Section>&)>& change) {
    return open(withSections(good_, change));
  };
  EXPECT_TRUE(
      isClear(with([](auto& s) { sectionOf(s, SectionKind::kPlan).offset = std::uint64_t{1} << 63; })));
  EXPECT_TRUE(isClear(with([](auto& s) { sectionOf(s, SectionKind::kPlan).size = ~std::uint64_t{0}; })));
  EXPECT_TRUE(isClear(with([](auto& s) { sectionOf(s, SectionKind::kPlan).offset += 1; })));
  EXPECT_TRUE(isClear(with([](auto& s) {
    sectionOf(s, SectionKind::kPlan).offset = sectionOf(s, SectionKind::kRecipes).offset;
  })));
  EXPECT_TRUE(isClear(with([](auto& s) { sectionOf(s, SectionKind::kPlan).kind = 99; }))) << "no plan";
  EXPECT_TRUE(isClear(with([](auto& s) { sectionOf(s, SectionKind::kWeights).size = 4; })));
  EXPECT_TRUE(isClear(with([](auto& s) { sectionOf(s, SectionKind::kPlan).flags = kSectionExternal; })));
  EXPECT_TRUE(isClear(open(withHeader(good_, [](Header& h) { h.sectionCount = 0xffffffff; }))));
  EXPECT_TRUE(isClear(open(withHeader(good_, [](Header& h) { h.tableOffset = ~std::uint64_t{0} - 63; }))));
}

TEST_F(DamageTest, ExternalWeights) {
  const std::string engine = engineBytes(WeightsPlace::kExternal);
  const std::string weightsFile = weightsPath();
  const std::string weights = *readTextFile(weightsFile);
  EXPECT_TRUE(open(engine, true).isOk());
  const auto withWeights = [&](const std::string& bytes) {
    EXPECT_TRUE(writeFile(weightsFile, bytes).isOk());
    return readEngine(path_, {.verifyWeights = true, .checkTarget = true}).status();
  };
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_TRUE(isClear(withWeights(weights.substr(0, i * weights.size() / 20))));
  std::string flipped = weights;
  flipped[kWeightsAlignment + 2] = static_cast<char>(flipped[kWeightsAlignment + 2] ^ 4);
  EXPECT_TRUE(isClear(withWeights(flipped)));
  flipped = weights;
  flipped[20] = static_cast<char>(flipped[20] ^ 4);
  EXPECT_TRUE(isClear(withWeights(flipped)));
  std::filesystem::remove(weightsFile);
  const Status missing = readEngine(path_).status();
  EXPECT_EQ(missing.code(), ErrorCode::kFileNotFound);
  EXPECT_EQ(missing.detail().expected, weightsFile);
  EXPECT_EQ(open(weights).code(), ErrorCode::kNotAnEngine);
}

}  // namespace
}  // namespace rota::engine
