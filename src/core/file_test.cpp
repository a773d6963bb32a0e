// SPDX-License-Identifier: Apache-2.0
#include "core/file.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dirent.h>
#include <gtest/gtest.h>

namespace rota {
namespace {

/// A folder of its own, removed with its files at the end.
class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/rota-file-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    chmod(folder_.c_str(), 0700);
    for (const std::string& name : names()) unlink((folder_ + "/" + name).c_str());
    rmdir(folder_.c_str());
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    DIR* dir = opendir(folder_.c_str());
    if (dir == nullptr) return found;
    while (const dirent* entry = readdir(dir)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") found.push_back(name);
    }
    closedir(dir);
    return found;
  }
  std::string folder_;
};

TEST_F(FileTest, WrittenFilesReadAndMapBack) {
  ASSERT_TRUE(writeFile(path("a"), "hello").isOk());
  EXPECT_EQ(readTextFile(path("a")).value(), "hello");
  auto mapped = MappedFile::open(path("a"));
  ASSERT_TRUE(mapped.isOk());
  ASSERT_EQ((*mapped)->size(), 5u);
  EXPECT_EQ(std::memcmp((*mapped)->data(), "hello", 5), 0);
  EXPECT_EQ((*mapped)->path(), path("a"));
}

TEST_F(FileTest, AnEmptyFileMaps) {
  ASSERT_TRUE(writeFile(path("empty"), "").isOk());
  auto mapped = MappedFile::open(path("empty"));
  ASSERT_TRUE(mapped.isOk());
  EXPECT_EQ((*mapped)->size(), 0u);
  EXPECT_NE((*mapped)->data(), nullptr);
}

