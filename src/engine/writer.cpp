// SPDX-License-Identifier: Apache-2.0
#include "engine/writer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <unistd.h>
#include <vector>

#include "core/check.h"
#include "core/file.h"
#include "engine/container.h"
#include "engine/places.h"
#include "engine/writer_plan.h"

namespace rota::engine {

namespace {

Status padTo(FileWriter& out, std::size_t alignment) {
  static constexpr std::array<std::byte, kWeightsAlignment> kZeros{};
  const std::size_t rest = out.position() % alignment;
  return rest == 0 ? Status::ok() : out.write(kZeros.data(), alignment - rest);
}

/// Streams constants, cutting them into hashed chunks; remembers what it has stored.
class WeightsWriter {
 public:
  /// Without `out` the bytes are only hashed.
  explicit WeightsWriter(FileWriter* out) : out_(out), chunk_(std::make_unique<std::byte[]>(kWeightChunk)) {}

  /// Stores a constant, or finds that its bytes are there already; fills in offset and hash.
  Status add(runtime::ConstantInfo& info, std::span<const std::byte> bytes) {
    info.hash = hashBytes(bytes.data(), bytes.size());
    info.offset = 0;
    if (bytes.empty()) return Status::ok();
    const auto [place, isNew] = places_.try_emplace({info.hash, bytes.size()}, total_);
    if (isNew) {
      ROTA_RETURN_IF_ERROR(align());
      place->second = total_;
      ROTA_RETURN_IF_ERROR(append(bytes));
    }
    info.offset = place->second;
    return Status::ok();
  }
  Status finish() { return filled_ == 0 ? Status::ok() : flush(); }

  std::uint64_t bytes() const { return total_; }
  const std::vector<Hash128>& chunkHashes() const { return hashes_; }

 private:
  Status align() {
    static constexpr std::array<std::byte, kSectionAlignment> kZeros{};
    const std::size_t rest = total_ % kSectionAlignment;
    return rest == 0 ? Status::ok() : append(std::span(kZeros).first(kSectionAlignment - rest));
  }
  Status append(std::span<const std::byte> bytes) {
    total_ += bytes.size();
    while (!bytes.empty()) {
      const std::size_t part = std::min(bytes.size(), kWeightChunk - filled_);
      std::memcpy(chunk_.get() + filled_, bytes.data(), part);
      filled_ += part;
      bytes = bytes.subspan(part);
      if (filled_ == kWeightChunk) ROTA_RETURN_IF_ERROR(flush());
    }
    return Status::ok();
  }
  Status flush() {
    hashes_.push_back(hashBytes(chunk_.get(), filled_));
    const std::size_t bytes = filled_;
    filled_ = 0;
    return out_ == nullptr ? Status::ok() : out_->write(chunk_.get(), bytes);
  }

  FileWriter* out_;
  std::unique_ptr<std::byte[]> chunk_;
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
  std::vector<Hash128> hashes_;
  std::map<std::pair<Hash128, std::size_t>, std::uint64_t> places_;
};

/// The engine file under construction.
class EngineWriter {
 public:
  explicit EngineWriter(FileWriter& out) : out_(out) {}

  Status start() {
    const Header empty;
    return out_.write(&empty, sizeof(empty));
  }
  Status section(SectionKind kind, std::string_view content) {
    ROTA_RETURN_IF_ERROR(padTo(out_, kSectionAlignment));
    Section s;
    s.kind = static_cast<std::uint32_t>(kind);
    s.offset = out_.position();
    s.size = content.size();
    s.hash = hashBytes(content.data(), content.size());
    sections_.push_back(s);
    return out_.write(content.data(), content.size());
  }
  void weights(std::uint64_t offset, std::uint64_t size, const Hash128& hash, bool external) {
    Section s;
    s.kind = static_cast<std::uint32_t>(SectionKind::kWeights);
    s.flags = external ? kSectionExternal : 0;
    s.offset = external ? 0 : offset;
    s.size = size;
    s.hash = hash;
    sections_.push_back(s);
  }
  Status finish() {
    ROTA_RETURN_IF_ERROR(padTo(out_, kSectionAlignment));
    Header header;
    header.magic = kEngineMagic;
    header.formatVersion = kFormatVersion;
    header.headerBytes = sizeof(Header);
    const std::string writer = writerName();
    std::copy_n(writer.begin(), std::min(writer.size(), header.writer.size() - 1), header.writer.begin());
    header.tableOffset = out_.position();
    header.sectionCount = static_cast<std::uint32_t>(sections_.size());
    header.tableHash = hashBytes(sections_.data(), sections_.size() * sizeof(Section));
    ROTA_RETURN_IF_ERROR(out_.write(sections_.data(), sections_.size() * sizeof(Section)));
    header.fileBytes = out_.position();
    header.headerHash = hashBytes(&header, offsetof(Header, headerHash));
    return out_.writeAt(0, &header, sizeof(header));
  }

