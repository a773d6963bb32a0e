// SPDX-License-Identifier: Apache-2.0
#include "engine/reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "core/check.h"
#include "core/json_depth.h"
#include "engine/plan_read.h"
#include "runtime/kernel_names.h"

namespace rota::engine {

namespace {

std::span<const std::byte> optionalContent(const Container& container, SectionKind kind) {
  const Section* section = container.find(kind);
  return section == nullptr ? std::span<const std::byte>() : container.content(*section);
}

bool isPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

Result<std::string> externalPath(const Container& container, const std::string& path) {
  const auto text = optionalContent(container, SectionKind::kExternalName);
  const std::string name(reinterpret_cast<const char*>(text.data()), text.size());
  if (!isPlainName(name)) return damaged(path, "the name of its weights file is not a plain file name");
  const std::size_t slash = path.rfind('/');
  return (slash == std::string::npos ? "" : path.substr(0, slash + 1)) + name;
}

/// The weights file `external`, when it holds the weights of this section.
Result<std::shared_ptr<const MappedFile>> openExternalWeights(const Section& weights, const std::string& path,
                                                              const std::string& external) {
  auto file = MappedFile::open(external);
  if (!file)
    return Status(ErrorCode::kFileNotFound, "The weights file of this engine cannot be opened")
        .at(path)
        .expected(external)
        .found(file.status().detail().message)
        .fix("keep the engine and its weights file in one folder");
  WeightsHeader header;
  const auto bytes = (*file)->bytes();
  if (bytes.size() < kWeightsAlignment) return damaged(external, "it is too short for a weights file");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kWeightsMagic ||
      hashBytes(&header, offsetof(WeightsHeader, headerHash)) != header.headerHash)
    return damaged(external, "its header is not that of a weights file");
  if (header.chunksHash != weights.hash || header.weightsBytes != weights.size)
    return Status(ErrorCode::kEngineDamaged, "The weights file belongs to another engine")
        .at(path)
        .expected("weights " + weights.hash.toHex())
        .found("weights " + header.chunksHash.toHex() + " in " + external)
        .fix("put the weights file that was written with this engine beside it, or build the engine again");
  if (bytes.size() - kWeightsAlignment != weights.size)
    return damaged(external, "it has been cut off or extended");
  return file;
}

bool startsWithMagic(const std::string& path, const std::array<char, 8>& magic) {
  auto file = MappedFile::open(path);
  return file.isOk() && (*file)->size() >= magic.size() &&
         std::memcmp((*file)->data(), magic.data(), magic.size()) == 0;
}

/// The constants of a stripped engine out of another engine, by their hashes.
Status takeFromEngine(EngineFile& engine, const std::string& path, const ReadOptions& options) {
  ReadOptions donorOptions;
  donorOptions.verifyWeights = options.verifyWeights;
  donorOptions.checkTarget = false;
  auto donor = readEngine(options.weightsFrom, donorOptions);
  if (!donor) return donor.status();
  std::map<std::pair<Hash128, std::uint64_t>, const std::byte*> known;
  const auto& theirs = (*donor)->program->constants;
  for (std::size_t i = 0; i < theirs.size(); ++i)
    known[{theirs[i].hash, theirs[i].bytes}] = (*donor)->constantData(i);
  const auto& ours = engine.program->constants;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (engine.isPlaced(i) || ours[i].bytes == 0) continue;
    const auto it = known.find({ours[i].hash, ours[i].bytes});
    if (it == known.end())
      return Status(ErrorCode::kEngineDamaged,
                    "The engine that was given for the weights does not have them all")
          .at(path)
          .expected("the bytes of '" + ours[i].recipe + "', hash " + ours[i].hash.toHex())
          .found("none of this hash in " + options.weightsFrom)
          .fix("give an engine or weights file that was built from the same model with the same settings");
    engine.found.data[i] = it->second;
  }
  engine.found.keepers.push_back(*donor);
  return Status::ok();
}