TEST_F(FileTest, NothingIsVisibleBeforeCommitAndNothingStaysWithoutIt) {
  ASSERT_TRUE(writeFile(path("a"), "old").isOk());
  {
    auto writer = FileWriter::create(path("a"));
    ASSERT_TRUE(writer.isOk());
    ASSERT_TRUE((*writer)->write("new content", 11).isOk());
    EXPECT_EQ(readTextFile(path("a")).value(), "old");
  }
  EXPECT_EQ(readTextFile(path("a")).value(), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(FileTest, WriteAtPatchesEarlierBytes) {
  auto writer = FileWriter::create(path("a")).value();
  ASSERT_TRUE(writer->write("....body", 8).isOk());
  ASSERT_TRUE(writer->writeAt(0, "head", 4).isOk());
  ASSERT_TRUE(writer->write("!", 1).isOk());
  EXPECT_EQ(writer->position(), 9u);
  ASSERT_TRUE(writer->commit().isOk());
  EXPECT_EQ(readTextFile(path("a")).value(), "headbody!");
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(FileTest, ReplacingKeepsTheModeAndFollowsLinks) {
  ASSERT_TRUE(writeFile(path("real"), "1").isOk());
  ASSERT_EQ(chmod(path("real").c_str(), 0606), 0);
  ASSERT_EQ(symlink("real", path("link").c_str()), 0);
  ASSERT_TRUE(writeFile(path("link"), "2").isOk());
  EXPECT_EQ(readTextFile(path("real")).value(), "2");
  struct stat status{};
  ASSERT_EQ(lstat(path("link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(stat(path("real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0606u);
}

TEST_F(FileTest, MissingFilesAndWrongKindsAreRefused) {
  EXPECT_EQ(MappedFile::open(path("none")).status().code(), ErrorCode::kFileNotFound);
  EXPECT_EQ(MappedFile::open(path("none")).status().detail().node, path("none"));
  EXPECT_EQ(MappedFile::open(folder_).status().code(), ErrorCode::kFileRead);
  EXPECT_EQ(MappedFile::open("/dev/zero").status().code(), ErrorCode::kFileRead);
  EXPECT_EQ(readTextFile(path("none")).status().code(), ErrorCode::kFileNotFound);
  EXPECT_EQ(readTextFile(folder_).status().code(), ErrorCode::kFileRead);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::open(path("pipe")).status().code(), ErrorCode::kFileRead);
}

TEST_F(FileTest, WritingToAFolderADeviceOrNowhereIsRefused) {
  EXPECT_EQ(FileWriter::create(folder_).status().code(), ErrorCode::kFileWrite);
  EXPECT_EQ(FileWriter::create(folder_ + "/").status().code(), ErrorCode::kFileWrite);
  EXPECT_EQ(FileWriter::create("").status().code(), ErrorCode::kFileWrite);
  EXPECT_EQ(FileWriter::create("/dev/null").status().code(), ErrorCode::kFileWrite);
  const Status status = FileWriter::create(path("no/such")).status();
  EXPECT_EQ(status.code(), ErrorCode::kFileWrite);
  EXPECT_EQ(status.detail().fix, "create the folder first");
}

/// Runs `body` in a child process as a user without privileges; whether it returned true.
template <typename Body> bool asPlainUser(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    const bool plain = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
    _exit(plain && body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(FileTest, ProtectedFilesAndFoldersAreRefused) {
  ASSERT_TRUE(writeFile(path("a"), "old").isOk());
  ASSERT_EQ(chmod(path("a").c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_TRUE(asPlainUser([&] { return writeFile(path("a"), "new").code() == ErrorCode::kFileWrite; }));
  EXPECT_TRUE(asPlainUser([&] { return writeFile(path("b"), "new").isOk(); }));
  ASSERT_EQ(chmod(folder_.c_str(), 0555), 0);
  EXPECT_TRUE(asPlainUser([&] { return writeFile(path("c"), "new").code() == ErrorCode::kFileWrite; }));
  ASSERT_EQ(chmod(path("b").c_str(), 0000), 0);
  EXPECT_TRUE(
      asPlainUser([&] { return MappedFile::open(path("b")).status().code() == ErrorCode::kFileRead; }));
  EXPECT_EQ(readTextFile(path("a")).value(), "old");
}

TEST_F(FileTest, AFileThatMayNotGrowIsAnErrorAndLeavesTheOldOne) {
  ASSERT_TRUE(writeFile(path("a"), "old").isOk());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = writeFile(path("a"), std::string(10000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), ErrorCode::kDiskFull);
  EXPECT_EQ(readTextFile(path("a")).value(), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(FileTest, TooLongATextIsRefused) {
  ASSERT_TRUE(writeFile(path("a"), std::string(100, 'x')).isOk());
  EXPECT_EQ(readTextFile(path("a"), 99).status().code(), ErrorCode::kFileRead);
  EXPECT_TRUE(readTextFile(path("a"), 100).isOk());
}

TEST_F(FileTest, BytesOfMappedFilesAreFoundAndReleased) {
  ASSERT_TRUE(writeFile(path("big"), std::string(3 << 20, 'x')).isOk());
  auto file = MappedFile::open(path("big"));
  ASSERT_TRUE(file.isOk());
  const std::byte* data = (*file)->data();
  const auto place = mappedPlaceOf(data + 100, 200);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->path, path("big"));
  EXPECT_EQ(place->offset, 100u);
  EXPECT_EQ(place->fileBytes, std::size_t{3} << 20);
  EXPECT_FALSE(mappedPlaceOf(data + 100, std::size_t{3} << 20).has_value()) << "it ends beyond the file";
  std::vector<std::byte> own(3 << 20, std::byte{7});
  EXPECT_FALSE(mappedPlaceOf(own.data(), own.size()).has_value());
  releaseMapped(data, (*file)->size());
  releaseMapped(own.data(), own.size());
  EXPECT_EQ(data[12345], std::byte{'x'});
  EXPECT_EQ(own[12345], std::byte{7}) << "what is not of a file stays";
  const std::byte* const old = data;
  file = Status(ErrorCode::kFileRead, "closed");
  EXPECT_FALSE(mappedPlaceOf(old, 1).has_value());
}

TEST(File, WriteErrorsAreToldApart) {
  EXPECT_EQ(writeFileError("f", ENOSPC).code(), ErrorCode::kDiskFull);
  EXPECT_EQ(writeFileError("f", EDQUOT).code(), ErrorCode::kDiskFull);
  EXPECT_EQ(writeFileError("f", EROFS).toString(),
            "R1503 at 'f': the file lies on a read-only file system; found Read-only file system; do this: "
            "write to another folder");
  EXPECT_EQ(writeFileError("f", EACCES).code(), ErrorCode::kFileWrite);
  EXPECT_EQ(writeFileError("f", EIO).toString(),
            "R1503 at 'f': the file cannot be written; found Input/output error");
}

}  // namespace
}  // namespace rota
