// SPDX-License-Identifier: Apache-2.0
// A fuzz driver without coverage feedback: seeds, then mutations of them, reproducible by target name and round, for a given time.
//
//   NAME                     seeds of tests/fuzz/NAME and mutations, for $ROTA_FUZZ_SECONDS (default 30); findings lie beside the program
//   NAME FILE...             these inputs once each: to look at a finding
//   NAME --write-seeds DIR   writes the seeds that the target makes itself
//
// It stands in for libFuzzer where only a plain compiler is at hand: `make test` runs it with the objects of the sanitizer build, so it costs no
// build of its own. The input at hand lies in a shared mapping of NAME.current, so that whatever ends the process leaves it there. An input
// that takes longer than 10 s, or more than 2 GiB of memory, is a finding too; both limits are for code under sanitizers.
// Which mutations: those of libFuzzer's paper (bytes, numbers, blocks, crossing over, dictionary), or the target's own.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dirent.h>

#include "driver/fuzz.h"

extern "C" {
__attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t*, std::size_t, std::size_t,
                                                          unsigned int);
}

namespace rota::fuzz {

__attribute__((weak)) std::vector<std::string> madeSeeds() { return {}; }

namespace {

using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxSize = std::size_t{1} << 16;
constexpr double kSlowSeconds = 10;
constexpr std::size_t kMaxResidentBytes = std::size_t{2} << 30;

struct State {
  std::string name;
  std::string place;  ///< Folder of the program and its name: what findings are called.
  std::vector<Bytes> seeds;
  std::vector<std::string> dictionary;
  Random random{0};
  std::uint8_t* current = nullptr;  ///< 8 bytes of length, then the input.
};

State& state() {
  static State instance;
  return instance;
}

std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> filesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* open = opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* entry = readdir(open))
    if (entry->d_name[0] != '.') names.push_back(folder + "/" + entry->d_name);
  closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

/// The entries of a libFuzzer dictionary: lines of "text", with \xAB, \\ and \" inside.
std::vector<std::string> readDictionary(const std::string& path) {
  std::vector<std::string> words;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = line.find('"'), end = line.rfind('"');
    if (line.starts_with("#") || begin == std::string::npos || end <= begin) continue;
    std::string word;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (line[i] == '\\' && i + 3 < end && line[i + 1] == 'x') {
        word += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
        i += 3;
      } else {
        word += line[line[i] == '\\' ? ++i : i];
      }
    }
    words.push_back(std::move(word));
  }
  return words;
}

Bytes bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

void insertAt(Bytes& bytes, std::size_t at, std::span<const std::uint8_t> piece) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
}

void overwriteNumber(Bytes& bytes, Random& random) {
  const std::size_t width = std::size_t{1} << random.below(4);
  if (bytes.size() < width) return;
  const std::size_t at = random.below(bytes.size() - width + 1);
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, width);
  value = random.oneIn(2) ? awkwardNumber(random) : value + random.below(33) - 16;
  std::memcpy(bytes.data() + at, &value, width);
}

