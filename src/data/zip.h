// SPDX-License-Identifier: Apache-2.0
// The part of the ZIP format (PKWARE APPNOTE 6.3.10) that .npz files need: stored and deflated entries, ZIP64 sizes, from bytes in memory.
//
// The central directory is what counts. Every offset and length is checked against the bytes that are there, the CRC of each entry is checked, and a small file
// cannot ask for much memory: deflate expands less than 1032 to 1. Encrypted and multi-disk archives are refused. Tested by src/data/zip_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rota/status.h>

namespace rota::data {

struct ZipEntry {
  std::string name;
  std::uint32_t method = 0;  ///< 0 stored, 8 deflated.
  std::uint32_t flags = 0;
  std::uint32_t crc = 0;
  std::uint64_t packedBytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t headerOffset = 0;
};

/// `where` names the file in messages.
Result<std::vector<ZipEntry>> readZipDirectory(std::span<const std::byte> file, const std::string& where);
Result<std::vector<std::byte>> readZipEntry(std::span<const std::byte> file, const ZipEntry& entry,
                                            const std::string& where);

}  // namespace rota::data
