// SPDX-License-Identifier: Apache-2.0
// Files over the plain system calls: every call is repeated after EINTR, every failure keeps the reason of the system,
// and "no room" is told apart from "not allowed". A file mapped here must not be cut short by others while it is in use.
// Tested by src/core/file_test.cpp.
#include "core/file.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/check.h"
#include "core/interrupt.h"

namespace rota {
namespace {

/// Repeats a system call that a signal interrupted.
template <typename Call> auto retried(const Call& call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result == -1 && errno == EINTR);
  return result;
}

/// Closes its descriptor when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string reason(int error) {
  char text[128];
  return strerror_r(error, text, sizeof(text));
}

Status readError(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return Status(ErrorCode::kFileNotFound, "there is no such file").at(path).fix("check the path");
  }
  if (error == ENOMEM) return Status(ErrorCode::kOutOfMemory, "no memory to map the file").at(path);
  return Status(ErrorCode::kFileRead, "the file cannot be read").at(path).found(reason(error));
}

Status notRegular(ErrorCode code, const std::string& path, mode_t mode) {
  const char* kind = S_ISDIR(mode)    ? "a folder"
                     : S_ISFIFO(mode) ? "a pipe"
                     : S_ISSOCK(mode) ? "a socket"
                                      : "a device";
  return Status(code, "this is not a regular file").at(path).expected("the path of a file").found(kind);
}

/// The file that a chain of symbolic links ends at, so that writing replaces it and not the link.
std::string linkTarget(const std::string& path) {
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;  // a dangling link is replaced
  std::string target(resolved);
  std::free(resolved);
  return target;
}

/// The folder of `path`, with the slash at its end; empty for the working folder.
std::string folderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

/// Makes a rename in `folder` durable. Some file systems cannot do it; the data itself is already safe then.
void syncFolder(const std::string& folder) {
  const Descriptor fd(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) static_cast<void>(retried([&] { return fsync(fd.get()); }));
}

constexpr std::byte kNoBytes[1] = {};

/// All mappings of this process, by their first byte.
struct Mappings {
  struct Entry {
    std::size_t size = 0;
    std::string path;
  };
  std::mutex mutex;
  std::map<const std::byte*, Entry> all;
};

Mappings& mappings() {
  static Mappings instance;
  return instance;
}

/// A name in the folder of `path` that no other process and no earlier call takes.
std::string temporaryName(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return folderOf(path) + ".rota-" + std::to_string(getpid()) + "-" + std::to_string(counter++) + ".tmp";
}

/// A file without a name in the folder of `path`, or -1 where the file system cannot do that (or could not name it later).
int openUnnamed(const std::string& path, mode_t mode) {
#ifdef O_TMPFILE
  if (access("/proc/self/fd", X_OK) != 0) return -1;
  const std::string folder = folderOf(path);
  return retried(
      [&] { return ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode); });
#else
  return -1;
#endif
}

constexpr int kNameAttempts = 100;  // a name may be left behind by a killed process of the same number

}  // namespace

Status writeFileError(const std::string& path, int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:  // a limit of the process or of the file system
      return Status(ErrorCode::kDiskFull, "there is no room for the file")
          .at(path)
          .found(reason(error))
          .fix("free some space or write to another disk");
    case ENOENT:
    case ENOTDIR:
      return Status(ErrorCode::kFileWrite, "the folder of the file does not exist")
          .at(path)
          .found(reason(error))
          .fix("create the folder first");
    case EROFS:
      return Status(ErrorCode::kFileWrite, "the file lies on a read-only file system")
          .at(path)
          .found(reason(error))
          .fix("write to another folder");
    case EACCES:
    case EPERM:
      return Status(ErrorCode::kFileWrite, "writing this file is not permitted")
          .at(path)
          .found(reason(error))
          .fix("change the permissions or write to another folder");
    default: return Status(ErrorCode::kFileWrite, "the file cannot be written").at(path).found(reason(error));
  }
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe without a writer must not hang before it can be refused.
  const Descriptor fd(retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (fd.get() < 0) return readError(path, errno);
  struct stat status{};
  if (fstat(fd.get(), &status) != 0) return readError(path, errno);
  if (!S_ISREG(status.st_mode)) return notRegular(ErrorCode::kFileRead, path, status.st_mode);
  const auto file = std::make_shared<MappedFile>(Key());
  file->path_ = path;
  file->data_ = kNoBytes;
  if (status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (data == MAP_FAILED) return readError(path, errno);
    file->data_ = static_cast<const std::byte*>(data);
    file->size_ = size;
    const std::lock_guard lock(mappings().mutex);
    mappings().all[file->data_] = {size, path};
  }
  return std::shared_ptr<const MappedFile>(file);
}

MappedFile::~MappedFile() {
  if (size_ == 0) return;
  {
    const std::lock_guard lock(mappings().mutex);
    mappings().all.erase(data_);
  }
  munmap(const_cast<std::byte*>(data_), size_);
}

