// SPDX-License-Identifier: Apache-2.0
// XXH3 with 128 bits, from the xxHash library compiled in here. The value depends on the bytes only, not on the
// vector width in use, so hashes in files are comparable between machines. Integers go in as little-endian.
// Tested by src/core/hash_test.cpp.
#include "core/hash.h"

#include <bit>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rota {
namespace {

static_assert(std::endian::native == std::endian::little, "hashes and files are little-endian");

Hash128 convert(const XXH128_hash_t& hash) { return {hash.low64, hash.high64}; }

XXH3_state_t* stateOf(void* state) { return static_cast<XXH3_state_t*>(state); }

}  // namespace

std::string Hash128::toHex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint64_t half = i < 16 ? hi : lo;
    text[i] = kDigits[(half >> (60 - 4 * (i % 16))) & 15];
  }
  return text;
}

Hash128 hashBytes(const void* data, std::size_t size) { return convert(XXH3_128bits(data, size)); }

Hasher::Hasher() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(stateOf(state_));
}

Hasher::~Hasher() { XXH3_freeState(stateOf(state_)); }

void Hasher::add(const void* data, std::size_t size) { XXH3_128bits_update(stateOf(state_), data, size); }

void Hasher::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  add(text.data(), text.size());
}

void Hasher::add(std::int64_t value) { add(&value, sizeof(value)); }

Hash128 Hasher::finish() const { return convert(XXH3_128bits_digest(stateOf(state_))); }

}  // namespace rota