 private:
  FileWriter& out_;
  std::vector<Section> sections_;
};

std::string_view bytesOf(const std::vector<Hash128>& hashes) {
  return {reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof(Hash128)};
}

/// Collects the constants that stay in the files of the model.
class PlaceCollector {
 public:
  explicit PlaceCollector(std::string engine) : engine_(std::move(engine)) {}

  /// Whether constant `i` with these bytes stays where it is.
  bool take(std::size_t i, std::span<const std::byte> bytes) {
    const auto place = mappedPlaceOf(bytes.data(), bytes.size());
    if (bytes.empty() || !place || place->offset % kSectionAlignment != 0) return false;
    auto [file, isNew] = files_.try_emplace(place->path, static_cast<std::uint32_t>(files_.size()));
    if (isNew) places_.files.push_back({relativeTo(engine_, place->path), place->fileBytes});
    places_.constants.push_back({static_cast<std::uint32_t>(i), file->second, place->offset});
    bytes_ += bytes.size();
    return true;
  }
  const Places& places() const { return places_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string engine_;
  Places places_;
  std::map<std::string, std::uint32_t> files_;
  std::uint64_t bytes_ = 0;
};

Status streamConstants(runtime::Program& program, const ConstantBytes& constants, WeightsWriter& weights,
                       PlaceCollector* inPlace) {
  for (std::size_t i = 0; i < program.constants.size(); ++i) {
    runtime::ConstantInfo& info = program.constants[i];
    auto bytes = constants(i);
    if (!bytes) return bytes.status();
    if (bytes->size() != info.bytes)
      return Status(ErrorCode::kInternal, "A constant has another size than its description")
          .at(info.recipe)
          .expected(std::to_string(info.bytes) + " bytes")
          .found(std::to_string(bytes->size()) + " bytes");
    if (inPlace != nullptr && inPlace->take(i, *bytes)) {
      info.hash = hashBytes(bytes->data(), bytes->size());
      info.offset = 0;
    } else {
      ROTA_RETURN_IF_ERROR(weights.add(info, *bytes));
    }
    releaseMapped(bytes->data(), bytes->size());  // a model may be larger than memory
  }
  return weights.finish();
}

/// The weights file that the engine at `path` names, if there is such an engine; it is not looked at further.
std::string weightsOfOldEngine(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return {};
  auto container = openContainer((*file)->bytes(), path);
  const Section* name = container.isOk() ? container->find(SectionKind::kExternalName) : nullptr;
  if (name == nullptr) return {};
  const auto bytes = container->content(*name);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string own = path.substr(path.rfind('/') + 1) + ".";
  const bool isOurs =
      text.starts_with(own) && text.ends_with(".weights") && text.find('/') == std::string::npos;
  return isOurs ? path.substr(0, path.rfind('/') + 1) + text : std::string();
}

/// The path of the weights file: named by its content, so that an old engine of the same name keeps its weights until the new one has taken its
/// place. "" when all weights stay in files of the model. Costs a pass over the constants, of which the writing knows nothing.
Result<std::string> nameOfWeights(const std::string& path, runtime::Program program,
                                  const ConstantBytes& constants, bool inPlace) {
  WeightsWriter weights(nullptr);
  PlaceCollector places(path);
  ROTA_RETURN_IF_ERROR(streamConstants(program, constants, weights, inPlace ? &places : nullptr));
  if (inPlace && weights.bytes() == 0) return std::string();
  const std::string_view hashes = bytesOf(weights.chunkHashes());
  return path + "." + hashBytes(hashes.data(), hashes.size()).toHex().substr(0, 16) + ".weights";
}

std::string fileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Result<WriteReport> writeEngine(const std::string& path, const runtime::Program& given,
                                const ConstantBytes& constants, const WriteOptions& options) {
  ROTA_RETURN_IF_ERROR(runtime::validate(given));
  runtime::Program program = given;
  Target target = options.target;
  target.rotaVersion = ROTA_VERSION;
  std::sort(target.libraries.begin(), target.libraries.end(),
            [](const LibraryVersion& a, const LibraryVersion& b) { return a.name < b.name; });

  auto out = FileWriter::create(path);
  if (!out) return out.status();
  EngineWriter engine(**out);
  ROTA_RETURN_IF_ERROR(engine.start());

  const bool stripped = options.weights == WeightsPlace::kStripped;
  const bool external = options.weights != WeightsPlace::kInside;
  std::unique_ptr<FileWriter> externalOut;
  std::string externalPath;
  if (external && !stripped) {
    auto named = nameOfWeights(path, program, constants, options.weights == WeightsPlace::kInPlace);
    if (!named) return named.status();
    externalPath = std::move(*named);
  }
  if (!externalPath.empty()) {
    auto file = FileWriter::create(externalPath);
    if (!file) return file.status();
    externalOut = std::move(*file);
    const WeightsHeader empty;
    ROTA_RETURN_IF_ERROR(externalOut->write(&empty, sizeof(empty)));
  }
  FileWriter* weightsOut = external ? externalOut.get() : out->get();
  if (weightsOut != nullptr && (external || !program.constants.empty()))
    ROTA_RETURN_IF_ERROR(padTo(*weightsOut, kWeightsAlignment));
  const std::uint64_t weightsOffset = weightsOut == nullptr ? 0 : weightsOut->position();
  WeightsWriter weights(weightsOut);
  PlaceCollector places(path);
  ROTA_RETURN_IF_ERROR(streamConstants(program, constants, weights,
                                       options.weights == WeightsPlace::kInPlace ? &places : nullptr));

  const std::string_view hashes = bytesOf(weights.chunkHashes());
  const Hash128 chunksHash = hashBytes(hashes.data(), hashes.size());
  if (weights.bytes() != 0 || externalOut != nullptr) {
    engine.weights(weightsOffset, weights.bytes(), chunksHash, external);
    ROTA_RETURN_IF_ERROR(engine.section(SectionKind::kWeightHashes, hashes));
  }
  if (externalOut != nullptr) {
    ROTA_RETURN_IF_ERROR(engine.section(SectionKind::kExternalName, fileName(externalPath)));
    WeightsHeader header;
    header.magic = kWeightsMagic;
    header.formatVersion = kFormatVersion;
    header.weightsBytes = weights.bytes();
    header.chunksHash = chunksHash;
    header.headerHash = hashBytes(&header, offsetof(WeightsHeader, headerHash));
    ROTA_RETURN_IF_ERROR(externalOut->writeAt(0, &header, sizeof(header)));
  }
  if (!places.places().constants.empty())
    ROTA_RETURN_IF_ERROR(engine.section(SectionKind::kPlaces, packPlaces(places.places())));
  auto plan = packPlan(program, target);
  if (!plan) return plan.status();
  ROTA_RETURN_IF_ERROR(engine.section(SectionKind::kRecipes, packRecipes(program)));
  ROTA_RETURN_IF_ERROR(engine.section(SectionKind::kPlan, *plan));
  ROTA_RETURN_IF_ERROR(engine.section(SectionKind::kManifest, options.manifest));
  ROTA_RETURN_IF_ERROR(engine.finish());
  const WriteReport report{(*out)->position(), weights.bytes(), places.bytes(), plan->size()};
  // The weights first: an engine never names a file that is not there.
  const std::string oldWeights = weightsOfOldEngine(path);
  if (externalOut != nullptr) ROTA_RETURN_IF_ERROR(externalOut->commit());
  ROTA_RETURN_IF_ERROR((*out)->commit());
  if (!oldWeights.empty() && oldWeights != externalPath) unlink(oldWeights.c_str());
  return report;
}

}  // namespace rota::engine
