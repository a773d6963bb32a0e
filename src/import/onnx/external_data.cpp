// SPDX-License-Identifier: Apache-2.0
// See external_data.h. Tested by src/import/onnx/external_data_test.cpp.
#include "import/onnx/external_data.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "core/file.h"

namespace rota::onnx {
namespace {

Status externalError(std::string message) { return Status(ErrorCode::kExternalData, std::move(message)); }

/// The canonical absolute path, or nothing when there is no such file.
std::optional<std::string> canonicalPath(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return std::nullopt;
  std::string result(resolved);
  std::free(resolved);  // realpath allocates with malloc
  return result;
}

bool isInside(const std::string& file, const std::string& root) {
  if (root == "/") return true;
  return file.size() > root.size() && file.compare(0, root.size(), root) == 0 && file[root.size()] == '/';
}

/// A path without roots, parent folders and bytes that end a C string.
Status checkLocation(std::string_view location) {
  if (location.empty()) return externalError("external data has no location");
  if (location.find('\0') != std::string_view::npos)
    return externalError("the location of external data holds a zero byte");
  if (location.front() == '/') {
    return externalError("the location of external data is an absolute path")
        .expected("a path relative to the model's folder")
        .found("'" + std::string(location) + "'");
  }
  std::size_t begin = 0;
  while (begin <= location.size()) {
    const std::size_t end = std::min(location.find('/', begin), location.size());
    if (location.substr(begin, end - begin) == "..") {
      return externalError("the location of external data leaves the model's folder")
          .expected("a path without parent folders")
          .found("'" + std::string(location) + "'");
    }
    begin = end + 1;
  }
  return Status::ok();
}

Result<std::uint64_t> parseCount(std::string_view key, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return externalError("the " + std::string(key) + " of external data is not a count of bytes")
      .expected("decimal digits, below 2^64")
      .found("'" + std::string(text.substr(0, 64)) + "'");
}

struct Place {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

Result<Place> parseEntries(std::span<const ExternalEntry> entries) {
  Place place;
  std::vector<std::string_view> seen;
  for (const ExternalEntry& entry : entries) {
    for (const std::string_view key : seen) {
      if (key == entry.key)
        return externalError("external data gives '" + std::string(key.substr(0, 64)) + "' twice");
    }
    seen.push_back(entry.key);
    if (entry.key == "location") {
      place.location = entry.value;
    } else if (entry.key == "offset") {
      auto offset = parseCount("offset", entry.value);
      if (!offset) return offset.status();
      place.offset = *offset;
    } else if (entry.key == "length") {
      auto length = parseCount("length", entry.value);
      if (!length) return length.status();
      place.length = *length;
    } else if (entry.key != "checksum" && entry.key != "basepath") {
      return externalError("external data has an unknown key")
          .expected("location, offset, length or checksum")
          .found("'" + std::string(entry.key.substr(0, 64)) + "'");
    }
  }
  if (Status status = checkLocation(place.location); !status.isOk()) return status;
  return place;
}

}  // namespace

std::string folderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::vector<std::string> modelRoots(const std::string& path) {
  std::vector<std::string> roots;
  if (auto folder = canonicalPath(folderOf(path))) roots.push_back(*folder);
  if (auto file = canonicalPath(path)) roots.push_back(folderOf(*file));
  return roots;
}

ExternalData::ExternalData(std::string folder, const std::vector<std::string>& roots,
                           std::map<std::string, std::shared_ptr<Buffer>> buffers)
    : folder_(std::move(folder)),
      buffers_(std::move(buffers)) {
  for (const std::string& root : roots) {
    if (auto canonical = canonicalPath(root)) roots_.push_back(*canonical);
  }
  if (!folder_.empty()) {
    if (auto canonical = canonicalPath(folder_)) roots_.push_back(*canonical);
  }
}

Result<std::shared_ptr<Buffer>> ExternalData::open(const std::string& location) {
  if (const auto known = buffers_.find(location); known != buffers_.end()) return known->second;
  if (folder_.empty()) {
    return externalError("the model names external data, but no folder or buffer for it was given")
        .found("'" + location + "'")
        .fix("import the model from its file, or hand over the data by location");
  }
  const auto path = canonicalPath(folder_ + "/" + location);
  if (!path) {
    return externalError("the file of the external data '" + location + "' does not exist")
        .expected("a file in the model's folder")
        .fix("put the data file beside the model");
  }
  bool inside = false;
  for (const std::string& root : roots_) inside = inside || isInside(*path, root);
  if (!inside) {
    return externalError("the external data '" + location + "' is a link that leaves the model's folder")
        .expected("a file inside the model's folder")
        .found("'" + *path + "'")
        .fix("copy the data file into the model's folder");
  }
  auto file = MappedFile::open(*path);
  if (!file) {
    return externalError("the external data '" + location +
                         "' cannot be mapped: " + file.status().detail().message)
        .expected("a regular file that can be read");
  }
  const std::shared_ptr<const MappedFile>& keeper = *file;
  std::shared_ptr<Buffer> buffer = Buffer::wrap(keeper->data(), keeper->size(), keeper);
  buffers_.emplace(location, buffer);
  return buffer;
}

Result<ExternalRange> ExternalData::find(std::span<const ExternalEntry> entries, std::size_t bytes) {
  auto place = parseEntries(entries);
  if (!place) return place.status();
  if (place->length && *place->length != bytes) {
    return externalError("the length of the external data is not the size of the tensor")
        .expected(std::to_string(bytes) + " bytes")
        .found(std::to_string(*place->length) + " bytes");
  }
  if (const auto failed = failures_.find(place->location); failed != failures_.end()) return failed->second;
  auto buffer = open(place->location);
  if (!buffer) {
    failures_.emplace(place->location, buffer.status());
    return buffer.status();
  }
  const std::uint64_t size = (*buffer)->size();
  if (place->offset > size || size - place->offset < bytes) {  // cannot wrap
    return externalError("the external data lies beyond the end of '" + place->location + "'")
        .expected("offset and length within " + std::to_string(size) + " bytes")
        .found("offset " + std::to_string(place->offset) + ", " + std::to_string(bytes) + " bytes");
  }
  return ExternalRange{*buffer, static_cast<std::size_t>(place->offset)};
}

}  // namespace rota::onnx
