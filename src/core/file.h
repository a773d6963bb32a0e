// SPDX-License-Identifier: Apache-2.0
// Files: read-only mappings, and writing that leaves the old file or the new one, never half of one. What is written has no name (or, where the
// file system cannot do that, a temporary one in the same folder) until it is whole and synced; then it is renamed and the folder synced. A
// process that is killed leaves nothing behind. Full disks and read-only folders come back as errors with their own codes.
// Tested by src/core/file_test.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rota/status.h>

namespace rota {

/// A whole regular file mapped read-only. Devices, pipes and folders are refused. Immutable, thread-safe.
class MappedFile {
  struct Key {
    explicit Key() = default;
  };

 public:
  explicit MappedFile(Key) {}  ///< Only `open` has a key.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::string path_;
};

/// Where bytes of a mapped file lie in it.
struct MappedPlace {
  std::string path;
  std::size_t offset = 0;
  std::size_t fileBytes = 0;
};
/// The place of [data, data + size) when all of it lies in one file that is mapped now, else nothing.
std::optional<MappedPlace> mappedPlaceOf(const std::byte* data, std::size_t size);
/// Takes mapped bytes that are not needed soon out of the memory of the process; they are read again when touched. Bytes that are not
/// those of a mapped file, and small ones, stay.
void releaseMapped(const std::byte* data, std::size_t size);

/// Writes a new file piece by piece; nothing is visible under `path` before `commit`. Destroyed without commit: nothing is left.
class FileWriter {
  struct Key {
    explicit Key() = default;
  };

 public:
  explicit FileWriter(Key) {}  ///< Only `create` has a key.
  static Result<std::unique_ptr<FileWriter>> create(const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  Status write(const void* data, std::size_t size);
  /// Replaces bytes that were written before (offset + size <= position()): a header whose content is known only at the end.
  Status writeAt(std::size_t offset, const void* data, std::size_t size);
  std::size_t position() const { return position_; }
  Status commit();

 private:
  Status giveName();

  int fd_ = -1;
  std::size_t position_ = 0;
  std::string path_;
  std::string temporary_;  ///< "" while the file has no name.
};

/// Whole texts. Reading also takes pipes and the files of /proc, which have no size.
Status writeFile(const std::string& path, std::string_view content);
Result<std::string> readTextFile(const std::string& path, std::size_t limitBytes = std::size_t{64} << 20);

/// The error of a write to `path` that failed with `systemError` (an errno).
Status writeFileError(const std::string& path, int systemError);

}  // namespace rota