void mutateOnce(Bytes& bytes, State& s) {
  Random& random = s.random;
  const std::size_t at = random.below(bytes.size() + 1);
  const std::size_t room = bytes.size() - std::min(at, bytes.size());
  const std::size_t length = 1 + random.below(std::min<std::size_t>(room, 64));
  switch (random.below(10)) {
    case 0:
      if (at < bytes.size()) bytes[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<std::uint8_t>(random.next());
      break;
    case 2:
    case 3: overwriteNumber(bytes, random); break;
    case 4: {
      const Bytes piece(1 + random.below(16), static_cast<std::uint8_t>(random.next()));
      insertAt(bytes, at, piece);
      break;
    }
    case 5:
      if (room >= length)
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
      break;
    case 6: {  // a block of its own again elsewhere
      if (room < length) break;
      const Bytes piece(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                        bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
      insertAt(bytes, random.below(bytes.size() + 1), piece);
      break;
    }
    case 7: {  // a block of another seed
      const Bytes& other = s.seeds[random.below(s.seeds.size())];
      if (other.empty()) break;
      const std::size_t from = random.below(other.size());
      const std::size_t count = 1 + random.below(std::min<std::size_t>(other.size() - from, 256));
      insertAt(bytes, at, std::span(other).subspan(from, std::min(count, other.size() - from)));
      break;
    }
    case 8:
      if (!s.dictionary.empty())
        insertAt(bytes, at, bytesOf(s.dictionary[random.below(s.dictionary.size())]));
      break;
    default:  // a word over what is there
      if (s.dictionary.empty()) break;
      const std::string& word = s.dictionary[random.below(s.dictionary.size())];
      if (room >= word.size())
        std::copy(word.begin(), word.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

Bytes mutated(const Bytes& seed, State& s) {
  Bytes bytes = seed;
  const std::size_t rounds = 1 + s.random.below(6);
  if (LLVMFuzzerCustomMutator != nullptr) {
    const std::size_t size = std::min(bytes.size(), kMaxSize);
    bytes.resize(kMaxSize);
    std::size_t now = size;
    for (std::size_t i = 0; i < rounds; ++i)
      now = LLVMFuzzerCustomMutator(bytes.data(), now, kMaxSize, static_cast<unsigned>(s.random.next()));
    bytes.resize(now);
    return bytes;
  }
  for (std::size_t i = 0; i < rounds; ++i) mutateOnce(bytes, s);
  if (bytes.size() > kMaxSize) bytes.resize(kMaxSize);
  return bytes;
}

std::size_t residentPeak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

/// Keeps the input where the end of the process does not reach it.
void keep(const Bytes& bytes, State& s) {
  const std::uint64_t size = bytes.size();
  std::memcpy(s.current, &size, sizeof size);
  std::copy(bytes.begin(), bytes.end(), s.current + sizeof size);
}

std::string currentName(const State& s) { return s.place + ".current"; }

[[noreturn]] void finding(const Bytes& bytes, const State& s, const char* what) {
  const std::string path = s.place + ".finding";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::fprintf(stderr, "fuzz %s: %s; the input is %s\n", s.name.c_str(), what, path.c_str());
  std::exit(1);
}

void runOne(const Bytes& bytes, State& s) {
  keep(bytes, s);
  const auto start = Clock::now();
  // A block of exactly this size, so that a sanitizer sees the first byte read beyond it.
  const auto exact = std::make_unique<std::uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  static_cast<void>(LLVMFuzzerTestOneInput(exact.get(), bytes.size()));
  if (std::chrono::duration<double>(Clock::now() - start).count() > kSlowSeconds)
    finding(bytes, s, "an input took longer than 10 seconds");
  if (residentPeak() > kMaxResidentBytes) finding(bytes, s, "an input took more than 2 GiB of memory");
}

bool mapCurrent(State& s) {
  const int fd = open(currentName(s).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0 || ftruncate(fd, kMaxSize * 4 + 8) != 0) return false;
  void* memory = mmap(nullptr, kMaxSize * 4 + 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return false;
  s.current = static_cast<std::uint8_t*>(memory);
  return true;
}

/// What an earlier run left when it was ended from outside or crashed: an input of its own right.
void reportLeftOver(const State& s) {
  const std::string left = readFile(currentName(s));
  std::uint64_t size = 0;
  if (left.size() < sizeof size) return;
  std::memcpy(&size, left.data(), sizeof size);
  if (size == 0 || size > left.size() - sizeof size) return;
  const std::string path = s.place + ".crash";
  std::ofstream(path, std::ios::binary).write(left.data() + sizeof size, static_cast<std::streamsize>(size));
  std::fprintf(stderr, "fuzz %s: an earlier run did not end; its last input is now %s\n", s.name.c_str(),
               path.c_str());
}

std::uint64_t hashOf(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

int writeSeeds(const std::string& folder) {
  int number = 0;
  for (const std::string& seed : madeSeeds())
    std::ofstream(folder + "/made_" + std::to_string(number++), std::ios::binary) << seed;
  return 0;
}

int fuzz(State& s, double seconds, const std::string& folder) {
  for (const std::string& path : filesIn(folder)) s.seeds.push_back(bytesOf(readFile(path)));
  for (const std::string& seed : madeSeeds()) s.seeds.push_back(bytesOf(seed));
  s.dictionary = readDictionary(folder + ".dict");
  if (s.seeds.empty()) {
    std::fprintf(stderr, "fuzz %s: no seeds in %s\n", s.name.c_str(), folder.c_str());
    return 1;
  }
  reportLeftOver(s);
  if (!mapCurrent(s)) {
    std::fprintf(stderr, "fuzz %s: %s cannot be written\n", s.name.c_str(), currentName(s).c_str());
    return 1;
  }
  const auto start = Clock::now();
  for (const Bytes& seed : s.seeds) runOne(seed, s);
  std::uint64_t rounds = 0;
  for (; std::chrono::duration<double>(Clock::now() - start).count() < seconds; ++rounds) {
    s.random = Random(hashOf(s.name) + rounds);
    const Bytes& seed = s.seeds[s.random.below(s.seeds.size())];
    runOne(mutated(seed, s), s);
  }
  unlink(currentName(s).c_str());
  std::printf("fuzz %s: %zu seeds, %llu mutations in %.1f s, peak %zu MB\n", s.name.c_str(), s.seeds.size(),
              static_cast<unsigned long long>(rounds),
              std::chrono::duration<double>(Clock::now() - start).count(), residentPeak() >> 20);
  return 0;
}

}  // namespace
}  // namespace rota::fuzz

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t maxSize) {
  rota::fuzz::Bytes bytes(data, data + size);
  rota::fuzz::mutateOnce(bytes, rota::fuzz::state());
  const std::size_t now = std::min(bytes.size(), maxSize);
  std::copy_n(bytes.begin(), now, data);
  return now;
}

int main(int argc, char** argv) {
  using namespace rota::fuzz;
  State& s = state();
  const std::string program = argv[0];
  s.place = program;
  s.name = program.substr(program.rfind('/') + 1);
  if (argc == 3 && std::string_view(argv[1]) == "--write-seeds") return writeSeeds(argv[2]);
  if (argc > 1) {
    for (int i = 1; i < argc; ++i) {
      const std::string bytes = readFile(argv[i]);
      const auto start = Clock::now();
      static_cast<void>(
          LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
      std::printf("%s: %.3f s, peak %zu MB\n", argv[i],
                  std::chrono::duration<double>(Clock::now() - start).count(), residentPeak() >> 20);
    }
    return 0;
  }
  const char* seconds = std::getenv("ROTA_FUZZ_SECONDS");
  return fuzz(s, seconds != nullptr ? std::atof(seconds) : 30.0, "tests/fuzz/" + s.name);
}