Status checkConstants(const EngineFile& engine, std::uint64_t weightsBytes, const std::string& path) {
  const runtime::Program& program = *engine.program;
  for (std::size_t i = 0; i < program.constants.size(); ++i) {
    const runtime::ConstantInfo& c = program.constants[i];
    if (engine.isPlaced(i)) continue;
    if (c.offset > weightsBytes || c.bytes > weightsBytes - c.offset)
      return damaged(path, "a constant (" + c.recipe + ") lies outside of the weights");
  }
  return Status::ok();
}

/// The constants that have bytes in [begin, end), for messages.
std::string constantsAt(const runtime::Program& program, std::uint64_t begin, std::uint64_t end) {
  std::string text;
  int shown = 0;
  for (const runtime::ConstantInfo& c : program.constants) {
    if (c.offset >= end || c.offset + c.bytes <= begin) continue;
    if (++shown > 3) return text + " and others";
    text += (text.empty() ? "" : ", ") + ("'" + c.recipe + "'");
  }
  return text.empty() ? "no constant" : text;
}

Status verifyWeights(const EngineFile& engine, std::span<const std::byte> hashes, const std::string& path) {
  for (std::size_t begin = 0, chunk = 0; begin < engine.weights.size(); begin += kWeightChunk, ++chunk) {
    const std::size_t end = std::min(begin + kWeightChunk, engine.weights.size());
    Hash128 expected;
    std::memcpy(&expected, hashes.data() + chunk * sizeof(Hash128), sizeof(Hash128));
    if (hashBytes(engine.weights.data() + begin, end - begin) != expected)
      return damaged(path, "the hash of weight bytes " + std::to_string(begin) + " to " +
                               std::to_string(end) + " does not match; there lies " +
                               constantsAt(*engine.program, begin, end));
  }
  return Status::ok();
}

/// Of an engine whose weights lie elsewhere.
Status attachOutside(EngineFile& engine, const Section& section, const std::string& path,
                     const ReadOptions& options) {
  const bool stripped = engine.container.find(SectionKind::kExternalName) == nullptr;
  if (!options.weightsFrom.empty() && startsWithMagic(options.weightsFrom, kEngineMagic))
    return takeFromEngine(engine, path, options);
  std::string external;
  if (!options.weightsFrom.empty() && startsWithMagic(options.weightsFrom, kWeightsMagic)) {
    external = options.weightsFrom;
  } else if (!stripped) {
    auto named = externalPath(engine.container, path);
    if (!named) return named.status();
    external = std::move(*named);
  } else {
    return Status(ErrorCode::kUsage, "The weights of this engine were left out when it was built")
        .at(path)
        .expected("weights of hash " + section.hash.toHex())
        .found(options.weightsFrom.empty()
                   ? "nothing"
                   : options.weightsFrom + ", which is neither an engine nor a weights file")
        .fix("name an engine or a weights file of the same model with --weights-from");
  }
  auto file = openExternalWeights(section, path, external);
  if (!file) return file.status();
  engine.weightsFile = *file;
  engine.weights = (*file)->bytes().subspan(kWeightsAlignment, section.size);
  return Status::ok();
}

Status attachPlaces(EngineFile& engine, const std::string& path, const ReadOptions& options) {
  const Section* section = engine.container.find(SectionKind::kPlaces);
  if (section == nullptr) return Status::ok();
  auto places = readPlaces(engine.container.content(*section), *engine.program, path);
  if (!places) return places.status();
  engine.places = std::move(*places);
  if (!options.attachWeights) return Status::ok();
  const bool isFolder = !options.weightsFrom.empty() && !MappedFile::open(options.weightsFrom).isOk();
  return findPlaced(engine.places, *engine.program, path, isFolder ? options.weightsFrom : std::string(),
                    engine.found);
}

