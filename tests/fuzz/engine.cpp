// SPDX-License-Identifier: Apache-2.0
// Fuzzes engine files: container, verification, plan, validation, inspection, and loading up to the check of kernel names.
//
// It stops before a kernel object is made or a module opened: running an engine is trusting its code (decision N14), reading one is not.
// Mutations change numbers inside the sections and then mend the hashes, as a hostile writer would; one in eight leaves them broken.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/check.h"
#include "driver/fuzz.h"
#include "engine/container.h"
#include "engine/inspect.h"
#include "engine/reader.h"
#include "import/onnx/reader.h"
#include "plan/build.h"
#include "runtime/context.h"

namespace {

using namespace rota;
using engine::Header;
using engine::Section;

template <typename T> T readAt(const std::uint8_t* data, std::size_t at) {
  T value;
  std::memcpy(static_cast<void*>(&value), data + at, sizeof(T));
  return value;
}
template <typename T> void writeAt(std::uint8_t* data, std::size_t at, const T& value) {
  std::memcpy(data + at, &value, sizeof(T));
}

bool holdsTable(const Header& header, std::size_t size) {
  return header.tableOffset <= size && header.sectionCount <= engine::kMaxSections &&
         header.sectionCount * sizeof(Section) <= size - header.tableOffset;
}

bool liesInside(const Section& s, std::size_t size) { return s.offset <= size && s.size <= size - s.offset; }

/// Hashes and the length of the file made right for what it holds.
void mend(std::uint8_t* data, std::size_t size) {
  if (size < sizeof(Header)) return;
  auto header = readAt<Header>(data, 0);
  if (holdsTable(header, size)) {
    for (std::size_t i = 0; i < header.sectionCount; ++i) {
      const std::size_t at = header.tableOffset + i * sizeof(Section);
      auto section = readAt<Section>(data, at);
      if (!liesInside(section, size) ||
          section.kind == static_cast<std::uint32_t>(engine::SectionKind::kWeights))
        continue;
      section.hash = hashBytes(data + section.offset, section.size);
      writeAt(data, at, section);
    }
    header.tableHash = hashBytes(data + header.tableOffset, header.sectionCount * sizeof(Section));
  }
  header.fileBytes = size;
  header.headerHash = hashBytes(&header, offsetof(Header, headerHash));
  writeAt(data, 0, header);
}

/// Where the bytes of a random section lie; nothing when the file has none.
std::pair<std::size_t, std::size_t> sectionOf(const std::uint8_t* data, std::size_t size,
                                              fuzz::Random& random) {
  if (size < sizeof(Header)) return {0, size};
  const auto header = readAt<Header>(data, 0);
  if (!holdsTable(header, size) || header.sectionCount == 0) return {0, size};
  if (random.oneIn(8)) return {header.tableOffset, header.sectionCount * sizeof(Section)};
  const std::size_t at = header.tableOffset + random.below(header.sectionCount) * sizeof(Section);
  const auto section = readAt<Section>(data, at);
  return liesInside(section, size) ? std::pair{section.offset, section.size}
                                   : std::pair{std::size_t{0}, size};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::MemoryFile file;
  file.set({data, size});
  auto read = engine::readEngine(
      file.path(".rota"),
      {.verifyWeights = (size & 1) != 0, .checkTarget = false, .attachWeights = (size & 2) != 0});
  if (!read) {
    fuzz::expect(!read.status().detail().message.empty(), "an error says what is wrong");
    fuzz::expect(read.status().code() != ErrorCode::kInternal, "a damaged engine is no internal error");
    return 0;
  }
  const engine::Inspection inspection = engine::inspect(**read);
  fuzz::expect(!engine::inspectText(inspection).empty(), "an inspection has a text");
  fuzz::expect(!engine::inspectJson(inspection).empty(), "an inspection has JSON");
  std::vector<const std::byte*> constants;
  for (std::size_t i = 0; i < (*read)->program->constants.size(); ++i)
    constants.push_back((*read)->constantData(i));
  const auto loaded = runtime::loadProgram((*read)->program, std::move(constants), *read);
  fuzz::expect(loaded.isOk() || !loaded.status().toString().empty(), "an error has a text");
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maxSize,
                                               unsigned int seed) {
  fuzz::Random random(seed);
  if (random.oneIn(16)) {
    const std::size_t now = LLVMFuzzerMutate(data, size, maxSize);
    if (!random.oneIn(4)) mend(data, now);
    return now;
  }
  const auto [begin, length] = sectionOf(data, size, random);
  for (std::size_t n = 1 + random.below(4); n > 0 && length >= 8; --n) {
    const std::size_t width = std::size_t{1} << random.below(4);
    const std::size_t at = begin + random.below(length / width) * width;
    std::uint64_t value = 0;
    std::memcpy(&value, data + at, width);
    value = random.oneIn(3)   ? fuzz::awkwardNumber(random)
            : random.oneIn(2) ? value + random.below(9) - 4
                              : value ^ (std::uint64_t{1} << random.below(8 * width));
    std::memcpy(data + at, &value, width);
  }
  if (!random.oneIn(8)) mend(data, size);
  return size;
}

/// The engines of the seeds of the model target: whatever the format is today.
std::vector<std::string> rota::fuzz::madeSeeds() {
  std::vector<std::string> seeds;
  fuzz::MemoryFile folder;
  const std::string path = folder.path() + ".rota";
  ThreadPool threads(1);
  const knob::KnobSet knobs;
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/model"))
    models.push_back(entry.path());
  std::sort(models.begin(), models.end());
  for (const auto& model : models) {
    auto imported = onnx::importOnnx(model.string(), {});
    if (!imported || imported->graph == nullptr) continue;
    for (const bool generic : {false, true}) {
      const plan::BuildOptions options{
          .target = {.generic = generic}, .knobs = knobs, .profiles = {}, .threads = threads, .progress = {}};
      auto again = onnx::importOnnx(model.string(), {});
      if (!plan::buildEngine(*again->graph, options, path)) continue;
      std::ostringstream bytes;
      bytes << std::ifstream(path, std::ios::binary).rdbuf();
      seeds.push_back(bytes.str());
    }
  }
  std::filesystem::remove(path);
  fuzz::expect(!seeds.empty(), "the seeds of the model target give engines");
  return seeds;
}
