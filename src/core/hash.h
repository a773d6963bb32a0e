// SPDX-License-Identifier: Apache-2.0
// Content hashes: 128-bit XXH3 for sections, weights and keys. Not a defence against forgery; signatures are another matter.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rota {

struct Hash128 {
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;
  auto operator<=>(const Hash128&) const = default;
  /// 32 hexadecimal digits, high half first.
  std::string toHex() const;
};

Hash128 hashBytes(const void* data, std::size_t size);

/// Hash of a sequence of fields.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(const void* data, std::size_t size);
  void add(std::string_view text);  ///< With its length, so that fields cannot run into each other.
  void add(std::int64_t value);
  Hash128 finish() const;

 private:
  void* state_;
};

}  // namespace rota
