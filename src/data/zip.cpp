// SPDX-License-Identifier: Apache-2.0
#include "data/zip.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <zlib.h>

namespace rota::data {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kEndMark = 0x06054b50, kEnd64Mark = 0x06064b50, kLocator64Mark = 0x07064b50,
                        kDirectoryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr std::size_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kDirectoryBytes = 46,
                      kLocalBytes = 30;
constexpr std::uint64_t kIn64 = 0xffffffff;
constexpr std::uint64_t kMaxExpansion = 1032;

Status damaged(const std::string& where, std::string message) {
  return Status(ErrorCode::kBadInputData, std::move(message)).at(where).fix("write it with numpy.savez");
}

/// The little-endian number at `at`; the caller has checked the length.
std::uint64_t number(Bytes file, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(file[at + i]);
  return value;
}

bool fits(Bytes file, std::uint64_t at, std::uint64_t bytes) {
  return at <= file.size() && bytes <= file.size() - at;
}

/// The record that ends the archive: it may be followed by a comment of up to 65535 bytes.
std::optional<std::size_t> findEnd(Bytes file) {
  if (file.size() < kEndBytes) return std::nullopt;
  const std::size_t last = file.size() - kEndBytes;
  const std::size_t first = last > 65535 ? last - 65535 : 0;
  for (std::size_t at = last + 1; at-- > first;) {
    if (number(file, at, 4) == kEndMark && at + kEndBytes + number(file, at + 20, 2) == file.size())
      return at;
  }
  return std::nullopt;
}

/// 64-bit sizes stand in the extra field with id 1, in this order, for those that do not fit.
bool readExtra64(Bytes extra, ZipEntry& entry) {
  std::size_t at = 0;
  while (extra.size() - at >= 4) {
    const std::uint64_t id = number(extra, at, 2), length = number(extra, at + 2, 2);
    at += 4;
    if (length > extra.size() - at) return false;
    if (id == 1) {
      std::size_t field = at;
      for (std::uint64_t* value : {&entry.bytes, &entry.packedBytes, &entry.headerOffset}) {
        if (*value != kIn64) continue;
        if (field + 8 > at + length) return false;
        *value = number(extra, field, 8);
        field += 8;
      }
    }
    at += length;
  }
  return true;
}

}  // namespace

Result<std::vector<ZipEntry>> readZipDirectory(Bytes file, const std::string& where) {
  const auto end = findEnd(file);
  if (!end) return damaged(where, "the file is not a ZIP archive, or it ends too early");
  std::uint64_t count = number(file, *end + 10, 2), at = number(file, *end + 16, 4);
  if ((count == 0xffff || at == kIn64) && *end >= kLocatorBytes &&
      number(file, *end - kLocatorBytes, 4) == kLocator64Mark) {
    const std::uint64_t end64 = number(file, *end - kLocatorBytes + 8, 8);
    if (!fits(file, end64, kEnd64Bytes) || number(file, end64, 4) != kEnd64Mark)
      return damaged(where, "the directory of the archive is damaged");
    count = number(file, end64 + 32, 8);
    at = number(file, end64 + 48, 8);
  }
  if (count > file.size() / kDirectoryBytes) return damaged(where, "the directory of the archive is damaged");
  std::vector<ZipEntry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!fits(file, at, kDirectoryBytes) || number(file, at, 4) != kDirectoryMark)
      return damaged(where, "the directory of the archive is damaged");
    ZipEntry e;
    e.flags = static_cast<std::uint32_t>(number(file, at + 8, 2));
    e.method = static_cast<std::uint32_t>(number(file, at + 10, 2));
    e.crc = static_cast<std::uint32_t>(number(file, at + 16, 4));
    e.packedBytes = number(file, at + 20, 4);
    e.bytes = number(file, at + 24, 4);
    e.headerOffset = number(file, at + 42, 4);
    const std::uint64_t nameBytes = number(file, at + 28, 2), extraBytes = number(file, at + 30, 2),
                        commentBytes = number(file, at + 32, 2);
    at += kDirectoryBytes;
    if (!fits(file, at, nameBytes + extraBytes + commentBytes))
      return damaged(where, "the directory of the archive is damaged");
    e.name.assign(reinterpret_cast<const char*>(file.data() + at), nameBytes);
    if (!readExtra64(file.subspan(at + nameBytes, extraBytes), e))
      return damaged(where, "the directory of the archive is damaged");
    at += nameBytes + extraBytes + commentBytes;
    entries.push_back(std::move(e));
  }
  return entries;
}

Result<std::vector<std::byte>> readZipEntry(Bytes file, const ZipEntry& e, const std::string& where) {
  const std::string place = where + ", " + e.name;
  if ((e.flags & 1) != 0) return damaged(place, "the archive is encrypted");
  if (e.method != 0 && e.method != 8)
    return damaged(place, "the archive uses a compression other than stored and deflate");
  if (!fits(file, e.headerOffset, kLocalBytes) || number(file, e.headerOffset, 4) != kLocalMark)
    return damaged(place, "the archive is damaged");
  const std::uint64_t data = e.headerOffset + kLocalBytes + number(file, e.headerOffset + 26, 2) +
                             number(file, e.headerOffset + 28, 2);
  if (!fits(file, data, e.packedBytes)) return damaged(place, "the archive ends too early");
  const Bytes packed = file.subspan(data, e.packedBytes);
  std::vector<std::byte> out;
  if (e.method == 0) {
    if (e.bytes != e.packedBytes) return damaged(place, "the archive is damaged");
    out.assign(packed.begin(), packed.end());
  } else {
    if (e.bytes / kMaxExpansion > e.packedBytes) return damaged(place, "the archive is damaged");
    out.resize(e.bytes);
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      return Status(ErrorCode::kOutOfMemory, "there is not enough memory to unpack").at(place);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
    std::size_t taken = 0, made = 0;
    int result = Z_OK;
    while (result == Z_OK) {
      constexpr std::size_t kPiece = std::numeric_limits<uInt>::max() / 2;
      const std::size_t in = std::min(packed.size() - taken, kPiece),
                        room = std::min(out.size() - made, kPiece);
      std::byte beyond{};
      stream.avail_in = static_cast<uInt>(in);
      stream.avail_out = room == 0 ? 1 : static_cast<uInt>(room);
      stream.next_out = reinterpret_cast<Bytef*>(room == 0 ? &beyond : out.data() + made);
      result = inflate(&stream, Z_NO_FLUSH);
      taken += in - stream.avail_in;
      if (room > 0)
        made += room - stream.avail_out;
      else if (stream.avail_out == 0)
        result = Z_DATA_ERROR;  // more than the directory says
    }
    inflateEnd(&stream);
    if (result != Z_STREAM_END || made != out.size())
      return damaged(place, "the compressed data of the archive are damaged");
  }
  uLong crc = crc32(0, nullptr, 0);
  crc = crc32_z(crc, reinterpret_cast<const Bytef*>(out.data()), out.size());
  if (crc != e.crc) return damaged(place, "the checksum of the archive does not match");
  return out;
}

}  // namespace rota::data
