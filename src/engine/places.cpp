// SPDX-License-Identifier: Apache-2.0
#include "engine/places.h"

#include <filesystem>

#include "core/check.h"
#include "engine/container.h"
#include "engine/schema/places_generated.h"

namespace rota::engine {

namespace {

constexpr std::uint64_t kPlacedAlignment = 64;

std::string folderOfPath(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string lastName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The first of the possible paths at which there is a file.
std::string pathOf(const Places::File& file, const std::string& engine, const std::string& folder) {
  if (!folder.empty()) return folder + "/" + lastName(file.name);
  const std::string named = folderOfPath(engine) + file.name;
  std::error_code ignored;
  const std::string beside = folderOfPath(engine) + lastName(file.name);
  return std::filesystem::exists(named, ignored) || !std::filesystem::exists(beside, ignored) ? named
                                                                                              : beside;
}

Status changed(const std::string& engine, const std::string& path, std::string expected, std::string found) {
  return Status(ErrorCode::kEngineDamaged,
                "The file with weights of this engine is not the one that it was built with")
      .at(engine)
      .expected(std::move(expected))
      .found(std::move(found) + " in " + path)
      .fix("put the file back that was there when the engine was built, or build the engine again");
}

}  // namespace

std::string packPlaces(const Places& places) {
  flatbuffers::FlatBufferBuilder builder(1 << 10);
  std::vector<flatbuffers::Offset<schema::PlacedFile>> files;
  for (const Places::File& f : places.files)
    files.push_back(schema::CreatePlacedFile(builder, builder.CreateString(f.name), f.bytes));
  std::vector<schema::PlacedConstant> constants;
  for (const Place& p : places.constants) constants.emplace_back(p.constant, p.file, p.offset);
  const auto filesAt = builder.CreateVector(files);
  const auto constantsAt = builder.CreateVectorOfStructs(constants);
  schema::FinishPlacesBuffer(builder, schema::CreatePlaces(builder, filesAt, constantsAt));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

Result<Places> readPlaces(std::span<const std::byte> section, const runtime::Program& program,
                          const std::string& name) {
  Places places;
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(section.data()), section.size(), 8,
                                 static_cast<flatbuffers::uoffset_t>(section.size() / 4 + 64));
  if (section.size() >= kPlanLimit || !schema::VerifyPlacesBuffer(verifier))
    return damaged(name, "its section of places is not what it should be");
  const schema::Places* root = schema::GetPlaces(section.data());
  std::uint64_t text = 0;
  if (root->files() != nullptr)
    for (const schema::PlacedFile* f : *root->files()) {
      if (f->name() == nullptr || f->name()->size() == 0 || f->name()->size() > 4096 ||
          f->name()->string_view().find('\0') != std::string_view::npos ||
          f->name()->string_view().front() == '/')
        return damaged(name, "it names a file for its weights that is none");
      text += f->name()->size() + sizeof(Places::File);
      if (text > 16 * static_cast<std::uint64_t>(section.size()) + 4096)
        return damaged(name, "its places repeat themselves without end");
      places.files.push_back({f->name()->str(), f->bytes()});
    }
  const std::size_t count = root->constants() == nullptr ? 0 : root->constants()->size();
  for (std::size_t i = 0; i < count; ++i) {
    schema::PlacedConstant p;
    std::memcpy(static_cast<void*>(&p), root->constants()->Data() + i * sizeof p, sizeof p);
    const Place place{p.constant(), p.file(), p.offset()};
    if (place.constant >= program.constants.size() || place.file >= places.files.size() ||
        (i > 0 && place.constant <= places.constants.back().constant))
      return damaged(name, "a place names a constant or a file that is not there");
    const std::uint64_t bytes = program.constants[place.constant].bytes;
    const std::uint64_t size = places.files[place.file].bytes;
    if (place.offset % kPlacedAlignment != 0 || place.offset > size || bytes > size - place.offset)
      return damaged(name, "a place lies outside of its file");
    places.constants.push_back(place);
  }
  return places;
}

Status findPlaced(const Places& places, const runtime::Program& program, const std::string& engine,
                  const std::string& folder, FoundConstants& found) {
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (const Places::File& f : places.files) {
    const std::string path = pathOf(f, engine, folder);
    auto file = MappedFile::open(path);
    if (!file)
      return Status(ErrorCode::kFileNotFound, "A file with weights of this engine cannot be opened")
          .at(engine)
          .expected(path)
          .found(file.status().detail().message)
          .fix(
              "put the model's data file there or beside the engine, or name its folder with --weights-from");
    if ((*file)->size() != f.bytes)
      return changed(engine, path, std::to_string(f.bytes) + " bytes",
                     std::to_string((*file)->size()) + " bytes");
    found.keepers.push_back(*file);
    files.push_back(std::move(*file));
  }
  for (const Place& place : places.constants) {
    const runtime::ConstantInfo& info = program.constants[place.constant];
    const std::byte* data = files[place.file]->data() + place.offset;
    const Hash128 hash = hashBytes(data, info.bytes);
    releaseMapped(data, info.bytes);
    if (hash != info.hash)
      return changed(engine, files[place.file]->path(), "hash " + info.hash.toHex() + " of " + info.recipe,
                     "hash " + hash.toHex());
    found.data[place.constant] = data;
  }
  return Status::ok();
}

std::string relativeTo(const std::string& engine, const std::string& file) {
  std::error_code error;
  const std::string folder = folderOfPath(engine);
  const auto from = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  if (error) return lastName(file);
  const auto to = std::filesystem::canonical(file, error);
  if (error) return lastName(file);
  const auto relative = to.lexically_relative(from);
  return relative.empty() ? lastName(file) : relative.string();
}

}  // namespace rota::engine
