// SPDX-License-Identifier: Apache-2.0
#include "core/hash.h"

#include <vector>

#include <gtest/gtest.h>

namespace rota {
namespace {

TEST(Hash, KnownValues) {
  // The values of the xxHash project's own tool for XXH3_128bits of no bytes and of "abc"; they may never change.
  EXPECT_EQ(hashBytes("", 0).toHex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hashBytes("abc", 3).toHex(), "06b05ab6733a618578af5f94892f3950");
}

TEST(Hash, PiecesEqualTheWhole) {
  std::vector<unsigned char> bytes(5000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37 % 251);
  Hasher hasher;
  hasher.add(bytes.data(), 3);
  hasher.add(bytes.data() + 3, 4000);
  hasher.add(bytes.data() + 4003, 997);
  EXPECT_EQ(hasher.finish(), hashBytes(bytes.data(), bytes.size()));
}

TEST(Hash, FieldsDoNotRunIntoEachOther) {
  Hasher a, b;
  a.add(std::string_view("ab"));
  a.add(std::string_view("c"));
  b.add(std::string_view("a"));
  b.add(std::string_view("bc"));
  EXPECT_NE(a.finish(), b.finish());
}

TEST(Hash, FinishMayBeCalledInBetween) {
  Hasher a, b;
  a.add(std::int64_t{1});
  b.add(std::int64_t{1});
  static_cast<void>(a.finish());
  a.add(std::int64_t{-2});
  b.add(std::int64_t{-2});
  EXPECT_EQ(a.finish(), b.finish());
}

TEST(Hash, HexPutsTheHighHalfFirst) {
  EXPECT_EQ((Hash128{0x1, 0xf000000000000002}).toHex(), "f0000000000000020000000000000001");
}

}  // namespace
}  // namespace rota
