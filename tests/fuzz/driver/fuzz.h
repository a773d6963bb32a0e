// SPDX-License-Identifier: Apache-2.0
// What a fuzz target is made of. A target is one file of tests/fuzz: the function that libFuzzer calls, and optionally a mutator of its own
// and seeds that it makes itself. It is linked either with libFuzzer (Clang, `cmake --preset fuzz`) or with the small driver beside this
// header (any compiler, part of the sanitizer build), which runs seeds and reproducible mutations of them for a given time.
//
// A target answers every input with a value or an error. What ends it otherwise is a finding: a signal, a sanitizer's report, `expect`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// One input. The driver ignores the result, libFuzzer wants 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
/// Optional: changes the input in place; returns its new size, at most `maxSize`.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maxSize,
                                               unsigned int seed);
/// The engine's own mutation: libFuzzer's, or the driver's.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t maxSize);

namespace rota::fuzz {

/// Optional: seeds that are made instead of stored. Only the driver asks for them; libFuzzer finds them in its corpus once the driver has
/// written them there (--write-seeds).
std::vector<std::string> madeSeeds();

/// A rule that every answer obeys; what breaks it is a finding.
inline void expect(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: broken rule: %s\n", rule);
  std::abort();
}

/// A small reproducible generator (xorshift64*, Vigna 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 0x243f6a8885a308d3ULL) {}
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dULL;
  }
  /// 0 to limit - 1; 0 for limit 0.
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(next() % limit); }
  bool oneIn(std::size_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// A number that breaks things: limits of types, small counts, powers of two, all with neighbours.
std::uint64_t awkwardNumber(Random& random);

/// A file in memory that has a path, rewritten for every input: for readers that open files.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  void set(std::span<const std::uint8_t> bytes);
  /// Ends in `ending` (".npy"), through a link that lives as long as this object.
  std::string path(const std::string& ending = {});

 private:
  int fd_;
  std::string folder_;
  std::vector<std::string> links_;
};

inline std::string_view textOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace rota::fuzz
