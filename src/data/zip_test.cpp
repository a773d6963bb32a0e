// SPDX-License-Identifier: Apache-2.0
#include "data/zip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace rota::data {
namespace {

void put(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
}

/// One entry "a.npy" with `content`.
std::string archive(const std::string& content, bool deflated, std::uint32_t method = 99) {
  std::string packed = content;
  if (deflated) {
    packed.resize(content.size() + 100);
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    std::string in = content;
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
  }
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  const std::uint32_t used = method != 99 ? method : deflated ? 8 : 0;
  std::string common;
  put(common, 20, 2), put(common, 0, 2), put(common, used, 2), put(common, 0, 4), put(common, crc, 4),
      put(common, packed.size(), 4), put(common, content.size(), 4), put(common, 5, 2);
  std::string text;
  put(text, 0x04034b50, 4), text += common, put(text, 0, 2), text += "a.npy" + packed;
  const std::size_t directory = text.size();
  put(text, 0x02014b50, 4), put(text, 20, 2), text += common, put(text, 0, 8), put(text, 0, 4),
      put(text, 0, 4), text += "a.npy";
  const std::size_t size = text.size() - directory;
  put(text, 0x06054b50, 4), put(text, 0, 4), put(text, 1, 2), put(text, 1, 2), put(text, size, 4),
      put(text, directory, 4), put(text, 0, 2);
  return text;
}

Result<std::string> unpack(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  auto entries = readZipDirectory(bytes, "test");
  if (!entries) return entries.status();
  if (entries->size() != 1 || (*entries)[0].name != "a.npy") return std::string("wrong entries");
  auto content = readZipEntry(bytes, (*entries)[0], "test");
  if (!content) return content.status();
  return std::string(reinterpret_cast<const char*>(content->data()), content->size());
}

TEST(Zip, ReadsStoredAndDeflated) {
  for (const std::string& content : {std::string(), std::string("x"), std::string(100000, 'y')}) {
    for (const bool deflated : {false, true}) {
      const auto got = unpack(archive(content, deflated));
      ASSERT_TRUE(got.isOk()) << got.status().toString();
      EXPECT_EQ(*got, content);
    }
  }
}

TEST(Zip, EveryTruncationIsAnError) {
  const std::string whole = archive("some content", true);
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(unpack(whole.substr(0, n)).isOk()) << n;
}

TEST(Zip, NoChangedByteGivesOtherContent) {
  for (const bool deflated : {false, true}) {
    const std::string whole = archive("some content, some content", deflated);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const char change : {'\x01', '\x80', '\xff'}) {
        std::string other = whole;
        other[i] = static_cast<char>(other[i] ^ change);
        const auto got = unpack(other);
        if (!got.isOk() || *got == "wrong entries") continue;
        EXPECT_EQ(*got, "some content, some content") << i;
      }
    }
  }
}

TEST(Zip, OtherCompressionsAreRefused) { EXPECT_FALSE(unpack(archive("x", false, 12)).isOk()); }

}  // namespace
}  // namespace rota::data