Status attachWeights(EngineFile& engine, const std::string& path, const ReadOptions& options) {
  ROTA_RETURN_IF_ERROR(attachPlaces(engine, path, options));
  const Section* section = engine.container.find(SectionKind::kWeights);
  const auto hashes = optionalContent(engine.container, SectionKind::kWeightHashes);
  if (section == nullptr) return checkConstants(engine, 0, path);
  if (hashes.size() % sizeof(Hash128) != 0 ||
      hashes.size() / sizeof(Hash128) !=
          section->size / kWeightChunk + (section->size % kWeightChunk != 0 ? 1 : 0))
    return damaged(path, "it does not have one hash for every chunk of its weights");
  if (hashBytes(hashes.data(), hashes.size()) != section->hash)
    return damaged(path, "the hash of its weight hashes does not match");
  ROTA_RETURN_IF_ERROR(checkConstants(engine, section->size, path));
  if ((section->flags & kSectionExternal) != 0) {
    if (!options.attachWeights) return Status::ok();
    ROTA_RETURN_IF_ERROR(attachOutside(engine, *section, path, options));
  } else {
    if (section->offset % kWeightsAlignment != 0) return damaged(path, "its weights are not aligned");
    engine.weights = engine.container.content(*section);
  }
  return options.verifyWeights && !engine.weights.empty() ? verifyWeights(engine, hashes, path)
                                                          : Status::ok();
}

}  // namespace

bool EngineFile::isPlaced(std::size_t constant) const {
  const auto it = std::lower_bound(places.constants.begin(), places.constants.end(), constant,
                                   [](const Place& p, std::size_t c) { return p.constant < c; });
  return it != places.constants.end() && it->constant == constant;
}

const std::byte* EngineFile::constantData(std::size_t constant) const {
  if (const auto it = found.data.find(constant); it != found.data.end()) return it->second;
  if (weights.empty() || isPlaced(constant)) return nullptr;
  return weights.data() + program->constants[constant].offset;
}

Result<std::shared_ptr<const EngineFile>> readEngine(const std::string& path, const ReadOptions& options) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  auto container = openContainer((*file)->bytes(), path);
  if (!container) return container.status();

  auto engine = std::make_shared<EngineFile>();
  engine->file = *file;
  engine->container = std::move(*container);
  const auto manifest = optionalContent(engine->container, SectionKind::kManifest);
  engine->manifest = {reinterpret_cast<const char*>(manifest.data()), manifest.size()};
  if (jsonDepth(engine->manifest) > kMaxJsonDepth) return damaged(path, "its manifest is nested too deep");
  if (engine->container.find(SectionKind::kPlan) == nullptr) return damaged(path, "it has no plan");
  auto plan = readPlan(optionalContent(engine->container, SectionKind::kPlan),
                       optionalContent(engine->container, SectionKind::kRecipes), path);
  if (!plan) return plan.status();
  engine->target = std::move(plan->target);
  engine->program = std::move(plan->program);
  // Before a module is opened: that would run code of its own.
  if (!options.nativeCode) {
    if (engine->container.find(SectionKind::kCode) != nullptr)
      return Status(ErrorCode::kEngineTarget,
                    "This engine carries machine code, and native code is not allowed")
          .at(path)
          .fix("build the engine with --no-native-code");
    ROTA_RETURN_IF_ERROR(runtime::checkGeneric(*engine->program));
  }
  // Before anything else of the plan is looked at: a misfit is the clearer message.
  if (options.checkTarget) ROTA_RETURN_IF_ERROR(checkTarget(engine->target, path));
  const Status valid = runtime::validate(*engine->program);
  if (!valid.isOk()) return damaged(path, valid.detail().message + " (" + valid.detail().node + ")");
  ROTA_RETURN_IF_ERROR(attachWeights(*engine, path, options));
  return std::shared_ptr<const EngineFile>(std::move(engine));
}

}  // namespace rota::engine
