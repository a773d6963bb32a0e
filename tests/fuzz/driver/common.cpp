// SPDX-License-Identifier: Apache-2.0
// What targets share under libFuzzer and under the driver: awkward numbers, files in memory.
#include <algorithm>
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/fuzz.h"

namespace rota::fuzz {

std::uint64_t awkwardNumber(Random& random) {
  switch (random.below(6)) {
    case 0: return random.below(4);
    case 1: return std::uint64_t{1} << random.below(64);
    case 2: return (std::uint64_t{1} << random.below(64)) - 1;
    case 3: return ~random.below(4);  // -1, -2 ...
    case 4: return random.below(300);
    default: return random.next() >> random.below(64);
  }
}

MemoryFile::MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
  std::string pattern = "/tmp/rota-fuzz-XXXXXX";
  expect(fd_ >= 0 && mkdtemp(pattern.data()) != nullptr, "a file in memory can be made");
  folder_ = pattern;
}

MemoryFile::~MemoryFile() {
  close(fd_);
  for (const std::string& link : links_) unlink(link.c_str());
  rmdir(folder_.c_str());
}

void MemoryFile::set(std::span<const std::uint8_t> bytes) {
  expect(ftruncate(fd_, 0) == 0, "a file in memory can be emptied");
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t step = pwrite(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    expect(step > 0 || errno == EINTR, "a file in memory can be written");
    if (step > 0) done += static_cast<std::size_t>(step);
  }
}

std::string MemoryFile::path(const std::string& ending) {
  const std::string link = folder_ + "/input" + ending;
  if (std::find(links_.begin(), links_.end(), link) == links_.end()) {
    const std::string target = "/proc/self/fd/" + std::to_string(fd_);
    expect(symlink(target.c_str(), link.c_str()) == 0, "a link to a file in memory can be made");
    links_.push_back(link);
  }
  return link;
}

}  // namespace rota::fuzz