std::optional<MappedPlace> mappedPlaceOf(const std::byte* data, std::size_t size) {
  Mappings& m = mappings();
  const std::lock_guard lock(m.mutex);
  auto it = m.all.upper_bound(data);
  if (it == m.all.begin()) return std::nullopt;
  --it;
  const auto offset = static_cast<std::size_t>(data - it->first);
  if (offset > it->second.size || size > it->second.size - offset) return std::nullopt;
  return MappedPlace{it->second.path, offset, it->second.size};
}

void releaseMapped(const std::byte* data, std::size_t size) {
  constexpr std::size_t kWorthIt = std::size_t{1} << 20;
  if (size < kWorthIt || !mappedPlaceOf(data, size)) return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t skip = (page - reinterpret_cast<std::uintptr_t>(data) % page) % page;
  if (size <= skip) return;
  const std::size_t whole = (size - skip) / page * page;
  if (whole > 0) madvise(const_cast<std::byte*>(data) + skip, whole, MADV_DONTNEED);
}

Result<std::unique_ptr<FileWriter>> FileWriter::create(const std::string& path) {
  if (path.empty() || path.back() == '/') {
    return Status(ErrorCode::kFileWrite, "this is not the name of a file")
        .at(path)
        .expected("the path of a file");
  }
  auto writer = std::make_unique<FileWriter>(Key());
  writer->path_ = linkTarget(path);
  mode_t mode = 0666;  // less the umask
  struct stat status{};
  const bool exists = stat(writer->path_.c_str(), &status) == 0;
  if (exists) {
    if (!S_ISREG(status.st_mode)) return notRegular(ErrorCode::kFileWrite, path, status.st_mode);
    // A rename would replace a write-protected file without asking.
    if (access(writer->path_.c_str(), W_OK) != 0) return writeFileError(path, errno);
    mode = status.st_mode & 0777;
  }
  writer->fd_ = openUnnamed(writer->path_, mode);
  for (int attempt = 0; writer->fd_ < 0 && attempt < kNameAttempts; ++attempt) {
    std::string name = temporaryName(writer->path_);
    writer->fd_ = retried([&] { return ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode); });
    if (writer->fd_ < 0 && errno != EEXIST) break;
    if (writer->fd_ < 0) continue;
    removeWhenForced(name);
    writer->temporary_ = std::move(name);
  }
  if (writer->fd_ < 0) return writeFileError(path, errno);
  if (exists) static_cast<void>(fchmod(writer->fd_, mode));  // the umask must not narrow the old mode
  return writer;
}

FileWriter::~FileWriter() {
  if (fd_ >= 0) close(fd_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  keepWhenForced(temporary_);
}

Status FileWriter::write(const void* data, std::size_t size) {
  const std::size_t begin = position_;
  position_ += size;
  return writeAt(begin, data, size);
}

Status FileWriter::writeAt(std::size_t offset, const void* data, std::size_t size) {
  CHECK(fd_ >= 0);
  CHECK(offset <= position_ && size <= position_ - offset);
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = retried([&] { return pwrite(fd_, bytes, size, static_cast<off_t>(offset)); });
    if (written < 0) return writeFileError(path_, errno);
    if (written == 0) return writeFileError(path_, ENOSPC);
    const auto step = static_cast<std::size_t>(written);
    bytes += step;
    offset += step;
    size -= step;
  }
  return Status::ok();
}

Status FileWriter::giveName() {
  const std::string self = "/proc/self/fd/" + std::to_string(fd_);
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    const std::string name = temporaryName(path_);
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      removeWhenForced(name);
      temporary_ = name;
      return Status::ok();
    }
    if (errno != EEXIST) break;
  }
  return writeFileError(path_, errno);
}

Status FileWriter::commit() {
  CHECK(fd_ >= 0);
  if (retried([&] { return fsync(fd_); }) != 0 && errno != EINVAL) return writeFileError(path_, errno);
  if (temporary_.empty()) ROTA_RETURN_IF_ERROR(giveName());
  // After an interrupted close the descriptor is gone on Linux, so it is not repeated.
  if (close(std::exchange(fd_, -1)) != 0 && errno != EINTR) return writeFileError(path_, errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return writeFileError(path_, errno);
  keepWhenForced(temporary_);
  temporary_.clear();
  syncFolder(folderOf(path_));
  return Status::ok();
}

Status writeFile(const std::string& path, std::string_view content) {
  auto writer = FileWriter::create(path);
  if (!writer) return writer.status();
  ROTA_RETURN_IF_ERROR((*writer)->write(content.data(), content.size()));
  return (*writer)->commit();
}

Result<std::string> readTextFile(const std::string& path, std::size_t limitBytes) {
  const Descriptor fd(retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (fd.get() < 0) return readError(path, errno);
  std::string text;
  char chunk[16384];
  for (;;) {
    const ssize_t got = retried([&] { return read(fd.get(), chunk, sizeof(chunk)); });
    if (got < 0) return readError(path, errno);
    if (got == 0) return text;
    text.append(chunk, static_cast<std::size_t>(got));
    if (text.size() > limitBytes) {
      return Status(ErrorCode::kFileRead, "the file is too long for a text of this kind")
          .at(path)
          .expected("at most " + std::to_string(limitBytes) + " bytes");
    }
  }
}

}  // namespace rota
